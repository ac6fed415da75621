"""gov/unused-suppression and gov/expired-suppression: acceptances that no longer say anything."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.suppression import find_day, is_expired
from kixbot.model.build import Suppression
from kixbot.model.finding import Severity


def _find_unused(context: Context) -> Iterator[Hit]:
    for entry in context.unused_suppressions:
        yield Hit(message=f"scorecard.ignore holds {_shown(entry)}, which silences nothing", hint="remove the entry")


def _find_expired(context: Context) -> Iterator[Hit]:
    for entry in context.build.evaluated.scorecard.ignore:
        if entry.until and find_day(entry.until) is None:
            yield Hit(
                message=f"scorecard.ignore holds {_shown(entry)} until {entry.until!r}, which is no day",
                hint="write until as YYYY-MM-DD",
            )
        elif is_expired(entry, context.today):
            yield Hit(
                message=f"scorecard.ignore held {_shown(entry)} until {entry.until}; it no longer silences anything",
                hint="mend what was accepted, or move the date with a new reason",
            )


def _shown(entry: Suppression) -> str:
    return f"{entry.rule} on {entry.resource}"


_NIX = """\
scorecard.ignore = [ {{
  rule = "gov/image-no-tag"; resource = "Deployment/web@shop"; reason = "vendor image"; {until}
}} ];
"""

UNUSED = Check(
    id="gov/unused-suppression",
    severity=Severity.WARNING,
    title="a suppression silences nothing",
    rationale="It hides the next finding of that rule on that resource, for a reason that was given for another one.",
    example=Example(
        good=_NIX.format(until="") + "# and Deployment/web@shop uses an image without a tag\n",
        bad=_NIX.format(until="") + "# and Deployment/web@shop uses an image with a tag\n",
        language="nix",
    ),
    find=_find_unused,
    stage="suppressions",
    on=(),
)

EXPIRED = Check(
    id="gov/expired-suppression",
    severity=Severity.WARNING,
    title="a suppression has expired",
    rationale="The finding was accepted until a day that has passed. It is shown again, and so is the old acceptance.",
    example=Example(
        good=_NIX.format(until='until = "2999-12-31";'), bad=_NIX.format(until='until = "2020-12-31";'), language="nix"
    ),
    find=_find_expired,
    stage="suppressions",
    on=(),
)
