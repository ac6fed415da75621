"""A small picture of what changes and in which waves, as Mermaid. Larger ones are left out: forges do not draw them."""

from kixbot.model.plan import Wave
from kixbot.model.resource import Ref
from kixbot.output.markup import Text, fence
from kixbot.output.review_values import ClusterReview

_MOST_NODES = 30


def find_graph(cluster: ClusterReview, most: int) -> Text | None:
    """The graph of a cluster's changed resources; None when it shows nothing or has over `most` characters."""
    if cluster.plan is None:
        return None
    changed = {
        change.ref
        for package in cluster.plan.packages
        for change in package.resources
        if change.reason == "content" and change.action != "removed" and change.ref.kind != "PackageInstance"
    }
    waves = [wave for wave in cluster.plan.waves if changed.intersection(wave.refs)]
    if not 2 <= len(changed) <= _MOST_NODES or not waves:
        return None
    text = "\n".join(_lines(waves, changed, cluster.edges))
    return fence(text, "mermaid") if len(text) <= most else None


def _lines(waves: list[Wave], changed: set[Ref], edges: tuple[tuple[Ref, Ref], ...]) -> list[str]:
    numbers: dict[Ref, int] = {}
    lines = ["flowchart LR"]
    for wave in waves:
        lines.append(f'  subgraph w{wave.number}["wave {wave.number}"]')
        for ref in wave.refs:
            if ref in changed:
                numbers[ref] = len(numbers) + 1
                lines.append(f'    n{numbers[ref]}["{_label(ref.short)}"]')
        lines.append("  end")
    arrows = {(numbers[source], numbers[target]) for source, target in edges if source in numbers and target in numbers}
    return [*lines, *(f"  n{source} --> n{target}" for source, target in sorted(arrows))]


def _label(text: str) -> str:
    # Mermaid's own entities: `#` and the code point. All but what a label can hold safely is written so.
    safe = "/.-_"
    return "".join(
        letter if letter.isascii() and (letter.isalnum() or letter in safe) else f"#{ord(letter)};" for letter in text
    )
