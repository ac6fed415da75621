"""A receipt as people read it."""

from kixbot.model.receipt import Receipt
from kixbot.output.terminal import escape

DIGEST_CHARACTERS = 8
_WIDTH = 14


def receipt_text(receipt: Receipt, *, whole_digests: bool = False) -> str:
    """The head, then IMAGES, then what else is worth knowing. Digests are cut unless `whole_digests`."""
    head = [
        ("cluster", receipt.cluster),
        ("deployed", receipt.time[:16].replace("T", " ")),
        ("commit", (receipt.commit or "none")[:7] if receipt.commit else "none"),
        ("working tree", _tree(receipt.clean)),
        ("kix", receipt.tools.get("kix", "unknown")),
        ("arch", f"{receipt.arch} / {receipt.os}"),
    ]
    lines = [f"{name:<{_WIDTH}}{escape(value)}" for name, value in head]
    if receipt.images:
        lines += ["", "IMAGES"]
        for image in receipt.images:
            lines.append(escape(image.reference))
            lines.append(
                f"  @{_digest(image.digest, whole_digests=whole_digests)}" if image.digest else "  (no digest)"
            )
    for title, values in (("FORCED", receipt.forced), ("ADOPTED", receipt.adopted), ("WARNINGS", receipt.warnings)):
        if values:
            lines += ["", title, *(escape(value) for value in values)]
    return "\n".join(lines)


def _tree(clean: bool | None) -> str:  # noqa: FBT001  one value
    return "unknown" if clean is None else "clean" if clean else "dirty"


def _digest(digest: str, *, whole_digests: bool) -> str:
    algorithm, _, value = digest.partition(":")
    if whole_digests or len(value) <= DIGEST_CHARACTERS:
        return escape(digest)
    return f"{escape(algorithm)}:{escape(value[:DIGEST_CHARACTERS])}…"
