"""schema/quantity-unit: an amount that reads well and is a thousand or a million times off."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.quantities import Amount, Place, find_amount, places
from kixbot.checks.selectors import compact
from kixbot.model.finding import Confidence, Severity

_BYTES = frozenset({"memory", "ephemeral-storage", "storage"})
_SMALLEST = 1024  # bytes; nothing runs or is stored in less, while 512 without a unit is often meant as Mi


def _find(context: Context) -> Iterator[Hit]:
    for place in places(context):
        amount = find_amount(place.value)
        if amount is None or amount.value <= 0:
            continue
        if place.unit in _BYTES and amount.suffix in {"n", "u", "m"}:
            yield _hit(place, "counts in fractions of a byte", f'did you mean "{_number(place)}Mi"?')
        elif place.unit in _BYTES and not amount.suffix and amount.value < _SMALLEST:
            yield _hit(place, f"is {amount.value.normalize():f} bytes", f'did you mean "{_number(place)}Mi"?')
        elif place.unit == "cpu" and _is_bytes(amount):
            cores = f"{amount.value.normalize():f}"
            yield _hit(place, f"is {cores} cores", f'did you mean "{_number(place)}m", or is it memory?')


def _is_bytes(amount: Amount) -> bool:
    return amount.suffix.endswith("i") or amount.suffix in {"k", "M", "G", "T", "P", "E"}


def _number(place: Place) -> str:
    return str(place.value).rstrip("KMGTPEinumk")


def _hit(place: Place, amounts_to: str, hint: str) -> Hit:
    return Hit(
        resource=place.resource,
        path=place.path,
        message=f"{place.resource.ref.plain} asks for {place.unit} {compact(place.value)}, which {amounts_to}",
        hint=hint,
    )


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      resources: {{requests: {{cpu: 100m, memory: {memory}}}}}
"""

CHECK = Check(
    id="schema/quantity-unit",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="a quantity has a unit that its resource hardly means",
    rationale=(
        "`memory: 512m` is half a byte and `cpu: 100Mi` is more than a hundred million cores. Both are valid; the "
        "container is then killed at once, or no node ever fits the pod."
    ),
    example=Example(good=_EXAMPLE.format(memory="512Mi"), bad=_EXAMPLE.format(memory="512m")),
    find=_find,
)
