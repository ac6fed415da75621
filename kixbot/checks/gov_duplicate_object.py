"""api/duplicate-object and gov/duplicate-object: one id, declared more than once."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Location, Resource


def _find_differing(context: Context) -> Iterator[Hit]:
    for first, second in context.build.duplicates:
        if not _is_equal(first, second):
            yield _hit(first, second, "twice, and the two differ", "keep one of the two, or give one another name")


def _find_equal(context: Context) -> Iterator[Hit]:
    for first, second in context.build.duplicates:
        if _is_equal(first, second):
            yield _hit(first, second, "twice, in equal words; it counts as one object", "remove one of the two")


def _is_equal(first: Resource, second: Resource) -> bool:
    return (first.manifest, first.cede) == (second.manifest, second.cede)


def _hit(first: Resource, second: Resource, fact: str, hint: str) -> Hit:
    other = _place(first.place())
    return Hit(
        resource=second,
        message=f"{second.ref.plain} is declared {fact}" + (f" (first: {other})" if other else ""),
        hint=hint,
        related=(Related(ref=first.ref, note="first declared here", location=first.place()),),
    )


def _place(location: Location | None) -> str:
    if location is None:
        return ""
    return f"{location.file}:{location.line}" if location.line else location.file


_EXAMPLE = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: web, namespace: shop}}
data: {{workers: "4"}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: shop}}
data: {{workers: "{workers}"}}
"""

DIFFERING = Check(
    id="api/duplicate-object",
    severity=Severity.ERROR,
    title="one object is declared twice, differently",
    rationale="Whichever is applied last would win, and every deploy would change the object back and forth.",
    example=Example(good=_EXAMPLE.format(name="api", workers=8), bad=_EXAMPLE.format(name="web", workers=8)),
    find=_find_differing,
    stage="eval",
)

EQUAL = Check(
    id="gov/duplicate-object",
    severity=Severity.INFO,
    title="one object is declared twice, in equal words",
    rationale="Two equal declarations are one object. The next change to only one of them would be an error.",
    example=Example(good=_EXAMPLE.format(name="api", workers=4), bad=_EXAMPLE.format(name="web", workers=4)),
    find=_find_equal,
    on=(),
)
