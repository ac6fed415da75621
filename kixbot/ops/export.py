"""A build as files: a document each, stable bytes, and only files that an export made are ever replaced or removed."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from kixbot.errors import RefusedError, SourceError, UsageError
from kixbot.graph.waves import is_package_instance
from kixbot.model.build import Build
from kixbot.model.resource import Ref
from kixbot.ops.desired import body_of, has_plain_values

INDEX: Final = "kix-export.json"
"""Names the files an export made, so that the next one removes those that are no longer of the build."""

Writer = Literal["yaml", "json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A file that is not what the build says."""

    path: str
    what: Literal["missing", "differs", "left over"]


def exported(resources: Mapping[str, str]) -> dict[str, str]:
    """The files with their index, by path below the folder."""
    index = json.dumps({"schema": 1, "files": sorted(resources)}, indent=2) + "\n"
    return {**resources, INDEX: index}


def resources_of(build: Build, *, allow_plain_secrets: bool) -> Iterator[tuple[Ref, Mapping[str, object]]]:
    """What an export holds: every manifest but what only kix reads. Raises SourceError, RefusedError for Secret values.

    Secrets whose values are made at apply are left out: there is nothing to write.
    """
    if build.activation is None:
        raise SourceError(f"cluster {build.cluster.name}: the build has faults", hint="kix check lists them")
    for resource in build.resources:
        if is_package_instance(resource.ref) or resource.generated:
            continue
        if has_plain_values(resource) and not allow_plain_secrets:
            raise RefusedError(
                f"{resource.ref.plain}: an export would write its values in plain text",
                hint="declare it with scope.mkSecret or as external, or set allow-plain-secrets = true",
            )
        yield resource.ref, body_of(resource)


def file_of(ref: Ref, form: Writer, *, ambiguous: bool) -> str:
    """`shop/deployment-web.yaml`; the group in the name where two groups have that kind."""
    folder = ref.namespace or "_cluster"
    kind = f"{ref.kind}.{ref.group}" if ambiguous and ref.group else ref.kind
    name = ref.name.replace("/", "_").replace(":", "_")
    return f"{folder}/{kind.lower()}-{name}.{form}"


def ambiguous_kinds(build: Build) -> frozenset[str]:
    """Kinds that occur in more than one group."""
    groups: dict[str, set[str]] = {}
    for resource in build.resources:
        groups.setdefault(resource.ref.kind, set()).add(resource.ref.group)
    return frozenset(kind for kind, found in groups.items() if len(found) > 1)


def compare(folder: Path, wanted: Mapping[str, str]) -> tuple[Difference, ...]:
    """What stands in the folder against what an export would write. Files that no export made are not looked at."""
    found: list[Difference] = []
    for path, text in sorted(wanted.items()):
        there = _read(folder / path)
        if there is None:
            found.append(Difference(path=path, what="missing"))
        elif there != text:
            found.append(Difference(path=path, what="differs"))
    before = sorted(_made_before(folder) - wanted.keys())
    found += [Difference(path=path, what="left over") for path in before if _read(folder / path) is not None]
    return tuple(found)


def write(folder: Path, wanted: Mapping[str, str]) -> tuple[Difference, ...]:
    """Write what differs and remove what an earlier export made and this one does not; gives what was done.

    Raises UsageError where a file stands in the way that no export made.
    """
    before = _made_before(folder)
    differences = compare(folder, wanted)
    for one in differences:
        if one.what == "differs" and one.path not in before and one.path != INDEX:
            raise UsageError(f"{folder / one.path}: is there and was not made by kix export", hint="move it away")
    for one in differences:
        file = folder / one.path
        if file.parent.is_symlink():
            raise UsageError(f"{file.parent}: is a link, and an export writes into folders alone")
        if one.what == "left over":
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.new")
        new.write_text(wanted[one.path], encoding="utf-8")
        new.replace(file)
    return differences


def _read(file: Path) -> str | None:
    try:
        return None if file.is_symlink() else file.read_bytes().decode("utf-8", "replace")
    except OSError:
        return None


def _made_before(folder: Path) -> set[str]:
    """The files of the index; names that lead out of the folder are none."""
    text = _read(folder / INDEX)
    if text is None:
        return set()
    try:
        names = json.loads(text)["files"]
        return {name for name in names if isinstance(name, str) and _is_inside(name)}
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{folder / INDEX}: no index of an export", hint="remove it") from error


def _is_inside(name: str) -> bool:
    parts = name.split("/")
    return len(parts) == 2 and all(part not in ("", ".", "..") for part in parts)
