"""The pods a resource carries, wherever its kind keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kixbot.graph.walk import Raw
from kixbot.model.resource import Resource

# Where kinds keep a pod template. A kind that is not known carries pods when `spec.template.spec.containers` is a
# list, as Argo Rollouts and many operators' kinds do.
_TEMPLATES: tuple[Raw, ...] = (
    ("spec", "template"),
    ("spec", "jobTemplate", "spec", "template"),
    ("template",),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """What a workload's pods look like. `at` is where the template stands, empty for a Pod itself."""

    labels: Mapping[str, str]
    spec: Mapping[str, Any]
    at: Raw

    @property
    def spec_at(self) -> Raw:
        """Where the pod spec stands."""
        return (*self.at, "spec")


def find_pods(resource: Resource) -> Pods | None:
    """The pods of a workload, None for an object that carries none."""
    if resource.ref.kind == "Pod" and not resource.ref.group:
        return _pods(resource.manifest, ())
    for at in _TEMPLATES:
        template: Any = resource.manifest
        for step in at:
            template = template.get(step) if isinstance(template, Mapping) else None
        if isinstance(template, Mapping) and (found := _pods(template, at)):
            return found
    return None


def _pods(template: Mapping[str, Any], at: Raw) -> Pods | None:
    spec = template.get("spec")
    if not isinstance(spec, Mapping) or not isinstance(spec.get("containers"), list):
        return None
    metadata = template.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return Pods(labels=labels if isinstance(labels, Mapping) else {}, spec=spec, at=at)
