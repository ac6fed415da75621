"""A plan as a document: stable, valid by its schema, without a Secret's values."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource as Schema

from kixbot.diff.planner import plan
from kixbot.model.plan import (
    Added,
    Changed,
    Conflict,
    PackageChange,
    Plan,
    PruneCandidate,
    Removed,
    Reordered,
    ResourceChange,
    SecretChanged,
)
from kixbot.model.resource import Ref
from kixbot.output.plan_json import document, text
from tests.output.plans import after, before

SCHEMAS = Path(__file__).parents[2] / "docs" / "schemas"


def faults(name: str, found: Any) -> list[str]:
    """What the published schema has to say against a document."""
    schemas = {
        one: json.loads((SCHEMAS / one).read_text(encoding="utf-8")) for one in ("diff.json", "drift.json", "plan.json")
    }
    registry = Registry().with_resources((schema["$id"], Schema.from_contents(schema)) for schema in schemas.values())
    Draft202012Validator.check_schema(schemas[name])
    return [error.message for error in Draft202012Validator(schemas[name], registry=registry).iter_errors(found)]


def test_the_shops_change_is_the_golden_document(golden: Callable[[str, str], None]) -> None:
    golden("plan.json", text(plan(before(), after())))


EVERY_FORM = Plan(
    cluster=None,
    old_activation=None,
    new_activation="shop-b",
    packages=(
        PackageChange(
            id="shop/web",
            namespace="shop",
            name="web",
            action="changed",
            resources=(
                ResourceChange(
                    ref=Ref("Secret", "", "shop", "db"),
                    action="changed",
                    changes=(
                        Added(path="$.a", new=None),
                        Removed(path="$.b", old=[1]),
                        Changed(path="$.c", old=1, new={"x": "y"}),
                        Reordered(path="$.d", old=("A", "B"), new=("B", "A")),
                        SecretChanged(path="$.data.e", action="added"),
                        SecretChanged(path="$.data.f", action="removed"),
                        SecretChanged(path="$.data.g", action="changed"),
                    ),
                ),
                ResourceChange(ref=Ref("Cluster", "postgresql.cnpg.io", "shop", "db"), action="recreated"),
                ResourceChange(ref=Ref("Namespace", "", "", "shop"), action="adopted", simulated=False, note="kubectl"),
                ResourceChange(ref=Ref("Service", "", "shop", "web"), action="changed", reason="dependency"),
            ),
        ),
    ),
    conflicts=(
        Conflict(
            ref=Ref("Secret", "", "shop", "db"), path="$.data.e", manager="kubectl", subresource=None,
            live="bGl2ZQ==", desired="d2FudGVk", verdict="conflict",
        ),
        Conflict(
            ref=Ref("Deployment", "apps", "shop", "web"), path="$.spec.replicas", manager="hpa", subresource="scale",
            live=5, desired=3, verdict="ceded",
        ),
    ),
    prune=(PruneCandidate(ref=Ref("Service", "", "shop", "old")), PruneCandidate(ref=Ref("Namespace", "", "", "x"), kept="never")),
    hash="0" * 64,
)  # fmt: skip


def test_every_form_of_a_change_has_its_shape() -> None:
    found = document(EVERY_FORM)
    assert found["packages"][0]["resources"][0]["changes"] == [
        {"path": "$.a", "new": None},
        {"path": "$.b", "old": [1]},
        {"path": "$.c", "old": 1, "new": {"x": "y"}},
        {"path": "$.d", "reordered": True, "old": ["A", "B"], "new": ["B", "A"]},
        {"path": "$.data.e", "secret": True, "new": "(secret)"},
        {"path": "$.data.f", "secret": True, "old": "(secret)"},
        {"path": "$.data.g", "secret": True, "old": "(secret)", "new": "(changed)"},
    ]
    assert found["recreate"] == ["Cluster.postgresql.cnpg.io/db@shop"]
    assert found["prune"] == [{"id": "Service/old@shop", "kept": None}, {"id": "Namespace/x", "kept": "never"}]
    assert found["summary"]["resources"] == {"changed": 3, "depAffected": 1, "added": 0, "removed": 0}
    assert "bGl2ZQ==" not in text(EVERY_FORM)
    assert "d2FudGVk" not in text(EVERY_FORM)


@pytest.mark.parametrize("name", ["diff.json", "plan.json"])
def test_documents_are_valid_by_their_published_schema(name: str) -> None:
    assert faults(name, document(plan(before(), after()))) == []
    assert faults(name, document(plan(None, after()))) == []
    assert faults(name, document(EVERY_FORM)) == []
    assert faults(name, {**document(EVERY_FORM), "schema": 2}) == ["1 was expected"]
