"""How a place inside a Kubernetes body is written: `$.spec.template.spec.containers[web].image`.

A map key outside `[A-Za-z0-9_-]` is quoted as JSON (`$.metadata.annotations."a.b/c"`). A list item is written by its
merge key where it has one that is unique in the list, else by its index. A merge key that could be read as an index,
or that holds a character outside `[A-Za-z0-9_./:@-]`, is quoted too, so that a written path can be read back.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

ROOT = "$"

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")
_PLAIN_ITEM = re.compile(r"(?![0-9]+\Z)[A-Za-z0-9_./:@-]+\Z")

# Merge keys of built-in lists (`x-kubernetes-list-map-keys` and `x-kubernetes-patch-merge-key` of the published
# OpenAPI), by the name of the field that holds the list. Where a field name has several, the first whose keys all
# items have is taken. Keys stand in alphabetical order, as they do in managedFields.
MERGE_KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "conditions": (("type",),),
    "containers": (("name",),),
    "env": (("name",),),
    "ephemeralContainers": (("name",),),
    "hostAliases": (("ip",),),
    "imagePullSecrets": (("name",),),
    "initContainers": (("name",),),
    "listeners": (("name",),),
    "matchConditions": (("name",),),
    "ownerReferences": (("uid",),),
    "ports": (("containerPort", "protocol"), ("port", "protocol")),
    "resourceClaims": (("name",),),
    "schedulingGates": (("name",),),
    "secrets": (("name",),),
    "topologySpreadConstraints": (("topologyKey", "whenUnsatisfiable"),),
    "volumeDevices": (("devicePath",),),
    "volumeMounts": (("mountPath",),),
    "volumes": (("name",),),
    "webhooks": (("name",),),
}

# Merge key fields that the API server fills in before it compares items.
KEY_DEFAULTS: Mapping[str, Any] = {"protocol": "TCP"}


@dataclass(frozen=True, slots=True)
class Key:
    """A step into a map."""

    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """A step to the list item with this merge key, as `item_key` writes it."""

    key: str


@dataclass(frozen=True, slots=True)
class Index:
    """A step to the list item at this place."""

    at: int


Step: TypeAlias = Key | Item | Index


def member(path: str, name: str) -> str:
    """The path of map key `name` below `path`."""
    return f"{path}.{name}" if _PLAIN_KEY.match(name) else f"{path}.{json.dumps(name, ensure_ascii=False)}"


def item(path: str, key: str) -> str:
    """The path of the list item with merge key `key` below `path`."""
    return f"{path}[{key}]" if _PLAIN_ITEM.match(key) else f"{path}[{json.dumps(key, ensure_ascii=False)}]"


def index(path: str, at: int) -> str:
    """The path of the list item at `at` below `path`."""
    return f"{path}[{at}]"


def item_key(entry: Any, keys: Sequence[str]) -> str | None:
    """The merge key of a list item as text (`web`, `80/TCP`); None where a key is missing or not a scalar."""
    if not isinstance(entry, dict):  # an abstract Mapping costs four times as much to ask for
        return None
    written = []
    for key in keys:
        value = entry.get(key, KEY_DEFAULTS.get(key))
        if type(value) is not str and type(value) is not int:
            return None
        written.append(str(value))
    return "/".join(written)


def item_keys(field: str, entries: Sequence[Any]) -> tuple[str, ...] | None:
    """The merge keys of a list's items, in order.

    `field` is the name of the map key that holds the list. None where the list has no merge key, or where a key is
    missing in an item or repeated: then items go by their index.
    """
    for keys in MERGE_KEYS.get(field, ()):
        found = [item_key(entry, keys) for entry in entries]
        written = tuple(key for key in found if key is not None)
        if len(written) == len(entries) == len(set(written)):
            return written
    return None


def items(path: str, field: str, entries: Sequence[Any]) -> list[str]:
    """The paths of a list's items: `path` is the list's own, `field` the name of the map key that holds it."""
    keys = item_keys(field, entries)
    if keys is None:
        return [index(path, at) for at in range(len(entries))]
    return [item(path, key) for key in keys]


_STEP = re.compile(
    r'\.?(?P<quoted>"(?:[^"\\]|\\.)*")|\.?(?P<key>[A-Za-z0-9_-]+)'
    r'|\[(?P<index>[0-9]+)\]|\[(?P<item_quoted>"(?:[^"\\]|\\.)*")\]|\[(?P<item>[^\]"]+)\]'
)


def parse(path: str) -> tuple[Step, ...]:
    """Reads a written path back; the leading `$` may be missing, as in `ownership.cede`.

    Raises ValueError with the path where it cannot be read.
    """
    rest = path.removeprefix(ROOT)
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        bare = found is not None and not rest.startswith((".", "["), at)
        if found is None or (bare and (at > 0 or path.startswith(ROOT))):
            raise ValueError(f"{path}: not a field path, near {rest[at:]!r}")
        steps.append(_step(found))
        at = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    if (quoted := found["quoted"]) is not None:
        return Key(json.loads(quoted))
    if (key := found["key"]) is not None:
        return Key(key)
    if (at := found["index"]) is not None:
        return Index(int(at))
    if (item_quoted := found["item_quoted"]) is not None:
        return Item(json.loads(item_quoted))
    return Item(found["item"])


def write(steps: Sequence[Step]) -> str:
    """The path of these steps, from the root."""
    path = ROOT
    for step in steps:
        match step:
            case Key(name):
                path = member(path, name)
            case Item(key):
                path = item(path, key)
            case Index(at):
                path = index(path, at)
    return path
