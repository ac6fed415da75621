"""git on the local forge's bare repository: no hooks, no configuration but the repository's own, no prompts."""

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from kixbot.errors import ForgeError, GitError
from kixbot.forges.interface import InvalidNameError, NotFoundError, StaleHeadError
from kixbot.forges.names import check_path
from kixbot.forges.values import FileChange

SHA = re.compile(r"[0-9a-f]{40}")
NO_COMMIT = "0" * 40
"""What update-ref calls a ref that is not there."""

_QUIET = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
_OPTIONS = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false")


def create(folder: Path, *, branch: str = "main") -> None:
    """An empty bare repository in a new folder; nothing of the machine's templates gets into it."""
    (folder / "objects").mkdir(parents=True)
    (folder / "refs" / "heads").mkdir(parents=True)
    (folder / "HEAD").write_text(f"ref: refs/heads/{branch}\n")


class Repository:
    """One bare repository. Refs are given whole (`refs/heads/main`) or as 40 hex."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "objects").is_dir() or not (folder / "HEAD").is_file():
            raise ForgeError(f"{folder}: no local forge: not a bare git repository", hint=f"git init --bare {folder}")
        self._folder = folder

    def run(self, *arguments: str, data: bytes | None = None, environment: Mapping[str, str] | None = None) -> bytes:
        """git's stdout. Raises ForgeError with the last line git said."""
        result = self._try(*arguments, data=data, environment=environment)
        if result.returncode != 0:
            said = result.stderr.decode(errors="replace").strip().rsplit("\n", 1)[-1]
            raise ForgeError(f"{self._folder}: git {arguments[0]} failed: {said}")
        return result.stdout

    def text(self, *arguments: str) -> str:
        """git's stdout as one stripped line of text."""
        return self.run(*arguments).decode(errors="replace").strip()

    def find(self, ref: str) -> str | None:
        """The commit a ref or SHA names, None when there is none."""
        result = self._try("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        found = result.stdout.decode().strip()
        return found if result.returncode == 0 and SHA.fullmatch(found) else None

    def get(self, ref: str) -> str:
        """The commit a ref or SHA names. Raises NotFoundError."""
        found = self.find(ref)
        if found is None:
            raise NotFoundError(f"{ref.removeprefix('refs/heads/')}: no such commit in the local forge")
        return found

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether one commit is reached from another."""
        return self._try("merge-base", "--is-ancestor", ancestor, descendant).returncode == 0

    def find_blob(self, path: str, commit: str) -> bytes | None:
        """A regular file's bytes, None for anything else."""
        entry = self._find_entry(path, commit)
        if entry is None or entry[0] not in {"100644", "100755"}:
            return None
        return self.run("cat-file", "blob", entry[1])

    def commit(self, *, parent: str, message: str, author: str, files: tuple[FileChange, ...]) -> str:
        """A commit on top of `parent` with the files written; no ref is moved."""
        with tempfile.TemporaryDirectory(prefix="kix-index-") as folder:
            index = {"GIT_INDEX_FILE": str(Path(folder) / "index")}
            self.run("read-tree", "--end-of-options", parent, environment=index)
            for file in files:
                self._stage(file, parent, index)
            tree = self.run("write-tree", environment=index).decode().strip()
        return self.commit_tree(tree, parents=(parent,), message=message, author=author)

    def commit_tree(self, tree: str, *, parents: tuple[str, ...], message: str, author: str) -> str:
        """A commit of a tree."""
        who = {
            f"GIT_{role}_{part}": value
            for role in ("AUTHOR", "COMMITTER")
            for part, value in (("NAME", author), ("EMAIL", f"{author}@localhost"))
        }
        options = [option for parent in parents for option in ("-p", parent)]
        return self.run("commit-tree", tree, *options, data=message.encode(), environment=who).decode().strip()

    def move(self, branch: str, *, new: str, expected: str) -> None:
        """Moves a branch if it is at `expected` (`NO_COMMIT`: not there). Raises StaleHeadError otherwise."""
        ref = f"refs/heads/{branch}"
        if self._try("update-ref", ref, new, expected).returncode != 0:
            now = self.find(ref)
            place = f"at {now[:12]}" if now else "gone"
            raise StaleHeadError(f"{branch}: is {place}, not at the commit that was expected; nothing was written")

    def _stage(self, file: FileChange, parent: str, index: Mapping[str, str]) -> None:
        check_path(file.path)
        entry = self._find_entry(file.path, parent)
        if entry is not None and entry[0] not in {"100644", "100755"}:
            raise InvalidNameError(f"{file.path}: is no regular file in the repository; it is not written over")
        if file.content is None:
            self.run("update-index", "--force-remove", "--", file.path, environment=index)
            return
        blob = self.run("hash-object", "-w", "--stdin", data=file.content).decode().strip()
        mode = entry[0] if entry else "100644"
        self.run("update-index", "--add", "--cacheinfo", f"{mode},{blob},{file.path}", environment=index)

    def _find_entry(self, path: str, commit: str) -> tuple[str, str] | None:
        """(mode, object) of a path in a commit."""
        line = self.run("ls-tree", "-z", commit, "--", path).split(b"\0", 1)[0].decode(errors="replace")
        meta, _, name = line.partition("\t")
        if name != path:
            return None
        mode, _, sha = meta.split(" ", 2)
        return mode, sha

    def _try(
        self, *arguments: str, data: bytes | None = None, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        try:
            return subprocess.run(
                ["git", f"--git-dir={self._folder}", *_OPTIONS, *arguments],
                input=data,
                stdin=subprocess.DEVNULL if data is None else None,
                capture_output=True,
                check=False,
                env={**clean, **_QUIET, **(environment or {})},
            )
        except FileNotFoundError as error:
            raise GitError("git: not found on PATH", hint="install git 2.39 or newer") from error
