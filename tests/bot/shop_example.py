"""examples/shop and the change that is reviewed everywhere: web 1.4.2 → 1.5.0, valkey added, grafana 1 → 2."""

import re

from kixbot.bot.demo_scene import EDITS
from tests.parts.paths import PROJECT

SHOP = PROJECT / "examples" / "shop"
GOLDEN = "shop_comment.md"


def files() -> dict[str, bytes | None]:
    """The example as it is."""
    return {str(path.relative_to(SHOP)): path.read_bytes() for path in sorted(SHOP.rglob("*")) if path.is_file()}


def changed() -> dict[str, bytes | None]:
    """The files of the change."""
    found: dict[str, bytes | None] = {}
    for name, old, new in EDITS:
        text = (SHOP / name).read_text()
        assert text.count(old) == 1
        found[name] = text.replace(old, new).encode()
    return found


def normalised(comment: str, head: str, base: str) -> str:
    """The comment without what differs from run to run: commits, and the run's address."""
    text = comment.replace(head, "HEAD").replace(head[:12], "HEAD").replace(base[:12], "BASE")
    text = re.sub(r'"attempt":\d+', '"attempt":1', re.sub(r'"run":"\d*"', '"run":""', text))
    return re.sub(r" · \[run\]\([^)]*\)", "", text)
