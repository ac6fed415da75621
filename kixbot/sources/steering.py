"""The two annotations that speak to kix: paths left to other managers, and findings to leave alone."""

from collections.abc import Callable

from kixbot.errors import SourceError
from kixbot.identity import CEDE, IGNORE
from kixbot.model.build import Suppression
from kixbot.model.path import parse
from kixbot.model.resource import Body, Resource


def ceded(body: Body, error: Callable[[str, str], SourceError]) -> tuple[str, ...]:
    """The field paths of `kix.run/cede`, one a line, sorted. Raises `error(message, path)` for what is no path."""
    paths = _lines(body, CEDE)
    for path in paths:
        try:
            parse(path)
        except ValueError as err:
            raise error(f"{CEDE}: {err}", _place(CEDE)) from err
    return tuple(sorted(set(paths)))


def suppressions(body: Body, resource: Resource) -> tuple[Suppression, ...]:
    """The entries of `kix.run/ignore`, one a line: `RULE: REASON`. Raises SourceError where the reason is missing."""
    found = []
    for line in _lines(body, IGNORE):
        rule, colon, reason = line.partition(":")
        if not colon or not reason.strip() or not rule.strip():
            place = resource.place(_place(IGNORE))
            raise SourceError(
                f"{resource.ref.id}: {IGNORE}: {line[:80]!r} gives no reason",
                hint="write RULE: REASON, one a line",
                file=place.file if place else None,
                line=place.line if place else None,
            )
        found.append(Suppression(rule=rule.strip(), resource=resource.ref.id, reason=reason.strip()))
    return tuple(found)


def _lines(body: Body, key: str) -> list[str]:
    text = (body["metadata"].get("annotations") or {}).get(key, "")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _place(annotation: str) -> str:
    return f'$.metadata.annotations."{annotation}"'
