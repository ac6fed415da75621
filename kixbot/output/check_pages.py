"""What `kix explain RULE` prints and what `docs/checks/` holds: one page a rule, and their index."""

from collections.abc import Mapping

from kixbot.checks.base import Check
from kixbot.checks.registry import CHECKS
from kixbot.model.finding import Confidence

_WIDEST = 120  # characters of an example's line; a longer one is there for its size only
_CONFIDENCE = {
    Confidence.PROVEN: "proven: the build alone shows it",
    Confidence.LIKELY: "likely: it may be meant",
    Confidence.HINT: "a hint",
}


def explained(check: Check) -> str:
    """A rule for a terminal: what it is, why, a bad and a good example."""
    parts = [
        f"{check.id}: {check.title}",
        f"{_level(check)}; {check.category}; {_CONFIDENCE[check.confidence]}",
        check.rationale,
        f"Bad:\n{_indented(check.example.bad)}",
        f"Good:\n{_indented(check.example.good)}",
    ]
    return "\n\n".join(parts) + "\n"


def pages() -> Mapping[str, str]:
    """Every page by file name: `ref-secret-key.md` and so on, and `README.md`, the index."""
    return {"README.md": _index(), **{_file(check): _page(check) for check in CHECKS}}


def _page(check: Check) -> str:
    language = check.example.language
    return "\n".join(
        (
            f"# {check.id}",
            "",
            f"{check.title[0].upper()}{check.title[1:]}.",
            "",
            "| Severity | Category | Confidence |",
            "|---|---|---|",
            f"| {_level(check)} | {check.category} | {_CONFIDENCE[check.confidence]} |",
            "",
            check.rationale,
            "",
            "## Bad",
            "",
            f"```{language}",
            _cut(check.example.bad),
            "```",
            "",
            "## Good",
            "",
            f"```{language}",
            _cut(check.example.good),
            "```",
            "",
        )
    )


def _index() -> str:
    lines = [
        "# Rules",
        "",
        "`kix explain RULE` prints a page.",
        "",
        "| Rule | Severity | What it finds |",
        "|---|---|---|",
    ]
    lines += [f"| [{check.id}]({_file(check)}) | {_level(check)} | {check.title} |" for check in CHECKS]
    return "\n".join(lines) + "\n"


def _file(check: Check) -> str:
    return f"{check.id.replace('/', '-')}.md"


def _level(check: Check) -> str:
    return "fails evaluation" if check.stage == "eval" else check.severity.value


def _cut(example: str) -> str:
    lines = example.rstrip("\n").split("\n")
    return "\n".join(line if len(line) <= _WIDEST else f"{line[:60]}… ({len(line):,} characters)" for line in lines)


def _indented(example: str) -> str:
    return "\n".join(f"  {line}" if line else "" for line in _cut(example).split("\n"))
