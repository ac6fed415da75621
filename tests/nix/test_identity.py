"""One formula, two languages: the library's `activation` and what Python computes from the document are equal."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

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


# Nix cuts a string at NUL, and a definition may not hold backspace or form feed.
TEXT = st.text(st.characters(exclude_characters="\0\b\f", exclude_categories=["Cs"]), max_size=12)
NAME = TEXT.filter(lambda name: name not in {"_type", "outPath", "__toString", "__kix_number__"})
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAME, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(manifests=st.lists(st.dictionaries(NAME, VALUE, max_size=4), min_size=20, max_size=20))
def test_identities_of_anything_are_equal_in_both_languages(
    manifests: list[dict[str, Any]], first_nix: Nix, tmp_path: Path
) -> None:
    file = tmp_path / "manifests.json"
    file.write_text(json.dumps(manifests), encoding="utf-8")
    expression = f"""
        let kix = import {LIBRARY}; in
        map (spec: {{ inherit (kix.buildCluster {{
          name = "c";
          modules = [ {{ resources.shop.ConfigMap.one = {{ inherit spec; }}; }} ];
        }}) document activation; }}) (builtins.fromJSON (builtins.readFile {file}))
    """
    clusters = json.loads(first_nix.evaluate(expression))
    assert [cluster["activation"] for cluster in clusters] == [activation_of(c["document"]) for c in clusters]
