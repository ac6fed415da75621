"""Label and field selectors as strings, for the embedded cluster."""

from collections.abc import Mapping
from typing import Any


def matches_labels(body: Mapping[str, Any], selector: str) -> bool:
    """`a=b`, `a==b`, `a!=b`, `a`, `!a`, joined by commas. Set-based forms are not spoken here."""
    labels = (body.get("metadata") or {}).get("labels") or {}
    return all(_matches(labels, term.strip()) for term in selector.split(",") if term.strip())


def _matches(labels: Mapping[str, str], term: str) -> bool:
    name, unequal, value = term.partition("!=")
    if unequal:
        return labels.get(name.strip()) != value.strip()
    name, equal, value = term.partition("=")
    if equal:
        return labels.get(name.strip()) == value.removeprefix("=").strip()
    return term[1:] not in labels if term.startswith("!") else term in labels


def matches_fields(body: Mapping[str, Any], selector: str) -> bool:
    """`metadata.name=x,involvedObject.uid=y`: dotted paths that must equal."""
    for term in filter(None, selector.split(",")):
        path, _, value = term.partition("=")
        node: Any = body
        for name in path.split("."):
            node = node.get(name) if isinstance(node, Mapping) else None
        if str(node if node is not None else "") != value:
            return False
    return True
