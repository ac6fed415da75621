"""What rules about Services share: their selector and their ports."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.shape import at, keyed, labels, mapping
from kixbot.model.resource import Resource


def selector_of(service: Resource) -> dict[str, str]:
    """The labels a Service selects; empty where it selects nothing by itself (no selector, or an ExternalName)."""
    spec = at(service.manifest, "spec")
    return {} if spec.get("type") == "ExternalName" else labels(spec.get("selector"))


def ports_of(service: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each port of a Service with its path."""
    yield from keyed("$.spec", mapping(service.manifest.get("spec")), "ports")
