"""Writes the generated pages, or says which are stale: `python -m docs.generate [--check]`.

Generated are `docs/cli.md` (the help of every command), `docs/settings.md` (the keys of kix.toml, from their schema),
`docs/checks/` (one page a rule), and each block of README.md
that stands under a line `<!-- run: COMMAND -->`: the command is run for real in a scratch copy of the repository's
examples and its output stands in the fence.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
_SETTINGS_HEAD = """# kix.toml

Generated from [its JSON Schema](schemas/kix.toml.json). The same may stand in `pyproject.toml` below `[tool.kix]`.
Without a file, `clusters/NAME.nix` and `kix.nix` are the clusters. A key that is not here is refused. Durations are
`90s`, `10m`, `2h`, `3d`; paths are relative to the file.

Of a pull request's kix.toml only the names and paths of clusters count: see
[whose settings count](bot.md#whose-settings-count).

```toml
[clusters.shop]
path = "clusters/shop.nix"
context = "prod"           # of the kubeconfig; needed to deploy

[check]
fail = ["sec/*"]
ignore = [{ rule = "rel/one-replica", resource = "Deployment/web@shop", reason = "a demo", until = "2027-01-31" }]
```
"""
_SHAPES = {
    "boolean": "`true`, `false`",
    "duration": "duration",
    "inside": "path",
    "integer": "number",
    "name": "name",
    "namespace": "namespace",
    "object": "table",
    "string": "text",
    "suppression": "table",
    "text": "text",
    "texts": "list of texts",
}
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


def settings_page() -> Mapping[str, str]:
    """`docs/settings.md`: a table of keys for each table of kix.toml."""
    schema = json.loads((ROOT / "docs/schemas/kix.toml.json").read_text(encoding="utf-8"))
    tables = {"clusters.NAME": schema["$defs"]["cluster"]}
    tables |= {name: schema["properties"][name] for name in ("check", "pins", "bot", "registries")}
    parts = [_SETTINGS_HEAD]
    for name, table in tables.items():
        rows = "".join(_row(key, value, table.get("required", ())) for key, value in table["properties"].items())
        parts.append(f"\n## [{name}]\n\n| key | values | default | meaning |\n|---|---|---|---|\n{rows}")
    return {"docs/settings.md": "".join(parts)}


def _row(key: str, value: Mapping[str, Any], required: Iterable[str]) -> str:
    default = f"`{json.dumps(value['default'])}`" if "default" in value else "required" if key in required else ""
    return f"| `{key}` | {_values(value)} | {default} | {value.get('description', '')} |\n"


def _values(value: Mapping[str, Any]) -> str:
    """What may stand there, in a few words: one of several, a list, or the name of a shape."""
    if "enum" in value:
        return ", ".join(f"`{one}`" for one in value["enum"] if isinstance(one, str))
    if value.get("type") == "array":
        words = _values(value["items"])
        return f"list of {words}" if "enum" in value["items"] else f"list of {words}s"
    if "$ref" in value:
        return _SHAPES[value["$ref"].rpartition("/")[2]]
    return _SHAPES[value["type"]]


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


GENERATORS: tuple[Callable[[], Mapping[str, str]], ...] = (cli_page, settings_page, check_pages, readme)


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
