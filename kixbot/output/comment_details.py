"""The details of a review: each changed resource as a coloured diff, whole or not at all."""

import difflib
import json
from dataclasses import dataclass
from typing import Any, assert_never

import yaml

from kixbot.model.plan import (
    Added,
    Changed,
    FieldChange,
    PackageChange,
    Removed,
    Reordered,
    ResourceChange,
    SecretChanged,
)
from kixbot.model.resource import Body
from kixbot.output.markup import code, count, fence
from kixbot.output.ref_names import short_names
from kixbot.output.review_values import ClusterReview, RiskKind

_LONGEST_VALUE = 200
_LONGEST_HUNK = 4000
"""Lines of a multi-line string that are compared line by line; beyond, only their number is told."""
_HASH_BUMPS = 20
_LAST = 99


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """One resource's text. `rank`: lower comes first when room is short. `package` says in which fold it stands."""

    cluster: str
    package: PackageChange
    rank: int
    text: str


def list_details(cluster: ClusterReview) -> list[Detail]:
    """All details of a cluster in the order they are read: packages of the plan, resources of a package."""
    if cluster.plan is None:
        return []
    ranks = {risk.ref: int(risk.kind) for risk in sorted(cluster.risks, reverse=True) if risk.ref is not None}
    name = short_names(change.ref for package in cluster.plan.packages for change in package.resources)
    details = []
    for package in cluster.plan.packages:
        for change in package.resources:
            if change.reason == "content":
                text = f"{code(name(change.ref))} {change.action}\n\n{fence(_diff(change, cluster), 'diff')}\n"
                rank = ranks.get(change.ref, int(RiskKind.WAVES) + 1)
                details.append(Detail(cluster=cluster.name, package=package, rank=rank, text=text))
        bumps = [change.ref for change in package.resources if change.reason == "dependency"]
        if bumps:
            details.append(
                Detail(cluster=cluster.name, package=package, rank=_LAST, text=_bumps([name(one) for one in bumps]))
            )
    return details


def _bumps(names: list[str]) -> str:
    shown = ", ".join(code(name) for name in names[:_HASH_BUMPS])
    more = f" and {len(names) - _HASH_BUMPS} more" if len(names) > _HASH_BUMPS else ""
    return f"Via dependency: {shown}{more}\n"


def _diff(change: ResourceChange, cluster: ClusterReview) -> str:
    if change.action == "added" and change.ref in cluster.added:
        return "\n".join(f"+ {line}" for line in manifest_lines(cluster.added[change.ref]))
    lines = [line for field in change.changes for line in field_lines(field)]
    if change.note:
        lines.append(f"! {change.note}")
    if not lines:
        sign = {"added": "+", "removed": "-"}.get(change.action, "!")
        lines.append(f"{sign} {change.ref.short}")
    return "\n".join(lines)


def field_lines(change: FieldChange) -> list[str]:
    """One field as lines of a diff: where, old, new."""
    head = f"@@ {change.path} @@"
    match change:
        case Added():
            return [head, *_value("+", change.new)]
        case Removed():
            return [head, *_value("-", change.old)]
        case Changed():
            if _is_block(change.old) and _is_block(change.new):
                return [head, *_hunk(change.old, change.new)]
            return [head, *_value("-", change.old), *_value("+", change.new)]
        case Reordered():
            return [head, f"- order [{','.join(change.old)}]", f"+ order [{','.join(change.new)}]"]
        case SecretChanged():
            return [head, f"! secret value {change.action}"]
    assert_never(change)


def _is_block(value: object) -> bool:
    return isinstance(value, str) and "\n" in value.rstrip("\n")


def _value(sign: str, value: Any) -> list[str]:
    if _is_block(value):
        lines = value.split("\n")
        if len(lines) > _LONGEST_HUNK:
            return [f"{sign} ({count(len(lines), 'line')})"]
        return [f"{sign} {line}" for line in lines]
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    if len(text) > _LONGEST_VALUE:
        text = f"{text[:_LONGEST_VALUE]}… ({count(len(text), 'character')})"
    return [f"{sign} {text}"]


def _hunk(old: str, new: str) -> list[str]:
    before, after = old.split("\n"), new.split("\n")
    if len(before) + len(after) > _LONGEST_HUNK:
        return [f"- ({count(len(before), 'line')})", f"+ ({count(len(after), 'line')})"]
    hunks = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    return [line if line.startswith("@@") else f"{line[:1]} {line[1:]}" for line in hunks]


class _Dumper(yaml.SafeDumper):
    """YAML as people write it: several lines as a block."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """A string, in literal style where it has several lines."""
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  the signature is PyYAML's
        """Never anchors: two equal values are two values."""
        return True


_Dumper.add_representer(str, _Dumper.represent_text)


def manifest_lines(body: Body) -> list[str]:
    """A manifest as YAML, its keys in the order they were written."""
    text = yaml.dump(_plain(body), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)
    return [line[:1000] for line in text.rstrip("\n").split("\n")]


def _plain(value: Any) -> Any:
    if isinstance(value, dict) or hasattr(value, "items"):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
