"""Whose word counts: what a pull request's kix.toml can and cannot change."""

from dataclasses import fields, replace

import pytest

from kixbot.settings import ClusterSettings, Settings, load, trusted
from tests.settings.test_load import WHOLE

HEAD = """
[clusters.shop]
path = "elsewhere/shop.nix"
context = "attacker"
environment = "none"
policy = "warn"
deploy = "merge"
record-namespace = "default"
allow-plain-secrets = true
allow-unmerged = true

[clusters.added]
path = "added.nix"
context = "prod"
environment = "production"

[check]
ignore = [{ rule = "sec/secret-literal", resource = "x", reason = "please" }]

[pins]
mode = "commit"

[bot]
comment = "false"

[registries]
allow = ["169.254.169.254"]
"""


def test_only_names_and_paths_of_clusters_come_from_a_head() -> None:
    base = load(WHOLE)
    found = trusted(base, load(HEAD))
    assert found.clusters == {
        "shop": replace(base.clusters["shop"], path="elsewhere/shop.nix"),
        "added": ClusterSettings(path="added.nix"),
    }


@pytest.mark.parametrize("name", [field.name for field in fields(Settings) if field.name != "clusters"])
def test_every_other_part_is_the_default_branch_s(name: str) -> None:
    base = load(WHOLE)
    assert getattr(trusted(base, load(HEAD)), name) == getattr(base, name)


def test_without_settings_on_the_default_branch_a_head_gets_defaults() -> None:
    assert trusted(load(None), load(HEAD)) == Settings(
        clusters={"shop": ClusterSettings(path="elsewhere/shop.nix"), "added": ClusterSettings(path="added.nix")}
    )
