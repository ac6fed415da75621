"""Writes what `kixbot/checks/schema/` knows of Kubernetes: `builtin.json`, the fields of its kinds, and `zones.txt`.

    python -m tests.parts.generate_schema

Facts come from public package data, fetched by their ordinary clients: the definitions of each minor version from the
Python package `kubernetes-validate` (only its data; its validator is not used), allowed values, defaults and scopes
from the Go module `k8s.io/kubernetes`, time zones from the Python package `tzdata` (all Apache License 2.0). Run once a minor version, not when building.

The document: `versions`, in order; `shapes`, what a field may hold, each once; `types`, by name the fields of an
object, each the number of a shape, or a list of `[first, last, shape]` where it differs between versions (places in
`versions`, both included); `kinds`, by apiVersion and kind `[type, namespaced or null, first, last]`.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

VERSIONS = tuple(f"1.{minor}" for minor in range(28, 38))
DATA = ("kubernetes-validate==1.37.0", "tzdata==2026.6")
MODULES = {"1.34": "v1.34.3", "1.37": "v1.37.2"}
"""Releases of k8s.io/kubernetes whose allowed values and scopes are read; the nearest not older speaks for a version."""
ROOM = Path(__file__).parents[2] / "kixbot/checks/schema"

PRIMITIVES = {
    "api.resource.Quantity": "quantity",
    "util.intstr.IntOrString": "int-or-string",
    "runtime.RawExtension": "object",
    "meta.v1.FieldsV1": "object",
    "meta.v1.Time": "time",
    "meta.v1.MicroTime": "time",
    "apiextensions.v1.JSON": "any",
    "apiextensions.v1.JSONSchemaPropsOrArray": "any",
    "apiextensions.v1.JSONSchemaPropsOrBool": "any",
    "apiextensions.v1.JSONSchemaPropsOrStringArray": "any",
    "apiextensions.v1.CustomResourceSubresourceStatus": "object",
}
"""Definitions that are a value rather than an object with fields."""

Shape = dict[str, Any]
Allowed = Mapping[str, Mapping[str, tuple[str, ...]]]
"""The values that fields of few take, by type and field."""


def fetch(folder: Path) -> tuple[Mapping[str, Any], Mapping[str, Path]]:
    """The definitions of each version, and the folders of the Go module."""
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), *DATA],
        check=True,
    )
    definitions = {}
    for version in VERSIONS:
        (file,) = folder.glob(f"**/v{version}.*-local/_definitions.json")
        definitions[version] = json.loads(file.read_text(encoding="utf-8"))["$defs"]
    modules = {}
    for version, release in MODULES.items():
        done = subprocess.run(
            ["go", "mod", "download", "-json", f"k8s.io/kubernetes@{release}"],
            check=True, capture_output=True, text=True, cwd=folder,
        )  # fmt: skip
        modules[version] = Path(json.loads(done.stdout)["Dir"])
    return definitions, modules


def short(name: str) -> str:
    """`io.k8s.api.core.v1.Pod` to `core.v1.Pod`."""
    return re.sub(r"^.*\.(?:pkg\.apis|pkg|k8s\.api)\.", "", name)


class Tables:
    """Shapes, each once, and the types that use them."""

    def __init__(self, allowed: Mapping[str, Allowed]) -> None:
        self.shapes: list[Shape] = []
        self._numbers: dict[str, int] = {}
        self.allowed = allowed

    def number(self, shape: Shape) -> int:
        """The place of a shape among all of them."""
        key = json.dumps(shape, sort_keys=True)
        if key not in self._numbers:
            self._numbers[key] = len(self.shapes)
            self.shapes.append(shape)
        return self._numbers[key]

    def shape(self, schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Shape:
        """What a property may hold."""
        if reference := schema.get("$ref"):
            name = reference.rpartition("/")[2]
            return self._referred(short(name), definitions[name])
        kind = next((one for one in _types(schema) if one != "null"), "any")
        if kind == "array":
            shape: Shape = {"t": "list", "i": self.number(self.shape(schema["items"], definitions))}
            match schema.get("x-kubernetes-list-type"):
                case "map":
                    shape["k"] = sorted(schema["x-kubernetes-list-map-keys"])
                case "set":
                    shape["s"] = 1
            return shape
        if kind == "object":
            inner = schema.get("additionalProperties")
            if isinstance(inner, dict) and inner:
                return {"t": "map", "i": self.number(self.shape(inner, definitions))}
            return {"t": "object"}
        return {"t": {("string", "byte"): "bytes", ("string", "date-time"): "time", ("integer", "int64"): "long"}.get(
            (kind, schema.get("format", "")), kind
        )}  # fmt: skip

    def _referred(self, name: str, definition: Mapping[str, Any]) -> Shape:
        if name in PRIMITIVES:
            return {"t": PRIMITIVES[name]}
        if "properties" not in definition:
            return {"t": "object" if "object" in _types(definition) else "any"}
        return {"t": "ref", "n": name}

    def fields(self, name: str, definition: Mapping[str, Any], version: str, definitions: Mapping[str, Any]) -> Shape:
        """The fields of a type in one version: name to shape number."""
        required = set(definition.get("required", ()))
        values = self.allowed[nearest(version, name, self.allowed)].get(name, {})
        found = {}
        for field, schema in definition["properties"].items():
            shape = self.shape(schema, definitions)
            if field in required:
                shape["r"] = 1
            if allowed := values.get(field):
                if shape["t"] == "list":
                    shape["i"] = self.number({**self.shapes[shape["i"]], "e": list(allowed)})
                elif shape["t"] == "string":
                    shape["e"] = list(allowed)
            found[field] = self.number(shape)
        return found


def _types(schema: Mapping[str, Any]) -> list[str]:
    kind = schema.get("type", [])
    return kind if isinstance(kind, list) else [kind]


def nearest(version: str, name: str, allowed: Mapping[str, Mapping[str, Any]]) -> str:
    """The release whose allowed values speak for a type of a version: the oldest not before it that has the type."""
    later = [one for one in allowed if VERSIONS.index(one) >= VERSIONS.index(version)]
    return next((one for one in later if name in allowed[one]), later[0])


_FUNCTION = re.compile(r"^func schema_(?P<path>\w+)\(ref ")
_PROPERTY = re.compile(r'^\t{5}"(?P<name>[^"]+)": \{$')
_ENUM = re.compile(r"^\t+Enum: +\[\]interface\{\}\{(?P<values>.*)\},$")


def allowed_values(module: Path) -> Allowed:
    """Allowed values by type and field, out of the generated OpenAPI code, which the published document leaves out."""
    found: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    name = field = ""
    text = (module / "pkg/generated/openapi/zz_generated.openapi.go").read_text(encoding="utf-8")
    for line in text.splitlines():
        if match := _FUNCTION.match(line):
            name = ".".join(match["path"].rsplit("_", 3)[1:])
        elif match := _PROPERTY.match(line):
            field = match["name"]
            found[name]
        elif match := _ENUM.match(line):
            found[name][field] = tuple(json.loads(f"[{match['values']}]"))
    return found


def scopes(modules: Mapping[str, Path]) -> Mapping[tuple[str, str], bool]:
    """By group and kind, whether the kind is namespaced."""
    found = {}
    for module in modules.values():
        folder = module / "api/discovery"
        documents = [*sorted(folder.glob("api__*.json")), *sorted(folder.glob("apis__*__*.json"))]
        for file in documents:
            document = json.loads(file.read_text(encoding="utf-8"))
            group = document["groupVersion"].rpartition("/")[0]
            for resource in document["resources"]:
                if "/" not in resource["name"]:
                    found[group, resource["kind"]] = bool(resource["namespaced"])
    return found


def kinds_of(definitions: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """apiVersion, kind and type of every object that can be applied."""
    for name, definition in definitions.items():
        marks = definition.get("x-kubernetes-group-version-kind", ())
        if len(marks) != 1 or "metadata" not in definition.get("properties", {}) or "items" in definition["properties"]:
            continue
        mark = marks[0]
        version = f"{mark['group']}/{mark['version']}" if mark["group"] else mark["version"]
        yield version, mark["kind"], short(name)


def reachable(types: Mapping[str, Any], shapes: list[Shape], roots: Iterator[str]) -> set[str]:
    """Names of the types that kinds are made of."""
    seen: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for variants in types[name].values():
            for number in [variants] if isinstance(variants, int) else [one[2] for one in variants]:
                shape = shapes[number]
                while "i" in shape:
                    shape = shapes[shape["i"]]
                if "n" in shape:
                    waiting.append(shape["n"])
    return seen


def variants(by_version: Mapping[int, int]) -> int | list[list[int]]:
    """The shapes of one field over the versions, as ranges; one number where all versions agree."""
    ranges: list[list[int]] = []
    for at, number in sorted(by_version.items()):
        if ranges and ranges[-1][1] == at - 1 and ranges[-1][2] == number:
            ranges[-1][1] = at
        else:
            ranges.append([at, at, number])
    whole = len(ranges) == 1 and ranges[0][:2] == [0, len(VERSIONS) - 1]
    return ranges[0][2] if whole else ranges


def generate(definitions: Mapping[str, Any], modules: Mapping[str, Path]) -> Mapping[str, Any]:
    """The document."""
    tables = Tables({version: allowed_values(module) for version, module in modules.items()})
    fields: dict[str, dict[str, dict[int, int]]] = defaultdict(lambda: defaultdict(dict))
    spans: dict[tuple[str, str], list[Any]] = {}
    namespaced = scopes(modules)
    for at, version in enumerate(VERSIONS):
        known = {short(name): definition for name, definition in definitions[version].items()}
        for name, definition in sorted(known.items()):
            if "properties" in definition and name not in PRIMITIVES:
                for field, number in tables.fields(name, definition, version, definitions[version]).items():
                    fields[name][field][at] = number
        for api_version, kind, name in kinds_of(definitions[version]):
            scope = namespaced.get((api_version.rpartition("/")[0], kind))
            span = spans.setdefault((api_version, kind), [name, scope, at, at])
            span[3] = at
            tables_status = fields[name].get("status")
            if tables_status is not None:
                tables_status[at] = tables.number({"t": "any"})  # kix never writes it
    types = {name: {field: variants(found) for field, found in sorted(one.items())} for name, one in fields.items()}
    used = reachable(types, tables.shapes, iter([span[0] for span in spans.values()]))
    kinds: dict[str, dict[str, Any]] = defaultdict(dict)
    for (api_version, kind), span in sorted(spans.items()):
        kinds[api_version][kind] = span
    return {
        "versions": VERSIONS,
        "shapes": tables.shapes,
        "types": {name: types[name] for name in sorted(used)},
        "kinds": kinds,
    }


def main() -> None:
    """Fetch, generate, write."""
    with tempfile.TemporaryDirectory(prefix="kix-schema-") as scratch:
        document = generate(*fetch(Path(scratch)))
        zones = sorted((Path(scratch) / "tzdata/zones").read_text(encoding="utf-8").split())
    lines = [f'{{"versions":{_compact(document["versions"])}', '"shapes":[\n' + _rows(document["shapes"]) + "\n]"]
    lines += [f'"{part}":{{\n{_entries(document[part])}\n}}' for part in ("types", "kinds")]
    target = ROOM / "builtin.json"
    target.write_text(",\n".join(lines) + "}\n", encoding="utf-8")
    (ROOM / "zones.txt").write_text("\n".join(zones) + "\n", encoding="utf-8")
    print(f"{target.name}: {target.stat().st_size} bytes, {len(document['types'])} types; {len(zones)} time zones")


def _compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _rows(values: list[Any]) -> str:
    return ",\n".join(_compact(value) for value in values)


def _entries(values: Mapping[str, Any]) -> str:
    return ",\n".join(f"{_compact(key)}:{_compact(value)}" for key, value in values.items())


if __name__ == "__main__":
    main()
