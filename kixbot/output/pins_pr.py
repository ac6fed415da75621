"""The words around pins that moved: pull request, commit message, log lines. Registry texts are shown as code."""

from dataclasses import dataclass

from kixbot import __version__
from kixbot.model.pin import PinChange
from kixbot.output.markdown import render
from kixbot.output.markup import Text, clip, code, count, fence, version
from kixbot.output.terminal import escape

_MOST = 100
_SUBJECT = 60
_DIGEST = 19
"""`sha256:` and 12 hex digits: enough to tell two apart in a table; pins.json has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PinsReport:
    """What moved, in which clusters, and what the check says against it."""

    changes: tuple[PinChange, ...]
    clusters: tuple[str, ...]
    problems: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """A line a pin, for the log."""
        return [
            f"{change.key}: {_moved(change.old.tag, change.new.tag)} "
            f"({change.old.digest[:_DIGEST]} to {change.new.digest[:_DIGEST]})"
            for change in self.changes
        ]


def title(report: PinsReport) -> str:
    """The pull request's title, which is also the commit's subject."""
    if len(report.changes) == 1:
        change = report.changes[0]
        text = f"Move pin {change.key} to {change.new.tag}"
        return clip(escape(text), _SUBJECT)
    return f"Move {count(len(report.changes), 'pin')}"


def commit_message(report: PinsReport) -> str:
    """Subject, then a line a pin."""
    return title(report) + "\n\n" + "\n".join(escape(line) for line in report.lines()[:_MOST]) + "\n"


def render_body(report: PinsReport, *, reason: str | None) -> str:
    """The pull request's text, with the evidence for each pin."""
    return render(
        "pins_pr",
        reason=reason,
        clusters=report.clusters,
        pins=[_row(change) for change in report.changes[:_MOST]],
        more=max(len(report.changes) - _MOST, 0),
        problems=fence("\n".join(clip(line, 300) for line in report.problems[:20])) if report.problems else None,
        footer=Text(f"kix {__version__}"),
    )


def _row(change: PinChange) -> dict[str, object]:
    old, new = change.old, change.new
    tags = f"{version(old.tag)} → {version(new.tag)}" if old.tag != new.tag else version(new.tag)
    return {
        "key": change.key,
        "image": new.image,
        "tag": Text(tags),
        "digest": Text(f"{code(old.digest[:_DIGEST])} → {code(new.digest[:_DIGEST])}"),
        "created": _known(change.created),
        "revision": _known(change.revision),
        "platforms": _known(", ".join(change.platforms)),
    }


def _known(text: str | None) -> Text:
    return code(text, 80) if text else Text("not told")


def _moved(old: str, new: str) -> str:
    return f"{old} to {new}" if old != new else f"{new}, another digest"
