"""Writes the generated pages, or says which are stale: `python -m docs.generate [--check]`.

Generated are `docs/cli.md` (the help of every command), `docs/checks/` (one page a rule), and each block of README.md
that stands under a line `<!-- run: COMMAND -->`: the command is run for real in a scratch copy of the repository's
examples and its output stands in the fence.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"(<!-- run: (?P<command>.+?) -->\n```[a-z]*\n)(?P<output>.*?)(```\n)", re.DOTALL)


def cli_page() -> Mapping[str, str]:
    """`docs/cli.md`: the help texts, as a terminal of 100 columns shows them."""
    from kixbot.cli.main import COMMANDS  # noqa: PLC0415  the generator is also run for one page

    parts = ["# Commands\n\nGenerated from the commands' own help.\n"]
    for words in ([], *([row.name] for row in COMMANDS)):
        shown = " ".join(["kix", *words])
        parts.append(f"\n## {shown}\n\n```\n{_run(['kix', *words, '--help'], ROOT)}```\n")
    return {"docs/cli.md": "".join(parts)}


def check_pages() -> Mapping[str, str]:
    """`docs/checks/<group>-<name>.md`, one a rule, and their index."""
    from kixbot.output.check_pages import pages  # noqa: PLC0415

    return {f"docs/checks/{name}": text for name, text in pages().items()}


def readme() -> Mapping[str, str]:
    """README.md with every `<!-- run: … -->` block filled by running its command."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory(prefix="kix-docs-") as scratch:
        folder = Path(scratch) / "shop"
        shutil.copytree(ROOT / "examples" / "shop", folder, symlinks=True)
        shutil.copytree(ROOT / "examples" / "mistakes", folder / "plain")
        _pull_request(folder)

        def fill(match: re.Match[str]) -> str:
            return f"{match[1]}{_run(shlex.split(match['command']), folder)}{match[4]}"

        return {"README.md": _BLOCK.sub(fill, text)}


GENERATORS: tuple[Callable[[], Mapping[str, str]], ...] = (cli_page, check_pages, readme)


def _pull_request(folder: Path) -> None:
    """Makes the example a repository whose working tree holds the change that the end-to-end test merges."""
    steps = (
        ["git", "init", "--quiet", "--initial-branch=main"],
        ["git", "add", "--all"],
        ["git", "-c", "user.name=shop", "-c", "user.email=shop@example.invalid", "commit", "--quiet", "--message=Shop"],
        ["git", "apply", str(ROOT / "tests" / "e2e" / "shop-change.patch")],
    )
    for step in steps:
        subprocess.run(step, cwd=folder, check=True)


def _run(words: list[str], folder: Path) -> str:
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(folder),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "LANG": "C.UTF-8",
        "KIX_EMBEDDED": str(folder.parent / "cluster"),
    }
    module = {"kix": "kixbot", "kixbot": "kixbot.bot"}.get(words[0])
    command = [sys.executable, "-m", module, *words[1:]] if module else words
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    output = done.stdout if done.stdout.strip() else done.stderr
    return output.rstrip("\n") + "\n"


def main(arguments: list[str]) -> int:
    """Write the pages; with `--check` change nothing and return 1 when one is stale."""
    stale = []
    for generator in GENERATORS:
        for name, text in generator().items():
            file = ROOT / name
            if file.is_file() and file.read_text(encoding="utf-8") == text:
                continue
            stale.append(name)
            if "--check" not in arguments:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"{'stale' if '--check' in arguments else 'written'}: {name}")
    if stale and "--check" in arguments:
        print("  hint: run `make docs` and review the change")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
