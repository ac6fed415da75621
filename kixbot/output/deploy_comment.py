"""The result of a deploy as a comment on the pull requests it came from."""

import re

from kixbot import __version__
from kixbot.forges.values import Limits
from kixbot.output.budget import measure_of
from kixbot.output.comment_parts import link
from kixbot.output.deploy_text import waves_text
from kixbot.output.deploy_values import Outcome
from kixbot.output.markdown import render
from kixbot.output.marker import Marker, write_marker
from kixbot.output.markup import Text, clip, code, count, fence
from kixbot.output.receipt_text import receipt_text
from kixbot.output.review_values import RunInfo

_VERDICTS = {
    "deployed": "🚀 {cluster} runs {commit}",
    "unchanged": "✅ {cluster} runs this already",
    "failed": "❌ {cluster}: the deploy failed",
    "refused": "❌ {cluster}: the deploy was refused",
    "waits": "⏳ {cluster} waits",
    "superseded": "⏭ {cluster}: a newer commit is deployed instead",
}
_PLAIN = re.compile(r"(?!.*(::|www\.))[0-9A-Za-z][0-9A-Za-z ,.;:()-]*")
_LINES = 40
_WIDTH = 300


def render_outcome(outcome: Outcome, *, run: RunInfo, limits: Limits, marker: Marker | None) -> str:
    """The comment, within the forge's limit: receipt and waves are left out where they would not fit."""
    measure = measure_of(limits.unit)
    text = ""
    for keep in (2, 1, 0):
        text = _text(outcome, run=run, marker=marker, keep=keep)
        if measure(text) <= limits.comment:
            break
    return text


def _text(outcome: Outcome, *, run: RunInfo, marker: Marker | None, keep: int) -> str:
    verdict = _VERDICTS[outcome.state].format(cluster=code(outcome.cluster, 63), commit=code(outcome.commit[:12]))
    parts = [f"kix {__version__}", code(outcome.activation) if outcome.activation else "", link(run.url)]
    if outcome.receipt is not None:
        parts[1] = f"receipt {code(outcome.receipt.id)}"
    waves = waves_text(outcome.waves)
    return render(
        "deploy",
        marker=write_marker(marker) if marker else None,
        verdict=Text(verdict),
        sentence=Text(f"{code(outcome.sentence, _WIDTH)}") if outcome.is_failure else Text(_plain(outcome.sentence)),
        rows=outcome.results[:_LINES],
        report=_block((*outcome.lines, *([f"  hint: {outcome.hint}"] if outcome.hint else []))),
        notes=[Text(_plain(note)) for note in outcome.notes[:_LINES]],
        paths=_block(outcome.paths),
        waves=fence(_cut(waves.split("\n"))) if waves and keep > 1 else None,
        receipt=fence(receipt_text(outcome.receipt)) if outcome.receipt is not None and keep else None,
        footer=Text(" · ".join(part for part in parts if part)),
    )


def _block(lines: tuple[str, ...]) -> Text | None:
    return fence(_cut(list(lines))) if lines else None


def _cut(lines: list[str]) -> str:
    shown = [clip(line, _WIDTH) for line in lines[:_LINES]]
    if len(lines) > _LINES:
        shown.append(f"… {count(len(lines) - _LINES, 'more line')}")
    return "\n".join(shown)


def _plain(text: str) -> str:
    """A sentence of ours that holds only numbers and plain names; anything else becomes code."""
    return text if _PLAIN.fullmatch(text) else code(text, _WIDTH)
