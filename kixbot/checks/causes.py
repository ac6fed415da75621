"""One cause, one error: which findings follow from another one, and vanish with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kixbot.model.finding import Finding, Severity
from kixbot.model.resource import Ref

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
_ADMISSION = "api/pod-security"
_MISPLACED = "schema/unknown-field"
_HYGIENE = ("sec/", "rel/", "gov/")


def fold(findings: Sequence[Finding], causes: Mapping[str, str]) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Part findings into roots and followers, which carry the fingerprint of their root; both keep their order.

    `causes` names by fingerprint what is missing or wrong in the same words for every finding that comes from it.
    A finding follows only from one that weighs at least as much. Followed are: what names the same missing object;
    what a refused level of Pod Security says again; and, of one object, what is missing because its field is
    misplaced or misspelt.
    """
    roots = dict[str, str]()
    first = dict[str, Finding]()
    by_object = dict[Ref, list[Finding]]()
    for finding in findings:
        if finding.ref and finding.rule in {_ADMISSION, _MISPLACED}:
            by_object.setdefault(finding.ref, []).append(finding)
    for finding in findings:
        cause = causes.get(finding.fingerprint)
        if cause is not None:
            root = first.setdefault(cause, finding)
            if root is not finding and _RANK[root.severity] <= _RANK[finding.severity]:
                roots[finding.fingerprint] = root.fingerprint
        elif finding.ref and finding.rule.startswith(_HYGIENE):
            found = _root_of(finding, by_object.get(finding.ref, ()))
            if found and _RANK[found.severity] <= _RANK[finding.severity]:
                roots[finding.fingerprint] = found.fingerprint
    kept = tuple(finding for finding in findings if finding.fingerprint not in roots)
    followers = (finding for finding in findings if finding.fingerprint in roots)
    return kept, tuple(replace(finding, causes=(roots[finding.fingerprint],)) for finding in followers)


def _root_of(finding: Finding, candidates: Iterable[Finding]) -> Finding | None:
    for root in candidates:
        if root.rule == _ADMISSION:
            fact = finding.message.removeprefix(f"{finding.ref.plain} " if finding.ref else "")
            if f"  {fact}" in root.message.split("\n"):
                return root
        elif root.path and _field(root.path) and _field(root.path) == _field(finding.path):
            return root
    return None


def _field(path: str) -> str:
    """The last field of a path, empty where it ends in a list item."""
    return "" if path.endswith("]") else path.rpartition(".")[2]
