"""One formula, two languages: the library's `activation` and what Python computes from the document are equal."""

import json
from pathlib import Path
from typing import Any

import pytest

from kixbot.model.build import SourceInfo
from kixbot.ops.build import assemble
from kixbot.sources import document
from kixbot.sources.nix import LIBRARY
from kixbot.sources.tree import Tree
from tests.nix.shop import EXAMPLE, built
from tests.parts.second_nix import Nix

HERE = Path(__file__).parent


def activation_of(value: Any) -> dict[str, str]:
    """What Python makes of a document, in the form of the library's attribute."""
    tree = Tree(root=HERE, files=())
    evaluated = document.decode(value, tree=tree, tree_name="none", source=SourceInfo(kind="nix", path="c.nix"))
    found = assemble(evaluated).activation
    assert found is not None
    return {"name": found.name, "path": found.path}


def test_identities_of_hard_cases_are_equal_in_both_languages(each_nix: Nix) -> None:
    expression = f"import {HERE / 'identity_clusters.nix'} (import {LIBRARY})"
    clusters = json.loads(each_nix.evaluate(expression))
    assert [cluster["activation"] for cluster in clusters] == [activation_of(c["document"]) for c in clusters]
    names = [cluster["activation"]["name"] for cluster in clusters]
    # Annotations that only steer kix leave no trace.
    assert names[0] == names[3]
    assert len(set(names)) == len(names) - 1


def test_the_example_has_the_same_activation_in_both_languages_and_on_every_nix(
    each_nix: Nix, monkeypatch: pytest.MonkeyPatch
) -> None:
    expression = f'((import {LIBRARY}).load {{ tree = {EXAMPLE}; file = "clusters/shop.nix"; }}).activation'
    said = json.loads(each_nix.evaluate(expression))
    monkeypatch.setenv("PATH", each_nix.environment()["PATH"])
    sandboxed = built(EXAMPLE).activation
    assert sandboxed is not None
    assert said == {"name": sandboxed.name, "path": sandboxed.path}


def test_both_versions_of_nix_evaluate_the_example_to_the_same_document(
    first_nix: Nix, second_nix: Nix, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert first_nix.version != second_nix.version
    builds = []
    for one in (first_nix, second_nix):
        monkeypatch.setenv("PATH", one.environment()["PATH"])
        builds.append(built(EXAMPLE))
    assert builds[0] == builds[1]
