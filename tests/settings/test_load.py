"""kix.toml, from text to values."""

import pytest

from kixbot.errors import ExitCode, SettingsError
from kixbot.model.build import External, Suppression
from kixbot.settings import (
    BotSettings,
    CheckSettings,
    ClusterSettings,
    PinSettings,
    RegistrySettings,
    Settings,
    discover,
    load,
)

WHOLE = """
schema = 1

[clusters.staging]
path = "clusters/staging.nix"

[clusters.shop]
path = "clusters/shop.nix"
context = "prod"
namespace = "shop"
environment = "production"
pins = "pins/shop.json"
kubernetes = "1.34"
flavor = "eks"
deploy = "approval"
after = ["staging"]
soak = "10m"
policy = "stop"
record-namespace = "records"
allow-plain-secrets = true
allow-unmerged = true
roles = { loadBalancer = "absent" }
cede = { "Deployment/web@shop" = ["spec.replicas"] }
externals = [{ kind = "Secret", group = "", name = "tls", namespace = "shop", keys = ["tls.crt"], verify = true }]

[check]
fail = ["rel/*"]
ignore = [{ rule = "rel/no-probe", resource = "Job/x@shop", reason = "a batch", until = "2027-01-31" }]

[pins]
mode = "commit"
on = ["merge", "schedule"]
min-age = "3d"
signed-by = ["ops@acme.example"]

[bot]
comment = "changes-only"
shrink-threshold = 30

[registries]
mirrors = { "docker.io" = "mirror.acme.example" }
insecure = ["127.0.0.1:5000"]
allow = ["registry.internal"]
"""


def refusal(text: str, file: str = "kix.toml") -> tuple[str, str | None]:
    with pytest.raises(SettingsError) as caught:
        load(text, file=file)
    assert caught.value.exit_code == ExitCode.USAGE
    return caught.value.message, caught.value.hint


def test_every_key_is_read() -> None:
    assert load(WHOLE) == Settings(
        clusters={
            "staging": ClusterSettings(path="clusters/staging.nix"),
            "shop": ClusterSettings(
                path="clusters/shop.nix",
                context="prod",
                namespace="shop",
                environment="production",
                pins="pins/shop.json",
                kubernetes="1.34",
                flavor="eks",
                deploy="approval",
                after=("staging",),
                soak=600,
                policy="stop",
                roles={"loadBalancer": "absent"},
                externals=(
                    External(kind="Secret", group="", name="tls", namespace="shop", keys=("tls.crt",), verify=True),
                ),
                cede={"Deployment/web@shop": ("spec.replicas",)},
                record_namespace="records",
                allow_plain_secrets=True,
                allow_unmerged=True,
            ),
        },
        check=CheckSettings(
            fail=("rel/*",),
            ignore=(Suppression(rule="rel/no-probe", resource="Job/x@shop", reason="a batch", until="2027-01-31"),),
        ),
        pins=PinSettings(mode="commit", on=("merge", "schedule"), min_age=259200, signed_by=("ops@acme.example",)),
        bot=BotSettings(comment="changes-only", shrink_threshold=30),
        registries=RegistrySettings(
            mirrors={"docker.io": "mirror.acme.example"}, insecure=("127.0.0.1:5000",), allow=("registry.internal",)
        ),
        file="kix.toml",
    )


def test_no_file_and_an_empty_one_mean_the_defaults() -> None:
    assert load(None) == Settings()
    assert load("") == Settings(file="kix.toml")


def test_pyproject_may_hold_the_settings() -> None:
    text = '[project]\nname = "x"\n[tool.kix.clusters.shop]\npath = "shop.nix"\n'
    assert load(text, file="pyproject.toml").clusters == {"shop": ClusterSettings(path="shop.nix")}
    assert load('[project]\nname = "x"\n', file="pyproject.toml") == Settings()


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("[clusters.shop]\npath = 'x'\ncontxt = 'y'\n", "kix.toml: [clusters.shop]: unknown key 'contxt'", "did you mean context?"),
        ("cluster = {}\n", "kix.toml: unknown key 'cluster'", "did you mean clusters?"),
        ("[check]\nx = 1\n", "kix.toml: [check]: unknown key 'x'", "known keys: fail, ignore"),
        ("[clusters.shop]\ncontext = 'x'\n", "kix.toml: [clusters.shop]: path is missing", 'add path = "…"'),
        ("[clusters.shop]\npath = '/etc/passwd'\n", "kix.toml: [clusters.shop] path: a path relative to this file is expected", None),
        ("[clusters.Shop]\npath = 'x'\n", "kix.toml: [clusters.Shop]: no name for a cluster", "use at most 50 lower-case letters, digits and hyphens"),
        ("[clusters.a]\npath = 'x'\nafter = ['b']\n", "kix.toml: [clusters.a] after: 'b' is no other cluster", "clusters are a"),
        ("[clusters.a]\npath = 'x'\nafter = ['b']\n[clusters.b]\npath = 'x'\nafter = ['a']\n", "kix.toml: clusters wait for each other by after: a, b", None),
        ("[clusters.a]\npath = 'x'\ndeploy = 'always'\n", 'kix.toml: [clusters.a] deploy: "merge", "approval" or "manual" is expected', None),
        ("[clusters.a]\npath = 'x'\nsoak = '10 minutes'\n", 'kix.toml: [clusters.a] soak: a duration like "10m" is expected (s, m, h, d)', None),
        ("[clusters.a]\npath = 'x'\nallow-unmerged = 1\n", "kix.toml: [clusters.a] allow-unmerged: true or false is expected", None),
        ("[clusters.a.roles]\nload = 'absent'\n[clusters.a]\npath = 'x'\n", "kix.toml: [clusters.a.roles]: unknown key 'load'", "known keys: loadBalancer, storage, ingress, gateway, monitoring, certificates, dns, cni, autoscaler, policy"),
        ("[bot]\nshrink-threshold = 101\n", "kix.toml: [bot] shrink-threshold: a number from 0 to 100 is expected", None),
        ("[check]\nfail = 'x'\n", "kix.toml: [check] fail: a list of texts is expected", None),
        ("[check]\nignore = [{ rule = 'a', resource = 'b' }]\n", "kix.toml: [check] ignore[0]: reason is missing", 'add reason = "…"'),
        ("schema = 2\n", "kix.toml: schema 2 is not known here", "write schema = 1"),
        ("clusters = 1\n", "kix.toml: [clusters]: a table is expected", None),
    ],
)  # fmt: skip
def test_what_the_schema_does_not_allow_is_said_in_words(text: str, message: str, hint: str | None) -> None:
    assert refusal(text) == (message, hint)


def test_broken_toml_is_said_with_its_place() -> None:
    assert refusal("a = \n")[0] == "kix.toml: broken TOML: Invalid value (at line 1, column 5)"


@pytest.mark.parametrize(("written", "meant"), [("true", "true"), ("false", "false"), ("'true'", "true")])
def test_the_bot_s_comment_may_be_a_boolean(written: str, meant: str) -> None:
    assert load(f"[bot]\ncomment = {written}\n").bot.comment == meant


def test_clusters_are_found_by_their_files_where_none_is_listed() -> None:
    files = ["clusters/shop.nix", "clusters/deep/no.nix", "clusters/No.nix", "clusters/a.yaml", "kix.nix", "lib/x.nix"]
    assert discover(load(None), files).clusters == {
        "shop": ClusterSettings(path="clusters/shop.nix"),
        "kix": ClusterSettings(path="kix.nix"),
    }
    listed = load("[clusters.one]\npath = 'x'\n")
    assert discover(listed, files) == listed
