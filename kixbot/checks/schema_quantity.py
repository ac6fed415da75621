"""schema/quantity: an amount of CPU, memory or storage that Kubernetes cannot read."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.quantities import FACTORS, find_amount, places
from kixbot.checks.selectors import compact
from kixbot.model.finding import Severity

# What people write for what Kubernetes reads.
_MEANT = {
    "kb": "k", "kib": "Ki", "ki": "Ki", "mb": "M", "mib": "Mi", "mi": "Mi", "gb": "G", "gib": "Gi", "gi": "Gi",
    "tb": "T", "tib": "Ti", "ti": "Ti", "g": "G", "t": "T", "b": "",
}  # fmt: skip


def _find(context: Context) -> Iterator[Hit]:
    for place in places(context):
        amount = find_amount(place.value)
        written = compact(place.value)[:80]
        if amount is None:
            yield Hit(
                resource=place.resource,
                path=place.path,
                message=f"{place.resource.ref.plain} has {written} where a quantity belongs",
                hint=_hint(place.value),
            )
        elif amount.value < 0:
            yield Hit(
                resource=place.resource,
                path=place.path,
                message=f"{place.resource.ref.plain} has the negative quantity {written}",
                hint="write an amount of 0 or more",
            )


def _hint(value: object) -> str:
    if isinstance(value, str):
        text = value.replace(" ", "")
        number = text.rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
        suffix = _MEANT.get(text[len(number) :].lower())
        if number and suffix is not None and find_amount(number + suffix):
            return f'did you mean "{number}{suffix}"?'
    return (
        f"a number with one of the suffixes {' '.join(suffix for suffix in FACTORS if suffix)}, such as 500m or 1.5Gi"
    )


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      resources: {{requests: {{cpu: 0.5, memory: {memory}}}}}
"""

CHECK = Check(
    id="schema/quantity",
    severity=Severity.ERROR,
    title="a quantity cannot be read",
    rationale=(
        "CPU, memory and storage are quantities: a decimal number with a binary suffix (Ki, Mi, Gi, …), a decimal one "
        "(m, k, M, G, …) or an exponent. The API server refuses anything else, `128mb` for one, and amounts below 0."
    ),
    example=Example(good=_EXAMPLE.format(memory="128Mi"), bad=_EXAMPLE.format(memory="128mb")),
    find=_find,
)
