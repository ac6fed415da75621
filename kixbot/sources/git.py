"""The only module that runs git, and never inside the checkout: in a bare repository of its own.

The checkout's objects are borrowed as alternates, its refs are copied as plain hashes, its `shallow` file is copied.
Its configuration, hooks, attributes, replacements and owner have no say: each was seen to break or betray a run.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kixbot.errors import GitError, SourceError, UsageError
from kixbot.sources import checkout as checkouts
from kixbot.sources.checkout import first_line

SHA = re.compile(r"[0-9a-f]{40}\Z")
_SECONDS = 300
_KEEP = ("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "https_proxy", "HTTPS_PROXY", "http_proxy", "no_proxy",
         "NO_PROXY")  # fmt: skip
_COPIED_REFS = ("refs/heads", "refs/tags", "refs/remotes")
_MAX_REFS = 100_000
_MAX_LISTING = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a tree: mode as git writes it (`100644`, `120000`), object, path in bytes."""

    mode: str
    sha: str
    path: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """One HTTP header sent to one address only, such as `Authorization`. Never part of a command line."""

    url: str
    value: str


class Repository:
    """A bare repository of kix's own that borrows the objects of a checkout."""

    def __init__(self, folder: Path, checkout: Path | None = None) -> None:
        """Make it in the private `folder`. `checkout` is the folder that holds `.git`. Raises GitError."""
        self.path = folder / "own.git"
        self._home = folder
        run(["init", "--quiet", "--bare", "--template=", str(self.path)], home=folder)
        if checkout is not None:
            self._borrow(checkouts.git_folder(checkout))

    def _borrow(self, source: Path) -> None:
        common = checkouts.common_folder(source)
        objects = common / "objects"
        if "\n" in str(objects):
            raise GitError(f"{source}: a line break in the path of a repository")
        (self.path / "objects" / "info").mkdir(parents=True, exist_ok=True)
        (self.path / "objects" / "info" / "alternates").write_text(f"{objects}\n")
        for name in ("shallow", "packed-refs"):
            if (common / name).is_file():
                shutil.copyfile(common / name, self.path / name)
        if (common / "info" / "exclude").is_file():
            (self.path / "info").mkdir(exist_ok=True)
            shutil.copyfile(common / "info" / "exclude", self.path / "info" / "exclude")
        for name in _COPIED_REFS:
            _copy_refs(common, self.path, name)
        head = first_line(source / "HEAD")
        if SHA.match(head) or re.fullmatch(r"ref: refs/[\w./@+-]+", head):
            (self.path / "HEAD").write_text(f"{head}\n")

    def git(self, *arguments: str, env: Mapping[str, str] | None = None, stdin: int = subprocess.DEVNULL) -> bytes:
        """Run one git command here and return its output. Raises GitError with git's first line."""
        return run([f"--git-dir={self.path}", *arguments], home=self._home, env=env, stdin=stdin)

    def find(self, ref: str) -> str | None:
        """The commit a ref names as 40 hex digits, None when there is none."""
        try:
            found = self.git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
        except GitError:
            return None
        sha = found.decode(errors="replace").strip()
        return sha if SHA.match(sha) else None

    def resolve(self, ref: str) -> str:
        """The commit a ref names. Raises UsageError when there is none, GitError when its history is cut off."""
        found = self.find(ref)
        if found is None and SHA.match(ref):
            raise GitError(f"commit {ref} is not in this clone", hint="fetch it: git fetch origin " + ref)
        if found is None:
            raise UsageError(f"{ref!r} names no commit", hint="name a branch, a tag or a commit; git fetch brings more")
        return found

    def branch(self) -> str | None:
        """The branch that is checked out, None when it is a bare commit."""
        head = first_line(self.path / "HEAD")
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None

    def entries(self, commit: str, most: int) -> tuple[Entry, ...]:
        """All files, links and submodules of a commit's tree, in git's order. Raises SourceError for more than `most`.

        Read as it comes: a few kilobytes of trees that list each other can stand for a billion files.
        """
        arguments = [f"--git-dir={self.path}", "ls-tree", "-r", "-z", "--full-tree", commit]
        found: list[Entry] = []
        with _start(arguments, self._home, subprocess.DEVNULL) as process:
            try:
                for row in _rows(process):
                    if len(found) == most:
                        raise SourceError(f"the tree has more than {most:,} files")
                    facts, _, path = row.partition(b"\t")
                    mode, _, sha = facts.decode("ascii").split(" ")
                    found.append(Entry(mode=mode, sha=sha, path=path))
                _, err = process.communicate()
            finally:
                process.kill()
        if process.returncode != 0:
            raise GitError(f"git ls-tree: {_said(err)}", hint=_hint(err))
        return tuple(found)

    def blobs(self, shas: Sequence[str], limit: int) -> Iterator[bytes]:
        """The contents of blobs, in order. Raises GitError for a missing one, SourceError past `limit` bytes in all."""
        wanted = self._home / "wanted"
        wanted.write_text("".join(f"{sha}\n" for sha in shas))
        with wanted.open("rb") as stdin, _start(self._batch(), self._home, stdin.fileno()) as process:
            assert process.stdout is not None
            try:
                for sha in shas:
                    size = _size_of(process.stdout.readline(), sha)
                    limit -= size
                    if limit < 0:
                        raise SourceError(
                            "the tree takes more than 64 MiB",
                            hint="keep large files out of the repository that holds the definition",
                        )
                    yield process.stdout.read(size)
                    process.stdout.read(1)
            finally:
                process.kill()

    def _batch(self) -> list[str]:
        return [f"--git-dir={self.path}", "cat-file", "--batch"]

    def show(self, commit: str, path: str) -> bytes | None:
        """The content of one regular file of a commit, None when there is none. At most 32 MiB."""
        listing = self.git("ls-tree", "-z", "--full-tree", commit, "--", path)
        facts = listing.partition(b"\t")[0].decode("ascii", errors="replace").split(" ")
        if len(facts) != 3 or not facts[0].startswith("100"):
            return None
        return next(self.blobs([facts[2]], 32 * 2**20))

    def fetch(self, url: str, sha: str, *, header: Header | None = None) -> None:
        """Bring one commit and its tree from a server. Raises GitError; the header stands in no message."""
        if not SHA.match(sha):
            raise UsageError(f"{sha[:80]!r} is no commit of 40 hex digits")
        env = {"GIT_ALLOW_PROTOCOL": "https:http:file", "GIT_CONFIG_COUNT": "0"}
        if header is not None:
            env |= {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"http.{header.url}.extraHeader",
                "GIT_CONFIG_VALUE_0": header.value,
            }
        self.git(
            "-c", "fetch.fsckObjects=true", "-c", "http.followRedirects=false", "-c", "credential.helper=",
            "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-gc",
            "--depth=1", "--", url, sha, env=env,
        )  # fmt: skip


def run(
    arguments: Sequence[str], *, home: Path, env: Mapping[str, str] | None = None, stdin: int = subprocess.DEVNULL
) -> bytes:
    """Run git with nothing of the user's or the machine's configuration. Raises GitError."""
    with _start(arguments, home, stdin, env) as process:
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired as late:
            process.kill()
            raise GitError(f"git {_verb(arguments)} took longer than {_SECONDS} seconds") from late
    if process.returncode != 0:
        raise GitError(f"git {_verb(arguments)}: {_said(err)}", hint=_hint(err))
    return out


def has_git() -> bool:
    """Whether git is installed."""
    return shutil.which("git") is not None


def remote_of(checkout: Path, home: Path) -> str | None:
    """The address of remote `origin` without credentials, None when there is none."""
    config = checkouts.common_folder(checkouts.git_folder(checkout)) / "config"
    if not config.is_file():
        return None
    try:
        found = run(["config", "--file", str(config), "--no-includes", "--get", "remote.origin.url"], home=home)
    except GitError:
        return None
    return checkouts.without_credentials(found.decode(errors="replace").strip()) or None


def _start(
    arguments: Sequence[str], home: Path, stdin: int, env: Mapping[str, str] | None = None
) -> "subprocess.Popen[bytes]":
    git = shutil.which("git")
    if git is None:
        raise GitError("git is not installed", hint="install git, for example: apt-get install git")
    command = [git, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *arguments]
    return subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=home,
        env={**_environment(home), **(env or {})},
        start_new_session=True,
    )


def _environment(home: Path) -> dict[str, str]:
    kept = {key: os.environ[key] for key in _KEEP if key in os.environ}
    return {
        **kept,
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(home),
        "LC_ALL": "C",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
    }


def _copy_refs(source: Path, target: Path, name: str) -> None:
    """Copy loose refs that hold a hash; symbolic ones and anything else are left behind."""
    count = 0
    for folder, _, files in os.walk(source / name):
        for file in files:
            count += 1
            path = Path(folder) / file
            value = first_line(path)
            if count > _MAX_REFS or path.is_symlink() or not SHA.match(value):
                continue
            place = target / path.relative_to(source)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(f"{value}\n")


def _rows(process: "subprocess.Popen[bytes]") -> Iterator[bytes]:
    """What a process prints, in rows that end with NUL. Raises SourceError past 64 MiB."""
    assert process.stdout is not None
    rest, total = b"", 0
    while chunk := process.stdout.read(2**20):
        total += len(chunk)
        if total > _MAX_LISTING:
            raise SourceError(f"the tree's paths take more than {_MAX_LISTING // 2**20} MiB")
        *rows, rest = (rest + chunk).split(b"\0")
        yield from rows


def _size_of(header: bytes, sha: str) -> int:
    fields = header.split()
    if len(fields) != 3 or fields[1] != b"blob":
        raise GitError(f"object {sha} is not in this clone", hint="fetch without filters: no partial clone")
    return int(fields[2])


def _verb(arguments: Sequence[str]) -> str:
    plain = [word for at, word in enumerate(arguments) if not word.startswith("-") and arguments[at - 1] != "-c"]
    return plain[0] if plain else "command"


def _said(err: bytes) -> str:
    lines = [line for line in err.decode(errors="replace").splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0] if lines else "")
    return re.sub(r"//[^/@\s]*@", "//", first.removeprefix("fatal: ").removeprefix("error: "))[:300] or "failed"


def _hint(err: bytes) -> str | None:
    if b"promisor" in err or b"bad object" in err or b"unable to read" in err or b"not a tree object" in err:
        return "fetch without filters: no partial clone"
    return None
