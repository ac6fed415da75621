"""The shop example, copied and edited: what most tests of definitions build."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from kixbot.model.build import Build, SourceInfo
from kixbot.model.resource import Resource
from kixbot.ops.build import assemble
from kixbot.sources import document, nix
from kixbot.sources.tree import Tree

EXAMPLE = Path(__file__).parents[2] / "examples" / "shop"
CHANGE = Path(__file__).parents[1] / "e2e" / "shop-change.patch"
DEFINITION = "clusters/shop.nix"


def copied(into: Path, edits: Mapping[str, Mapping[str, str]] | None = None) -> Path:
    """The example in a folder of its own; `edits` are file → text to find → text to put there instead."""
    root = into / "shop"
    shutil.copytree(EXAMPLE, root)
    for name, changes in (edits or {}).items():
        file = root / name
        text = file.read_text(encoding="utf-8")
        for old, new in changes.items():
            assert text.count(old) == 1, f"{name} holds {old!r} {text.count(old)} times"
            text = text.replace(old, new)
        file.write_text(text, encoding="utf-8")
    return root


def tree_of(root: Path) -> Tree:
    """All files below a folder, but for what Python leaves there."""
    found = (file for file in root.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return Tree(root=root, files=tuple(sorted(file.relative_to(root).as_posix() for file in found)))


def built(root: Path, file: str = DEFINITION) -> Build:
    """The build of the definition in a folder."""
    tree = tree_of(root)
    found = nix.evaluate(tree, file)
    source = SourceInfo(kind="nix", path=file)
    return assemble(document.decode(found.value, tree=tree, tree_name=found.tree_name, source=source))


def resource(build: Build, ref_id: str) -> Resource:
    """The one resource of this id."""
    (found,) = (resource for resource in build.resources if resource.ref.id == ref_id)
    return found
