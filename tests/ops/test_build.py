"""From a source to a build: which source, from which tree, with which settings; and what ends it."""

import io
import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from kixbot.errors import ExitCode, KixError, NixError, SettingsError, SourceError, UsageError
from kixbot.model.build import Build, EdgeKind, SourceInfo
from kixbot.ops.build import BuildRequest, Built, build, build_cluster, opened
from kixbot.output import build_json
from kixbot.settings import ClusterSettings, Settings
from tests.sources.git_trees import commit, git, repository

SHOP = """{ kix, packages }:
kix.buildCluster {
  name = "shop";
  modules = [ kix.flavors.kind { resources.shop.ConfigMap.web.data.greeting = "GREETING"; } ];
}
"""
WEB = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata: {greeting: GREETING}\n"


def shop(greeting: str = "hello") -> str:
    return SHOP.replace("GREETING", greeting)


def web(greeting: str = "hello") -> str:
    return WEB.replace("GREETING", greeting)


def ids(built: Built) -> list[str]:
    return [resource.ref.id for resource in built.build.resources]


def greeting(built: Built) -> str:
    found: str = next(one for one in built.build.resources if one.ref.kind == "ConfigMap").manifest["data"]["greeting"]
    return found


def failure(request: BuildRequest) -> KixError:
    with pytest.raises(KixError) as caught:
        build(request)
    assert "/nix/store" not in caught.value.message
    return caught.value


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return folder


def test_a_definition_is_found_without_settings(tmp_path: Path) -> None:
    write(tmp_path, {"clusters/shop.nix": shop()})
    found = build(BuildRequest(directory=tmp_path))
    assert ids(found) == ["ConfigMap/web@shop", "Namespace/shop"]
    assert found.build.evaluated.source == SourceInfo(kind="nix", path="clusters/shop.nix")
    assert found.build.activation is not None
    assert found.build.activation.name == f"shop-{found.build.activation.path[11:23]}"


def test_a_definition_may_be_named_by_cluster_or_by_file(tmp_path: Path) -> None:
    write(tmp_path, {"clusters/shop.nix": shop(), "clusters/other.nix": shop().replace('"shop"', '"other"')})
    one, other = (build(BuildRequest(directory=tmp_path, targets=(name,))) for name in ("shop", "clusters/shop.nix"))
    assert one.build == other.build


def test_the_library_s_own_activation_is_the_same_path(tmp_path: Path) -> None:
    from kixbot.sources import nix, tree  # noqa: PLC0415  only this test asks Nix itself

    write(tmp_path, {"shop.nix": shop(), "kix.toml": '[clusters.shop]\npath = "shop.nix"\n'})
    expression = '(import "${kix}/default.nix").load { inherit tree; file = "shop.nix"; }'
    said = nix.expression(tree.working_tree(tmp_path), f"{{ inherit (({expression}).activation) name path; }}").value
    found = build(BuildRequest(directory=tmp_path)).build.activation
    assert found is not None
    assert (found.name, found.path) == (said["name"], said["path"])


def test_plain_manifests_need_no_nix_and_no_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"app/web.yaml": web(), "kix.toml": '[clusters.shop]\npath = "app"\n'})
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    bare = build(BuildRequest(directory=tmp_path, targets=("app",)))
    cluster = build(BuildRequest(directory=tmp_path, targets=("shop",)))
    assert ids(bare) == ids(cluster) == ["ConfigMap/web@shop"]
    assert (bare.build.cluster.name, cluster.build.cluster.name) == ("", "shop")
    assert bare.build.identities == cluster.build.identities


def test_a_definition_without_nix_says_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, {"clusters/shop.nix": shop()})
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    error = failure(BuildRequest(directory=tmp_path))
    assert (type(error), error.exit_code) == (NixError, ExitCode.OUTSIDE)


def test_a_ref_is_built_as_it_was(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"clusters/shop.nix": shop("old"), "app/web.yaml": web("old")})
    first = git(repo, "rev-parse", "HEAD")
    commit(repo, {"clusters/shop.nix": shop("new"), "app/web.yaml": web("new")})
    write(repo, {"clusters/shop.nix": shop("dirty")})
    assert greeting(build(BuildRequest(directory=repo, ref=first))) == "old"
    assert greeting(build(BuildRequest(directory=repo, ref="main"))) == "new"
    assert greeting(build(BuildRequest(directory=repo))) == "dirty"
    assert greeting(build(BuildRequest(directory=repo / "app", targets=("web.yaml",), ref="HEAD~1"))) == "old"
    source = build(BuildRequest(directory=repo, ref=first)).build.evaluated.source
    assert source == SourceInfo(
        kind="nix", path="clusters/shop.nix", commit=first, branch=None, remote=None, clean=True
    )


def test_the_same_commit_in_two_folders_is_the_same_build(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"clusters/shop.nix": shop(), "app/web.yaml": web()})
    git(tmp_path, "clone", "--quiet", str(repo), "elsewhere/clone")
    for targets in (("shop",), ("app",)):
        one, other = (
            build(BuildRequest(directory=folder, targets=targets, ref="HEAD")).build
            for folder in (repo, tmp_path / "elsewhere/clone")
        )
        assert (one.activation, one.identities) == (other.activation, other.identities)


def test_settings_stand_beside_what_they_name(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "repo",
        {
            "infra/kix.toml": '[clusters.shop]\npath = "app"\nnamespace = "other"\n',
            "infra/app/web.yaml": web().replace(", namespace: shop", ""),
        },
    )
    found = build(BuildRequest(directory=repo / "infra"))
    assert ids(found) == ["ConfigMap/web@other"]
    assert found.build.resources[0].origin is not None
    assert found.build.resources[0].origin.file == "infra/app/web.yaml"


def test_given_settings_hold_instead_of_the_tree_s(tmp_path: Path) -> None:
    write(tmp_path, {"app/web.yaml": web(), "kix.toml": "broken"})
    given = Settings(clusters={"mine": ClusterSettings(path="app")})
    assert build(BuildRequest(directory=tmp_path, targets=("mine",), settings=given)).build.cluster.name == "mine"


def test_pins_are_those_of_the_same_tree(tmp_path: Path) -> None:
    pins = {"version": 1, "pins": {"web": {"image": "a/web", "tag": "1", "digest": "sha256:" + "0" * 64}}}
    repo = repository(
        tmp_path / "repo",
        {"app/web.yaml": web(), "kix.toml": '[clusters.shop]\npath = "app"\n', "pins.json": json.dumps(pins)},
    )
    (repo / "pins.json").write_text("broken")
    found = build(BuildRequest(directory=repo, ref="main")).pins
    assert found is not None
    assert list(found.pins) == ["web"]


def test_several_clusters_share_one_tree(tmp_path: Path) -> None:
    repo = repository(
        tmp_path / "repo",
        {"a/web.yaml": web(), "b/web.yaml": web(), "kix.toml": '[clusters.a]\npath = "a"\n[clusters.b]\npath = "b"\n'},
    )
    with opened(BuildRequest(directory=repo, ref="main")) as source:
        names = [build_cluster(source, name).build.cluster.name for name in source.settings.clusters]
        root = source.tree.root
    assert names == ["a", "b"]
    assert not root.exists()


def test_equal_duplicates_collapse_and_differing_ones_leave_no_activation(tmp_path: Path) -> None:
    write(tmp_path, {"equal.yaml": f"{web()}---\n{web()}", "differing.yaml": f"{web()}---\n{web('other')}"})
    equal, differing = (
        build(BuildRequest(directory=tmp_path, targets=(name,))).build for name in ("equal.yaml", "differing.yaml")
    )
    assert [len(one.resources) for one in (equal, differing)] == [1, 1]
    assert [len(one.duplicates) for one in (equal, differing)] == [1, 1]
    assert equal.activation is not None
    assert differing.activation is None
    lines = [one.origin.line for pair in differing.duplicates for one in pair if one.origin]
    assert lines == [1, 6]


def test_a_cycle_of_plain_manifests_is_softened(tmp_path: Path) -> None:
    text = """apiVersion: v1
kind: ServiceAccount
metadata: {name: a}
secrets: [{name: b}]
---
apiVersion: v1
kind: Secret
metadata: {name: b, annotations: {kubernetes.io/service-account.name: a}}
type: kubernetes.io/service-account-token
"""
    found = build(BuildRequest(directory=write(tmp_path, {"app.yaml": text}), targets=("app.yaml",))).build
    assert found.cycles == ()
    assert found.activation is not None
    assert [(edge.source.id, edge.target.id, edge.kind) for edge in found.softened] == [
        ("Secret/b@default", "ServiceAccount/a@default", EdgeKind.HARD),
        ("ServiceAccount/a@default", "Secret/b@default", EdgeKind.HARD),
    ]


@pytest.mark.parametrize(
    ("files", "targets", "kind", "message", "hint"),
    [
        ({}, (), UsageError, "no cluster here", "name a path, or write clusters/NAME.nix or kix.toml"),
        ({}, ("nope",), UsageError, "'nope' is neither a cluster nor a path", "write clusters/NAME.nix or kix.toml"),
        ({"clusters/shop.nix": ""}, ("shp",), UsageError, "'shp' is neither a cluster nor a path", "did you mean shop?"),
        ({"clusters/a.nix": "", "clusters/b.nix": ""}, (), UsageError, "several clusters here: a, b", "name one, for example a"),
        ({"app/readme.md": ""}, ("app",), SourceError, "app: no manifest in this folder", "put .yaml, .yml or .json files there"),
        ({"app/a.yaml": "# nothing\n"}, ("app",), SourceError, "app: no manifest found", "put objects in .yaml, .yml or .json files there"),
        ({"kix.toml": "[clusters.shop]\npath = 'gone'\n"}, ("shop",), SourceError, "gone: no such file in the tree", "git add it, or mend path in kix.toml"),
        ({"kix.toml": "[clusters.shop]\npath = '../x'\n"}, ("shop",), SourceError, "../x: no such file in the tree", "git add it, or mend path in kix.toml"),
        ({"kix.toml": "[clusters.shop]\npaht = 'x'\n"}, ("shop",), SettingsError, "kix.toml: [clusters.shop]: unknown key 'paht'", "did you mean path?"),
        ({"shop.nix": shop(), "kix.toml": "[clusters.shop]\npath = 'shop.nix'\nflavor = 'eks'\n"}, ("shop",), SettingsError, "[clusters.shop] flavor: shop.nix is a definition in Nix, which says this itself", "remove flavor, and say it in shop.nix"),
        ({"clusters/shop.nix": shop().replace('"shop"', '"other"')}, ("shop",), SourceError, "clusters/shop.nix: its name is 'other', the settings call it 'shop'", "give both one name"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_said_in_one_sentence(
    tmp_path: Path, files: dict[str, str], targets: tuple[str, ...], kind: type[KixError], message: str, hint: str
) -> None:
    error = failure(BuildRequest(directory=write(tmp_path, files), targets=targets))
    assert (type(error), error.message, error.hint) == (kind, message, hint)


def test_settings_that_are_a_link_out_of_the_tree_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("canary-4711 = 1\n")
    repo = repository(tmp_path / "repo", {"app/web.yaml": web()})
    (repo / "kix.toml").symlink_to("../secret")
    error = failure(BuildRequest(directory=repo, targets=("shop",)))
    assert type(error) is SourceError
    assert "canary" not in f"{error.message}{error.hint}"


def test_standard_input_is_a_source(tmp_path: Path, stdin: Callable[[str], None]) -> None:
    stdin(web())
    assert ids(build(BuildRequest(directory=tmp_path, targets=("-",)))) == ["ConfigMap/web@shop"]


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def give(text: str) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    return give


def schema() -> jsonschema.Draft202012Validator:
    text = (Path(__file__).parents[2] / "docs" / "schemas" / "build.json").read_text()
    return jsonschema.Draft202012Validator(json.loads(text))


def built(tmp_path: Path, text: str) -> Build:
    return build(BuildRequest(directory=write(tmp_path, {"app.yaml": text}), targets=("app.yaml",))).build


def test_the_build_document_follows_its_schema(tmp_path: Path) -> None:
    write(tmp_path, {"clusters/shop.nix": shop()})
    schema().validate(build_json.document(build(BuildRequest(directory=tmp_path)).build))
    schema().validate(build_json.document(built(tmp_path, f"{web()}---\n{web('other')}")))


def test_secret_values_stand_in_no_build_document(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {pass: canary-4711}\n"
    found = build_json.text(built(tmp_path, text))
    assert "canary" not in found
    assert "Y2FuYXJ5" not in found
    assert json.loads(found)["resources"][0]["manifest"]["data"] == {"pass": ""}


def test_a_build_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repo = repository(tmp_path / "repo", {"clusters/shop.nix": shop()})
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    build(BuildRequest(directory=repo, ref="main"))
    build(BuildRequest(directory=repo))
    assert list(place.iterdir()) == []
