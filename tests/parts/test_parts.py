"""Each other real part is there, is the version it should be, and does what tests ask of it."""

import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from tests.parts import paths
from tests.parts.act import Act
from tests.parts.gitlab_ci import GitlabCi
from tests.parts.registry import INDEX, PASSWORD, USER, Registry
from tests.parts.second_nix import Nix


def test_a_missing_part_says_what_to_type() -> None:
    part = paths.Part(name="absent", version="v1", recipe=("absent",))
    with pytest.raises(paths.PartMissingError, match=r"absent v1: bin/absent is not in .*\nhint: make setup"):
        part.get("bin/absent")


def head(registry: Registry, reference: str, token: str = "") -> urllib3.BaseHTTPResponse:
    headers = {"Accept": INDEX, **({"Authorization": f"Bearer {token}"} if token else {})}
    return urllib3.request("HEAD", f"{registry.url}/v2/{reference}", headers=headers)


def test_a_registry_answers_with_the_digest_of_what_was_pushed(image_registry: Registry) -> None:
    image = image_registry.push("shop/web", "1.0")
    answer = head(image_registry, "shop/web/manifests/1.0")
    assert (answer.status, answer.headers["Docker-Content-Digest"]) == (200, image.digest)
    crane = [str(paths.program("crane")), "digest", "--platform", "linux/arm64", f"{image_registry.host}/shop/web:1.0"]
    done = subprocess.run(crane, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == image.platforms["linux/arm64"]


def test_a_moved_tag_has_another_digest(image_registry: Registry) -> None:
    first = image_registry.push("shop/moved", "1.0", content="first")
    second = image_registry.push("shop/moved", "1.0", content="second")
    assert first.digest != second.digest
    assert head(image_registry, "shop/moved/manifests/1.0").headers["Docker-Content-Digest"] == second.digest


def test_a_registry_behind_tokens_says_where_to_get_one(token_registry: Registry) -> None:
    image = token_registry.push("team/app", "1")
    refused = head(token_registry, "team/app/manifests/1")
    assert refused.status == 401
    assert refused.headers["WWW-Authenticate"].endswith('scope="repository:team/app:pull"')
    assert token_registry.tokens
    token = token_registry.tokens.issue(USER, ["repository:team/app:pull"])
    assert head(token_registry, "team/app/manifests/1", token).headers["Docker-Content-Digest"] == image.digest


def test_nobody_may_pull_what_is_public_and_nothing_else(token_registry: Registry) -> None:
    assert token_registry.tokens
    for repository, status in (("public/app", 200), ("team/app", 401)):
        token_registry.push(repository, "1")
        token = token_registry.tokens.issue("", [f"repository:{repository}:pull"])
        assert head(token_registry, f"{repository}/manifests/1", token).status == status


def test_crane_logs_in_with_the_user(token_registry: Registry, tmp_path: Path) -> None:
    image = token_registry.push("team/app", "1")
    crane, environment = str(paths.program("crane")), {"DOCKER_CONFIG": str(tmp_path)}
    login = [crane, "auth", "login", token_registry.host, "-u", USER, "-p", PASSWORD]
    subprocess.run(login, env=environment, check=True, capture_output=True)
    digest = [crane, "digest", f"{token_registry.host}/team/app:1"]
    assert subprocess.check_output(digest, env=environment, text=True).strip() == image.digest


def test_each_nix_evaluates(each_nix: Nix) -> None:
    assert each_nix.evaluate("1+1") == "2"


def test_the_two_nix_differ_in_version(first_nix: Nix, second_nix: Nix) -> None:
    assert first_nix.version != second_nix.version
    assert second_nix.version.startswith("2.26.")


@pytest.mark.parametrize(
    ("name", "said"), [("act", "act version 0.2.89"), ("actionlint", "v1.7.12"), ("controller-gen", "Version: v0.18.0")]
)
def test_a_tool_is_the_version_that_was_built(name: str, said: str) -> None:
    assert said in subprocess.check_output([paths.program(name), "--version"], text=True)


@pytest.mark.parametrize(
    "file",
    [
        "openapi/generated/api.github.com.json",
        "graphql-schema/schema.graphql",
        "webhooks-examples/api.github.com/index.json",
        "webhooks-schemas/schema.json",
        "fixtures/scenarios/api.github.com/get-repository/normalized-fixture.json",
    ],
)
def test_github_s_published_data_is_there(file: str) -> None:
    assert paths.NODE_MODULES.get(f"node_modules/@octokit/{file}").stat().st_size > 1000


def test_the_older_kubernetes_client_is_there(client_36: dict[str, str]) -> None:
    program = "import kubernetes; print(kubernetes.__version__)"
    assert subprocess.check_output([sys.executable, "-c", program], env=client_36, text=True).startswith("36.")


ACTION = """
name: greet
inputs:
  who: {required: true}
outputs:
  greeting: {value: "${{ steps.greet.outputs.greeting }}"}
runs:
  using: composite
  steps:
    - id: greet
      shell: bash
      env: {WHO: "${{ inputs.who }}"}
      run: |
        echo "greeting=hello $WHO" >> "$GITHUB_OUTPUT"
        echo "### $GITHUB_REPOSITORY" >> "$GITHUB_STEP_SUMMARY"
        echo "asked $GITHUB_API_URL about $(cat file) with ${#TOKEN}"
"""
WORKFLOW = """
on: push
jobs:
  greet:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: acme/greet@v1
        with: {who: you}
        env: {TOKEN: "${{ github.token }}"}
"""


def commit(folder: Path) -> None:
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "one"]):
        author = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", "-C", folder, *author, *command], check=True)


def test_act_runs_a_workflow_with_a_local_action(act: Act, tmp_path: Path) -> None:
    action, checkout = tmp_path / "action", tmp_path / "checkout"
    action.mkdir()
    checkout.mkdir()
    (action / "action.yml").write_text(ACTION)
    (checkout / "greet.yml").write_text(WORKFLOW)
    (checkout / "file").write_text("this tree")
    commit(checkout)
    run = act.run(
        checkout,
        event="push",
        payload={"ref": "refs/heads/main"},
        workflow="greet.yml",
        actions={"acme/greet@v1": action},
        environment={"GITHUB_API_URL": "http://127.0.0.1:9"},
    )
    assert run.ok, run.log
    assert "asked http://127.0.0.1:9 about this tree with 14" in run.log.splitlines()
    assert (run.outputs, run.summary, run.results) == (
        {"greeting": "hello you"},
        "### acme/shop\n",
        {"greet": "success"},
    )


PIPELINE = """
include:
  - component: $CI_SERVER_FQDN/acme/shop/greet@$CI_COMMIT_SHA
    inputs: {who: you}
"""
COMPONENT = """
spec:
  inputs:
    who: {type: string}
---
greet:
  image: example.com/absent
  script:
    - echo "hello $[[ inputs.who ]] from $CI_PROJECT_PATH for $CI_MERGE_REQUEST_IID at $CI_API_V4_URL"
    - echo "[]" > quality.json
  artifacts: {paths: [quality.json]}
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
"""


def test_gitlab_ci_runs_a_component_of_the_checkout(gitlab_ci: GitlabCi, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "templates").mkdir(parents=True)
    (checkout / ".gitlab-ci.yml").write_text(PIPELINE)
    (checkout / "templates" / "greet.yml").write_text(COMPONENT)
    commit(checkout)
    source = {"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "3"}
    run = gitlab_ci.run(checkout, variables={**source, "CI_API_V4_URL": "http://127.0.0.1:9"})
    assert run.ok, run.log
    assert run.printed == {"greet": "hello you from acme/shop for 3 at http://127.0.0.1:9"}
    assert (checkout / "quality.json").read_text() == "[]\n"
