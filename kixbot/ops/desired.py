"""What is sent for a resource: the manifest as applied, the leaves left to others, the bookkeeping."""

from collections.abc import Mapping
from typing import Any, Final

from kixbot.diff.ownership import (
    ABSENT,
    Path,
    find_entry,
    is_ceded,
    managed_fields,
    parse_fields,
    render_path,
    value_at,
    without,
)
from kixbot.identity import content_hash, is_secret
from kixbot.model.activation import FIELD_MANAGER, cluster_label, record_manager
from kixbot.model.resource import Body, Resource

IDENTITY_HASH: Final = "kix.run/identity-hash"
APPLIED_HASH: Final = "kix.run/applied-hash"
ACTIVATIONS: Final = "kix.run/activations"
PACKAGE: Final = "kix.run/package"
CLUSTER_PREFIX: Final = "cluster.kix.run/"


def body_of(resource: Resource) -> dict[str, Any]:
    """The full manifest as kix applies it.

    Empty `rules` beside an aggregationRule would fight the aggregating controller; values of a generated Secret are
    never applied as `kix`.
    """
    body = dict(resource.manifest)
    if body.get("aggregationRule") and body.get("rules") == []:
        del body["rules"]
    if resource.generated:
        body.pop("data", None)
        body.setdefault("type", "Opaque")
    return body


def has_plain_values(resource: Resource) -> bool:
    """Whether this is a Secret whose values stand in the build."""
    data = resource.manifest.get("data")
    return is_secret(resource.manifest) and not resource.generated and isinstance(data, Mapping) and any(data.values())


def hash_of(resource: Resource, key: bytes | None) -> str:
    """The content hash a record keeps: over manifest, ceded paths and the keys that are generated."""
    generated = (f"generated {name}" for name in resource.generated)
    return content_hash(resource.manifest, (*resource.cede, *generated), key)


def generated_keys(resource: Resource) -> tuple[str, ...]:
    """The keys of a Secret whose values are made at apply."""
    return tuple(name.removeprefix("data.").removeprefix("stringData.") for name in resource.generated)


def missing_keys(resource: Resource, live: Body | None) -> tuple[str, ...]:
    """Generated keys that the live Secret lacks."""
    there = (live or {}).get("data") or {}
    return tuple(name for name in generated_keys(resource) if name not in there)


def leaves_left_out(resource: Resource, live: Body | None) -> tuple[Path, ...]:
    """Leaves under a ceded path that another manager holds in the live object: these are not sent.

    Only leaves, never the subtree, and only while somebody else owns them: a field kix alone owns would be deleted or
    defaulted by leaving it out.
    """
    if live is None or not resource.cede:
        return ()
    found: set[Path] = set()
    for entry in managed_fields(live):
        if entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply":
            continue
        for path in parse_fields(entry.get("fieldsV1") or {}):
            if any(is_ceded(path, cede) for cede in resource.cede) and value_at(resource.manifest, path) is not ABSENT:
                found.add(path)
    return tuple(sorted(found, key=render_path))


def sent_body(resource: Resource, left_out: tuple[Path, ...]) -> dict[str, Any]:
    """The manifest without the leaves left out."""
    body = body_of(resource)
    return without(body, left_out) if left_out else body


def is_held(live: Body, cluster: str) -> bool:
    """Whether this cluster's deploys wrote the object: kix applies fields of it, or its bookkeeping is ours.

    Labels alone prove nothing, since controllers copy them to children. An object that is only a name (a Namespace,
    a ServiceAccount) leaves kix no field to own, so the bookkeeping's own entry counts too.
    """
    return find_entry(live, FIELD_MANAGER) is not None or find_entry(live, record_manager(cluster)) is not None


def is_skewed(live: Body, api_version: str) -> bool:
    """Whether an owner's entry was written at another version of the kind.

    The API server then reads the object at that version too and may stumble over fields only the newer one knows.
    """
    return any(entry.get("apiVersion") != api_version for entry in managed_fields(live) if not entry.get("subresource"))


def contents_of(resource: Resource) -> dict[str, Any]:
    """The manifest as a projection shows it: without what names the object."""
    body = sent_body(resource, ())
    metadata = {key: value for key, value in body.get("metadata", {}).items() if key not in ("name", "namespace")}
    kept = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    return {**({"metadata": metadata} if metadata else {}), **kept}


def managers_of(live: Body) -> str:
    """Who manages an object, for people."""
    names = {str(entry.get("manager")) for entry in managed_fields(live) if not entry.get("subresource")}
    return f"managed by {', '.join(sorted(names))}" if names else "managed by nobody"


def paths_by_text(live: Body | None) -> dict[str, Path]:
    """Every owned path of the live object, by how the API server writes it in a conflict.

    A text that two paths share (a key may hold dots) names neither: what it means is then not guessed.
    """
    found: dict[str, set[Path]] = {}
    for entry in managed_fields(live or {}):
        for path in parse_fields(entry.get("fieldsV1") or {}):
            found.setdefault(render_path(path), set()).add(path)
    return {text: paths.pop() for text, paths in found.items() if len(paths) == 1}


def other_clusters(live: Body | None, cluster: str) -> tuple[str, ...]:
    """Other Kix clusters that hold the object, by its labels."""
    labels = ((live or {}).get("metadata") or {}).get("labels") or {}
    names = (label.removeprefix(CLUSTER_PREFIX) for label in labels if label.startswith(CLUSTER_PREFIX))
    return tuple(sorted(name for name in names if name != cluster))


def find_lead(live: Body | None, cluster: str) -> str | None:
    """Another Kix cluster that leads the object: it held it first, so its bookkeeping has the keys without a prefix.

    None where nobody else holds it, or where we lead.
    """
    others = other_clusters(live, cluster)
    if not others:
        return None
    written = ((live or {}).get("metadata") or {}).get("annotations") or {}
    lead = str(written.get(ACTIVATIONS) or "").partition("=")[0]
    if lead == cluster:
        return None
    return lead if lead in others else others[0]


def key_prefix(live: Body | None, cluster: str) -> str:
    """What our annotations' keys start with: our name where another cluster leads the object."""
    return f"{cluster}." if find_lead(live, cluster) else ""


def bookkeeping(
    resource: Resource, live: Body, *, cluster: str, activation: str, identity: str, applied_hash: str
) -> dict[str, Any]:
    """The label and annotations that `kix-record.<cluster>` applies, guarded by uid.

    No resourceVersion: objects that roll out change all the time. Where another Kix cluster leads the object, our
    annotations carry our cluster's name as a prefix.
    """
    prefix = key_prefix(live, cluster)
    metadata: dict[str, Any] = {
        "name": resource.ref.name,
        "uid": live["metadata"]["uid"],
        "labels": {cluster_label(cluster): "true"},
        "annotations": {
            f"{prefix}{IDENTITY_HASH}": identity,
            f"{prefix}{APPLIED_HASH}": applied_hash,
            f"{prefix}{ACTIVATIONS}": f"{cluster}={activation}",
        },
    }
    if resource.package:
        metadata["annotations"][f"{prefix}{PACKAGE}"] = resource.package
    if resource.ref.namespace:
        metadata["namespace"] = resource.ref.namespace
    return {"apiVersion": resource.api_version, "kind": resource.ref.kind, "metadata": metadata}
