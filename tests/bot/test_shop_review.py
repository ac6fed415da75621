"""The example, reviewed as a whole: its comment is a golden file, wherever it is made."""

from collections.abc import Callable
from pathlib import Path

from tests.bot.shop_example import GOLDEN, changed, files, normalised
from tests.bot.shop_world import Shop


def test_the_comment_on_the_examples_change(tmp_path: Path, golden: Callable[[str, str], None]) -> None:
    shop = Shop(tmp_path)
    shop.world.commit("main", {"staging/web.yaml": None, "production/web.yaml": None, **files()})
    base = shop.world.forge.find_branch("main") or ""
    head = shop.world.commit("change", changed())
    number = shop.world.open("change")
    run = shop.review(number)
    assert run.code == 0, run.log
    (comment,) = shop.comments(number)
    golden(GOLDEN, normalised(comment, head, base))
