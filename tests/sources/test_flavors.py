"""The facts of flavors for plain sources are those of the Nix library."""

import pytest

from kixbot.errors import SettingsError
from kixbot.model.build import ClusterFacts, SourceInfo
from kixbot.sources import document, flavors, nix
from tests.sources.conftest import MakeTree


@pytest.mark.parametrize("flavor", flavors.FLAVORS)
def test_a_flavor_says_the_same_with_and_without_nix(flavor: str, make_tree: MakeTree) -> None:
    text = f'{{ kix, packages }}: kix.buildCluster {{ name = "shop"; modules = [ kix.flavors.{flavor} ]; }}'
    tree = make_tree({"shop.nix": text})
    found = nix.evaluate(tree, "shop.nix")
    source = SourceInfo(kind="nix", path="shop.nix")
    decoded = document.decode(found.value, tree=tree, tree_name=found.tree_name, source=source)
    assert flavors.facts("shop", flavor) == decoded.cluster


def test_both_know_the_same_flavors(make_tree: MakeTree) -> None:
    found = nix.expression(make_tree({"a": ""}), 'builtins.attrNames (import "${kix}/default.nix").flavors')
    assert found.value == sorted(flavors.FLAVORS)


def test_an_unknown_flavor_is_said_with_those_there_are() -> None:
    with pytest.raises(SettingsError) as caught:
        flavors.facts("shop", "azure")
    assert (caught.value.message, caught.value.hint) == (
        "flavor 'azure' is not known here",
        "flavors are generic, kind, eks",
    )


def test_a_bare_path_is_closed_but_for_what_stands_elsewhere() -> None:
    facts = flavors.of_path()
    assert isinstance(facts, ClusterFacts)
    assert {binding.kind for binding in facts.roles.values()} == {"external"}
    assert facts.external_kinds == {"Namespace", "CustomResourceDefinition", "IngressClass", "StorageClass"}
    assert (facts.name, facts.custom_kinds_external) == ("", True)
