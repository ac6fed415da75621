"""The plan from one build to another, grouped by package, and the hash of what a reviewer saw."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kixbot.diff.groups import Group, groups_of, versions_of
from kixbot.diff.tree import diff
from kixbot.graph.waves import install_key, is_package_instance, waves
from kixbot.identity import canonical, without_values
from kixbot.model.build import Build
from kixbot.model.path import member
from kixbot.model.plan import (
    Added,
    Changed,
    FieldChange,
    PackageChange,
    Plan,
    Removed,
    Reordered,
    ResourceChange,
    SecretChanged,
)
from kixbot.model.resource import Ref, Resource

CEDE_PATH = "ownership.cede"
"""Where a change of the fields that are left to others is shown: it is no field of the object itself."""


def plan(old: Build | None, new: Build) -> Plan:
    """What changes from `old` (None: nothing was there) to `new`. Says nothing of a live cluster."""
    changes = tuple(_changes(old, new))
    packages, unchanged = pack(changes, old=old, new=new)
    before = old.activation.name if old is not None and old.activation is not None else None
    after = new.activation.name if new.activation is not None else None
    secret = any(isinstance(field, SecretChanged) for change in changes for field in change.changes)
    return Plan(
        cluster=new.cluster.name or None,
        old_activation=before,
        new_activation=after,
        packages=packages,
        unchanged=unchanged,
        same_name_secrets=before is not None and before == after and secret,
        waves=waves(new),
        hash=reviewed_hash(changes, old=old, new=new),
    )


def pack(
    changes: Iterable[ResourceChange],
    *,
    old: Build | None,
    new: Build | None,
    recorded: Mapping[Ref, str | None] | None = None,
) -> tuple[tuple[PackageChange, ...], int]:
    """Groups changes by package: the packages that change, sorted, and how many do not.

    What a resource belongs to is said by `new`, for removed ones by `old`. `recorded` stands in for `old` where only
    a record is at hand: the package id of each object that was there.
    """
    now = groups_of(new)
    known = {ref: _recorded(ref, package) for ref, package in (recorded or {}).items()} | groups_of(old)
    then = {ref: now.get(ref, group) for ref, group in known.items()}
    members: dict[Group, list[ResourceChange]] = {}
    for change in changes:
        group = now.get(change.ref) or then.get(change.ref) or _recorded(change.ref, None)
        members.setdefault(group, []).append(change)
    before, after = set(then.values()), set(now.values())
    versions = versions_of(old), versions_of(new)
    packages = [
        PackageChange(
            id=group.id,
            namespace=group.namespace,
            name=group.name,
            action="changed" if group in before and group in after else "added" if group in after else "removed",
            old_version=versions[0].get(group),
            new_version=versions[1].get(group),
            resources=tuple(sorted(found, key=_reading_order)),
        )
        for group, found in members.items()
    ]
    return tuple(sorted(packages, key=_package_order)), len((before | after) - members.keys())


def field_changes(old: Resource, new: Resource) -> tuple[FieldChange, ...]:
    """The content changes of one resource, ceded paths and generated Secret keys among them."""
    found = list(diff(old.manifest, new.manifest))
    known = {change.path for change in found}
    gone, come = set(old.generated) - set(new.generated), set(new.generated) - set(old.generated)
    generated = [SecretChanged(path=_generated_path(key), action="removed") for key in sorted(gone)]
    generated += [SecretChanged(path=_generated_path(key), action="added") for key in sorted(come)]
    found += [change for change in generated if change.path not in known]
    before, after = sorted(set(old.cede)), sorted(set(new.cede))
    if before != after:
        found.append(Changed(path=CEDE_PATH, old=before, new=after))
    return tuple(found)


def _generated_path(key: str) -> str:
    """`data.password` as a path; a Secret's key may itself hold dots."""
    for within in ("data", "stringData"):
        if key.startswith(f"{within}."):
            return member("$.data", key.removeprefix(f"{within}."))
    return member("$.data", key)


def reviewed_hash(changes: Sequence[ResourceChange], *, old: Build | None, new: Build) -> str:
    """What a reviewer approved, in 64 hex digits: id, path, old and new of every content change.

    Neither identities nor texts count, so that a deploy of the same change gives the same hash. Secret values do not:
    the hash is public.
    """
    then = {} if old is None else old.by_ref
    now = new.by_ref
    rows: list[list[Any]] = []
    for change in changes:
        if change.reason != "content" or is_package_instance(change.ref):
            continue
        if change.action == "added":
            rows.append([change.ref.id, "$", {"new": without_values(now[change.ref].manifest)}])
        elif change.action == "removed":
            rows.append([change.ref.id, "$", {"old": without_values(then[change.ref].manifest)}])
        rows += [[change.ref.id, field.path, _hashed(field)] for field in change.changes]
    return hashlib.sha256(canonical(sorted(rows, key=canonical)).encode()).hexdigest()


def _changes(old: Build | None, new: Build) -> Iterable[ResourceChange]:
    then = {} if old is None else old.by_ref
    now = new.by_ref
    for ref in sorted(then.keys() | now.keys()):
        if ref not in then:
            yield ResourceChange(ref=ref, action="added")
        elif ref not in now:
            yield ResourceChange(ref=ref, action="removed")
        else:
            fields = field_changes(then[ref], now[ref])
            moved = _path(old, ref) != _path(new, ref)
            if fields and not is_package_instance(ref):
                yield ResourceChange(ref=ref, action="changed", changes=fields)
            elif fields or moved:
                yield ResourceChange(ref=ref, action="changed", reason="dependency")


def _path(build: Build | None, ref: Ref) -> str | None:
    identity = build.identities.get(ref) if build is not None else None
    return identity.path if identity is not None else None


def _recorded(ref: Ref, package: str | None) -> Group:
    if package is None:
        return Group(ref.namespace or "(cluster)", "(manifests)")
    namespace, _, name = package.partition("/")
    return Group(namespace, name)


def _reading_order(change: ResourceChange) -> tuple[bool, tuple[int, str, str, str, str]]:
    return change.reason == "dependency", install_key(change.ref)


def _package_order(package: PackageChange) -> tuple[str, bool, str]:
    only_moved = all(change.reason == "dependency" for change in package.resources)
    return package.namespace, only_moved, package.name


def _hashed(field: FieldChange) -> dict[str, Any]:
    match field:
        case Added():
            return {"new": field.new}
        case Removed():
            return {"old": field.old}
        case Changed():
            return {"old": field.old, "new": field.new}
        case Reordered():
            return {"order": [list(field.old), list(field.new)]}
        case SecretChanged():
            return {"secret": field.action}
