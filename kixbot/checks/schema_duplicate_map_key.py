"""schema/duplicate-map-key: two items with one key in a list that Kubernetes merges by key."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import mapping, mappings
from kixbot.model.finding import Severity
from kixbot.model.path import item_key, member
from kixbot.model.resource import Resource

# Lists of pod specs and Services whose list-map keys the API server enforces; `protocol` defaults to TCP first, so
# that one port for TCP and UDP is fine and `TCP` written out beside an absent protocol is not. `env` has its own rule.
_POD = {"containers": ("name",), "initContainers": ("name",), "volumes": ("name",)}
_CONTAINER = {"ports": ("containerPort", "protocol"), "volumeMounts": ("mountPath",), "volumeDevices": ("devicePath",)}
_SERVICE = {"ports": ("port", "protocol")}


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        yield from _repeated(pods.resource, pods.spec_path, pods.spec, _POD)
        for container in pods.containers:
            yield from _repeated(pods.resource, container.path, container.body, _CONTAINER)
    for service in context.of_kind("Service"):
        yield from _repeated(service, "$.spec", mapping(service.manifest.get("spec")), _SERVICE)


def _repeated(
    resource: Resource, path: str, owner: Mapping[str, Any], keys_of: Mapping[str, tuple[str, ...]]
) -> Iterator[Hit]:
    for field, keys in keys_of.items():
        counts = Counter(key for entry in mappings(owner.get(field)) if (key := item_key(entry, keys)))
        for key, count in counts.items():
            if count > 1:
                yield Hit(
                    resource=resource,
                    path=member(path, field),
                    message=f"{resource.ref.plain} has {count} items with the key {key!r} in {field}; "
                    f"items are told apart by {' and '.join(keys)}",
                    hint=f"keep one item {key}, or give the other a {keys[0]} of its own",
                )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: dns, namespace: shop}}
spec:
  clusterIP: None
  ports:
    - {{name: tcp, port: 53}}
    - {{name: other, port: 53, protocol: {protocol}}}
"""

CHECK = Check(
    id="schema/duplicate-map-key",
    severity=Severity.ERROR,
    title="a list that is merged by key holds one key twice",
    rationale=(
        "Containers, volumes, ports and mounts are lists in the text and maps to the API server. Server-side apply "
        "refuses two items with one key (after defaults: a port without protocol is TCP), because it could not say "
        "who owns which."
    ),
    example=Example(good=_EXAMPLE.format(protocol="UDP"), bad=_EXAMPLE.format(protocol="TCP")),
    find=_find,
)
