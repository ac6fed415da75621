"""Repositories as hostile as git objects allow: trees written by hand."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

NAME = {"GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@a", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@a"}
ENVIRONMENT = {**NAME, "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": "/nonexistent"}


def git(folder: Path, *arguments: str, data: bytes | None = None) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, input=data, env=ENVIRONMENT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().strip()


def repository(folder: Path, files: Mapping[str, str]) -> Path:
    """A repository with one commit of these files on `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    commit(folder, files)
    return folder


def commit(folder: Path, files: Mapping[str, str]) -> str:
    for name, text in files.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", "x")
    return git(folder, "rev-parse", "HEAD")


def blob(folder: Path, text: str) -> str:
    return git(folder, "hash-object", "-w", "--stdin", data=text.encode())


def tree(folder: Path, entries: Sequence[tuple[str, str, str]]) -> str:
    """A tree object of (mode, name, object), as it stands, without git's own checks."""
    body = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(sha) for mode, name, sha in entries)
    return git(folder, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", data=body)


def commit_tree(folder: Path, entries: Sequence[tuple[str, str, str]]) -> str:
    """A commit of such a tree on a branch `evil`."""
    sha = git(folder, "commit-tree", "-m", "x", tree(folder, entries))
    git(folder, "update-ref", "refs/heads/evil", sha)
    return sha
