"""Flavors say the same in both languages: as modules of a definition, and to plain manifests without Nix."""

import json
from pathlib import Path
from typing import Any

from kixbot.model.build import Binding, ClusterFacts
from kixbot.sources.flavors import FLAVORS
from kixbot.sources.nix import LIBRARY
from tests.parts.second_nix import Nix


def said_by(flavor: dict[str, Any]) -> ClusterFacts:
    return ClusterFacts(
        name="",
        flavor=flavor["flavor"],
        kubernetes_version=flavor["kubernetesVersion"],
        availability=flavor["availability"],
        zones=tuple(flavor["zones"]),
        nodes=flavor["nodes"],
        roles={role: Binding(**binding) for role, binding in flavor["roles"].items()},
        storage_classes=tuple(flavor["storageClasses"]),
        ingress_classes=tuple(flavor["ingressClasses"]),
        priority_classes=tuple(flavor["priorityClasses"]),
        runtime_classes=tuple(flavor["runtimeClasses"]),
    )


def test_a_flavor_says_the_same_to_definitions_and_to_plain_manifests(first_nix: Nix) -> None:
    found = json.loads(first_nix.evaluate(f"import {LIBRARY / 'flavors' / 'facts.nix'}"))
    assert {name: said_by(flavor) for name, flavor in found.items()} == dict(FLAVORS)


def test_every_flavor_has_a_file_and_a_place_in_the_list(first_nix: Nix) -> None:
    listed = json.loads(first_nix.evaluate(f"builtins.attrNames (import {LIBRARY}).flavors"))
    files = {file.stem for file in Path(LIBRARY / "flavors").glob("*.nix")} - {"default", "facts"}
    assert set(listed) == files
