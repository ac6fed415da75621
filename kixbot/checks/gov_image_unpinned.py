"""gov/image-unpinned: a package's default image, used because no pin names a digest."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    seen = set()
    for use in context.build.evaluated.pins_used:
        if not use.pinned and (use.key, use.reference) not in seen:
            seen.add((use.key, use.reference))
            yield Hit(
                message=f"image {use.key} is {use.reference}, the default of its package, which no pin fixes",
                hint=f"kix pin add {use.reference} --key {use.key}",
            )


CHECK = Check(
    id="gov/image-unpinned",
    severity=Severity.WARNING,
    title="a package's image is used without a pin",
    rationale=(
        "A package names a default `repository:tag` so that it works at once. A tag can be moved by whoever may push; "
        "a pin in pins.json fixes the digest, and `kix pin update` moves it in a reviewed change."
    ),
    example=Example(
        good='pins = kix.readPins ./pins.json;   # and pins.json has an entry "web" with a digest\n',
        bad='image = pins.image "web" "ghcr.io/acme/web:1.5.0";   # and pins.json has no entry "web"\n',
        language="nix",
    ),
    find=_find,
    on=(),
)
