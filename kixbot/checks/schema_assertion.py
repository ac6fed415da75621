"""schema/assertion: what a definition, a package or a source says must hold, and does not."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    for assertion in context.build.evaluated.assertions:
        yield Hit(
            resource=context.by_ref.get(assertion.ref) if assertion.ref else None,
            message=assertion.message,
            hint=assertion.hint or "change the definition so that it holds",
            location=assertion.origin,
            package=assertion.package,
        )


CHECK = Check(
    id="schema/assertion",
    severity=Severity.ERROR,
    title="an assertion does not hold",
    rationale=(
        "Packages state what they need of their options, and kix what it needs of a definition: an override that "
        "matches nothing, a value that build did not return, an object without a name. All of them are collected and "
        "shown together; evaluation has failed."
    ),
    example=Example(
        good='assertions = config: [ { assertion = config.replicas > 0; message = "web needs a replica"; } ];\n'
        "# with config.replicas = 3\n",
        bad='assertions = config: [ { assertion = config.replicas > 0; message = "web needs a replica"; } ];\n'
        "# with config.replicas = 0\n",
        language="nix",
    ),
    find=_find,
    stage="eval",
)
