# ruff: noqa: INP001  a script beside the data it writes, not a module of the package
"""Writes CustomResourceDefinitions of YAML files as one JSON file that Nix reads. Run by the generate.sh of packages.

`crds.py OUT.json FILE.yaml…`: descriptions and creation times are dropped, members sorted, everything else kept. A
number that Nix or JavaScript would read as another one ends it.
"""

import json
import sys
from pathlib import Path
from typing import Any

import yaml

_EXACT = 2**53


def definitions(file: Path) -> list[dict[str, Any]]:
    """The CustomResourceDefinitions of a file, without descriptions."""
    found = yaml.safe_load_all(file.read_text(encoding="utf-8"))
    kept = [bare(entry) for entry in found if entry and entry["kind"] == "CustomResourceDefinition"]
    for entry in kept:
        entry["metadata"].pop("creationTimestamp", None)
        entry.pop("status", None)
    return kept


def bare(value: Any, path: str = "$") -> Any:
    """The value without descriptions (texts under that name; a property may be called so too)."""
    if isinstance(value, float) or (isinstance(value, int) and abs(value) >= _EXACT):
        sys.exit(f"{path}: {value!r} would be read as another number")
    if isinstance(value, dict):
        return {
            key: bare(entry, f"{path}.{key}")
            for key, entry in value.items()
            if not (key == "description" and isinstance(entry, str))
        }
    if isinstance(value, list):
        return [bare(entry, f"{path}[{at}]") for at, entry in enumerate(value)]
    return value


def write(file: Path, value: Any) -> None:
    """One line of JSON."""
    text = json.dumps(bare(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    out, *files = (Path(argument) for argument in sys.argv[1:])
    write(out, [entry for file in sorted(files) for entry in definitions(file)])
