"""Archives are byte for byte what Nix itself writes."""

import hashlib
import io
import subprocess
from pathlib import Path

import pytest

from kixbot.errors import SourceError
from kixbot.sources import nar, tree


def test_an_archive_is_the_one_that_nix_dumps(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    for name in ("a", "a-b", "a.b/c", "B", "é/𝄞", "with space", "deep/er/est/x", "z" * 200):
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(name.encode() * 3)
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("deep/er/../er")
    (root / "empty").write_bytes(b"")
    dumped = subprocess.run(["nix-store", "--dump", str(root)], check=True, capture_output=True).stdout
    out = io.BytesIO()
    found = nar.export(root, tree.working_tree(root).files, "tree", out)
    assert dumped in out.getvalue()
    digest = hashlib.sha256(dumped).digest()
    assert found.store_path == nar.source_path(digest, "tree")
    assert found.name.endswith("-tree")


def test_what_is_neither_file_nor_link_is_in_no_archive(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(SourceError) as caught:
        nar.export(tmp_path, ["folder"], "tree", io.BytesIO())
    assert caught.value.message == "folder: neither a file nor a symbolic link"
