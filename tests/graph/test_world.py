"""What a selector has to look at: the workloads with its rarest label, not the whole namespace."""

from kixbot.graph.world import World
from tests.graph.objects import evaluated, resources


def workload(number: int) -> str:
    return f"""
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web{number}, namespace: shop}}
spec: {{template: {{metadata: {{labels: {{app: web{number}, tier: front}}}}, spec: {{containers: [{{name: web}}]}}}}}}
"""


WORLD = World(evaluated(resources("".join(map(workload, range(100))))))


def names(labels: dict[str, str]) -> list[str]:
    return [ref.name for ref, _ in WORLD.candidates("shop", labels)]


def test_the_rarest_label_decides_who_is_looked_at() -> None:
    assert names({"tier": "front", "app": "web7"}) == ["web7"]
    assert len(names({"tier": "front"})) == 100


def test_a_label_nobody_carries_leaves_nobody() -> None:
    assert names({"tier": "front", "app": "wbe"}) == []


def test_without_labels_everybody_is_looked_at() -> None:
    assert len(names({})) == 100
