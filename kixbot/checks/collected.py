"""Rules that speak before any object is judged: what a source says of itself. Here are their pages."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.finding import Severity

UNBUILT = "schema/source"


def _find(_: Context) -> Iterator[Hit]:
    """Nothing: whoever reads the source tells."""
    return iter(())


CHECKS: tuple[Check, ...] = (
    Check(
        id=UNBUILT,
        severity=Severity.ERROR,
        title="a source that does not build",
        rationale=(
            "Broken YAML or Nix, a manifest without kind or name, a name or label that YAML reads as a number, a "
            "folder without manifests: nothing can be judged before it is mended. The check ends with 3 and says that "
            "the scorecard has not run."
        ),
        example=Example(
            good='metadata: {name: web, labels: {debug: "true"}}\n',
            bad="metadata: {name: web, labels: {debug: true}}   # YAML reads a boolean: quote it\n",
            language="nix",
        ),
        find=_find,
        stage="eval",
        on=(),
    ),
    Check(
        id="ref/port",
        severity=Severity.ERROR,
        title="a definition asks for a port that a resource does not declare",
        rationale=(
            "`out.port NAME` gives the number of a declared port. A name that is not declared cannot give one; the "
            "definition is evaluated to its end all the same, so that everything else is judged with it."
        ),
        example=Example(
            good='url = "http://${web.out.fqdn}:${web.out.port "http"}";\n',
            bad='url = "http://${web.out.fqdn}:${web.out.port "htpp"}";   # web declares: http\n',
            language="nix",
        ),
        find=_find,
        on=(),
    ),
)
