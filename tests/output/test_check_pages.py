"""What `kix explain` prints, and that the committed pages are the generated ones."""

from pathlib import Path

from kixbot.checks.registry import CHECKS, find_check
from kixbot.output.check_pages import explained, pages

PAGES = Path(__file__).parents[2] / "docs/checks"


def test_a_rule_explained() -> None:
    check = find_check("gov/image-no-tag")
    assert check is not None
    assert explained(check) == (
        "gov/image-no-tag: an image has no tag, or the tag latest, and no digest\n"
        "\n"
        "warning; governance; proven: the build alone shows it\n"
        "\n"
        "Without a tag the registry serves `latest`, which moves: two pods of one workload may run different code, a "
        "rollback brings nothing back, and a receipt cannot say what was deployed.\n"
        "\n"
        "Bad:\n"
        "  apiVersion: v1\n"
        "  kind: Pod\n"
        "  metadata: {name: web, namespace: shop}\n"
        "  spec:\n"
        '    containers: [{name: web, image: "registry.example:5000/acme/web"}]\n'
        "\n"
        "Good:\n"
        "  apiVersion: v1\n"
        "  kind: Pod\n"
        "  metadata: {name: web, namespace: shop}\n"
        "  spec:\n"
        '    containers: [{name: web, image: "registry.example:5000/acme/web:1.5.0"}]\n'
    )


def test_every_rule_has_a_page_and_the_committed_pages_are_fresh() -> None:
    generated = pages()
    assert len(generated) == len(CHECKS) + 1
    committed = {file.name: file.read_text(encoding="utf-8") for file in PAGES.glob("*.md")}
    assert committed == generated, "run `make docs` and review the change"


def test_pages_are_short() -> None:
    assert max(len(line) for text in pages().values() for line in text.splitlines()) < 600
