"""Findings that the definition or kix.toml accepts, each with a reason, and what has become of those acceptances."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from kixbot.model.build import Suppression
from kixbot.model.finding import Finding, Suppressed


@dataclass(frozen=True, slots=True, kw_only=True)
class Sifted:
    """Findings that stay, those that are silenced, and the entries that silenced nothing."""

    kept: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    unused: tuple[Suppression, ...]

    @property
    def suppressed_fingerprints(self) -> frozenset[str]:
        """Fingerprints of what is silenced: still there, so not fixed."""
        return frozenset(item.finding.fingerprint for item in self.suppressed)


def is_expired(entry: Suppression, today: date | None) -> bool:
    """Whether the day in `until` has passed; on that day itself the entry still holds."""
    until = find_day(entry.until)
    return today is not None and until is not None and until < today


def find_day(text: str | None) -> date | None:
    """The day of an `until`, None where there is none or it is no YYYY-MM-DD."""
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        return None


def sift(findings: Iterable[Finding], entries: Sequence[Suppression], today: date | None) -> Sifted:
    """Part findings by `scorecard.ignore`. Expired entries silence nothing and do not count as unused."""
    holding = [entry for entry in entries if not is_expired(entry, today)]
    used: set[Suppression] = set()
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    for finding in findings:
        matching = [entry for entry in holding if covers(entry, finding)]
        used.update(matching)
        if matching:
            suppressed.append(Suppressed(finding=finding, reason=matching[0].reason))
        else:
            kept.append(finding)
    unused = tuple(dict.fromkeys(entry for entry in holding if entry not in used))
    return Sifted(kept=tuple(kept), suppressed=tuple(suppressed), unused=unused)


def covers(entry: Suppression, finding: Finding) -> bool:
    """Whether an entry speaks of a finding: rule and resource as written, `*` and `?` standing for any text.

    A resource may be written in its long or its short form (`Cluster.postgresql.cnpg.io/db@data`, `Cluster/db@data`).
    """
    return fnmatchcase(finding.rule, entry.rule) and any(fnmatchcase(name, entry.resource) for name in _names(finding))


def _names(finding: Finding) -> Iterator[str]:
    if finding.ref is None:
        yield ""
        return
    yield finding.ref.id
    yield finding.ref.short
