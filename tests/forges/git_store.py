"""A bare repository behind a loopback forge: real commits, real compare-and-swap of refs."""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

ZERO = "0" * 40


class GitStore:
    """Plumbing over one bare repository. Raises subprocess.CalledProcessError when git refuses."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "HEAD").exists():
            self.git("init", "--bare", "--initial-branch=main", str(folder), inside=False)

    def git(self, *words: str, data: bytes | None = None, inside: bool = True, index: str | None = None) -> str:
        """Runs git; returns its output without the last newline."""
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "forge",
            "GIT_AUTHOR_EMAIL": "forge@example.invalid",
            "GIT_COMMITTER_NAME": "forge",
            "GIT_COMMITTER_EMAIL": "forge@example.invalid",
        }
        if index:
            environment["GIT_INDEX_FILE"] = index
        where = ["-C", str(self.folder)] if inside else []
        done = subprocess.run(["git", *where, *words], input=data, env=environment, capture_output=True, check=True)
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def find(self, revision: str) -> str | None:
        """The commit of a branch, SHA or full ref."""
        for name in (f"refs/heads/{revision}", revision):
            try:
                return self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
            except subprocess.CalledProcessError:
                continue
        return None

    def parents(self, commit: str) -> list[str]:
        """Parents, first first."""
        return self.git("rev-list", "--parents", "-n1", commit).split()[1:]

    def message(self, commit: str) -> str:
        """The whole message."""
        return self.git("log", "-1", "--format=%B", commit).rstrip("\n")

    def span(self, base: str, head: str) -> list[str]:
        """Commits of `head` that `base` has not, oldest first."""
        return self.git("rev-list", "--reverse", "--topo-order", f"{base}..{head}").split()

    def history(self, commit: str) -> list[str]:
        """All ancestors and the commit itself, newest first."""
        return self.git("rev-list", commit).split()

    def changed(self, base: str, head: str) -> list[str]:
        """Paths that differ."""
        return self.git("diff", "--name-only", "-z", base, head).split("\0")[:-1]

    def merge_base(self, one: str, other: str) -> str | None:
        """The merge base, None without one."""
        try:
            return self.git("merge-base", one, other)
        except subprocess.CalledProcessError:
            return None

    def commit(self, parent: str | None, message: str, files: Sequence[tuple[str, bytes | None]]) -> str:
        """A commit with files written or removed on top of `parent`; moves no branch."""
        with tempfile.TemporaryDirectory() as folder:
            index = f"{folder}/index"
            if parent:
                self.git("read-tree", parent, index=index)
            for path, content in files:
                if content is None:
                    gone = f"0 {ZERO}\t{path}\n".encode()
                    self.git("update-index", "--index-info", index=index, data=gone)
                else:
                    blob = self.git("hash-object", "-w", "--stdin", data=content)
                    self.git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", index=index)
            tree = self.git("write-tree", index=index)
        return self.git("commit-tree", tree, *(["-p", parent] if parent else []), data=message.encode())

    def merge(self, first: str, second: str, message: str) -> str:
        """A merge commit with the tree of a clean three-way merge; moves no branch."""
        tree = self.git("merge-tree", "--write-tree", first, second).splitlines()[0]
        return self.git("commit-tree", tree, "-p", first, "-p", second, data=message.encode())

    def move(self, branch: str, new: str, old: str | None) -> bool:
        """Compare-and-swap of a branch (`old` None: whatever it is); False when it is elsewhere."""
        try:
            self.git("update-ref", f"refs/heads/{branch}", new, *([] if old is None else [old]))
        except subprocess.CalledProcessError:
            return False
        return True

    def read(self, commit: str, path: str) -> tuple[str, str, bytes] | None:
        """(mode, blob, bytes) of a path; bytes are empty for folders."""
        line = self.git("ls-tree", "-z", commit, "--", path).rstrip("\0")
        if not line:
            return None
        meta, _, _ = line.partition("\t")
        mode, kind, blob = meta.split()
        if kind != "blob":
            return mode, blob, b""
        done = subprocess.run(
            ["git", "-C", str(self.folder), "cat-file", "blob", blob], capture_output=True, check=True
        )
        return mode, blob, done.stdout
