"""The tree a build is made of: a commit written out by kix itself, or what git sees at a terminal.

A commit's files are written from tree listings and blobs: no checkout, so no hook, no filter, no attribute of the
repository runs or rewrites anything, and submodules stay out. Paths and links are judged before the first byte.
"""

import os
import stat
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kixbot.errors import GitError, SourceError
from kixbot.sources import checkout as checkouts, git
from kixbot.sources.files import MAX_TREE, resolve

_MAX_ENTRIES = 200_000
_MAX_LINKS = 40
_SUBMODULE = "160000"
_LINK = "120000"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """Files below `root`, by path and sorted: regular ones and links. `commit` None: a working tree or no git.

    For a working tree `head` tells the commit it stands on; `clean` None means unknown. `remote` has no credentials.
    """

    root: Path
    files: tuple[str, ...]
    commit: str | None = None
    head: str | None = None
    branch: str | None = None
    remote: str | None = None
    clean: bool | None = None

    def find(self, relative: str) -> Path | None:
        """The place of a file or folder of the tree, None when it has none. Raises SourceError when it leads out."""
        if not os.path.lexists(self.root / relative):
            return None
        place = resolve(self.root, relative)
        name = place.relative_to(self.root).as_posix()
        inside = place.is_dir() or name in set(self.files)
        return place if inside else None


def export_ref(repository: Path, ref: str, into: Path) -> Tree:
    """Write the tree of a ref of the checkout `repository` into the empty folder `into`.

    Raises UsageError for a ref that names no commit, GitError for missing objects, SourceError for a tree that would
    write or point outside itself.
    """
    with tempfile.TemporaryDirectory(prefix="kix-git-") as folder:
        own = git.Repository(Path(folder), repository)
        commit = own.resolve(ref)
        files = write(own, commit, into)
        remote = git.remote_of(repository, Path(folder))
        branch = ref if own.find(f"refs/heads/{ref}") == commit else None
        return Tree(root=into, files=files, commit=commit, head=commit, branch=branch, remote=remote, clean=True)


def write(repository: git.Repository, commit: str, into: Path) -> tuple[str, ...]:
    """Write a commit's files below `into`; gives their paths, sorted."""
    entries = [entry for entry in repository.entries(commit, _MAX_ENTRIES) if entry.mode != _SUBMODULE]
    for entry in entries:
        _check_path(entry.path)
        if entry.mode != _LINK and not entry.mode.startswith("100"):
            raise SourceError(f"{_shown(entry.path)}: unknown file mode {entry.mode}")
    blobs = repository.blobs([entry.sha for entry in entries], MAX_TREE)
    links: dict[bytes, bytes] = {}
    for entry, content in zip(entries, blobs, strict=True):
        if entry.mode == _LINK:
            links[entry.path] = content
        else:
            _write_file(into / os.fsdecode(entry.path), content, executable=entry.mode == "100755")
    _check_links(links)
    for path, target in links.items():
        place = into / os.fsdecode(path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(os.fsdecode(target))
        except OSError as err:
            raise SourceError(f"{_shown(path)}: stands twice in the tree") from err
    return tuple(sorted(os.fsdecode(entry.path) for entry in entries))


def working_tree(path: Path) -> Tree:
    """What git would commit of the checkout around `path`, with what it does not ignore; in place, nothing is copied.

    Outside a repository, or without git, the folder itself. Raises SourceError beyond 64 MiB.
    """
    checkout = checkouts.find_checkout(path)
    if checkout is None or not git.has_git():
        folder = path if path.is_dir() else path.parent
        files = tuple(sorted(_below(folder, "")))
        _check_disk(folder, files)
        return Tree(root=folder.resolve(), files=files)
    with tempfile.TemporaryDirectory(prefix="kix-git-") as folder_name:
        own = git.Repository(Path(folder_name), checkout)
        env = {"GIT_WORK_TREE": str(checkout), "GIT_INDEX_FILE": str(checkouts.git_folder(checkout) / "index")}
        listed = own.git("-C", str(checkout), "ls-files", "-co", "--exclude-standard", "-z", env=env).split(b"\0")
        names = {os.fsdecode(name) for name in listed if name}
        files = tuple(sorted(name for name in names if _is_entry(checkout, name)))
        _check_disk(checkout, files)
        head = own.find("HEAD")
        return Tree(
            root=checkout,
            files=files,
            head=head,
            branch=own.branch(),
            remote=git.remote_of(checkout, Path(folder_name)),
            clean=_is_clean(own, checkout, env) if head else None,
        )


def _is_clean(own: git.Repository, checkout: Path, env: Mapping[str, str]) -> bool | None:
    try:
        return not own.git("-C", str(checkout), "status", "--porcelain", "-z", "--ignore-submodules=all", env=env)
    except GitError:
        return None


def _is_entry(root: Path, name: str) -> bool:
    """Whether there is a regular file or a link of that name: deleted files, submodules and nested clones are none."""
    try:
        mode = (root / name).lstat().st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _below(folder: Path, prefix: str) -> Iterable[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.lower() == ".git":
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _below(folder / entry.name, f"{prefix}{entry.name}/")
        elif entry.is_symlink() or entry.is_file():
            yield prefix + entry.name


def _check_disk(root: Path, files: tuple[str, ...]) -> None:
    if len(files) > _MAX_ENTRIES:
        raise SourceError(
            f"{root.name}: more than {_MAX_ENTRIES:,} files", hint="keep the definition in its own folder"
        )
    total, links = 0, dict[bytes, bytes]()
    for name in files:
        _check_path(os.fsencode(name))
        place = root / name
        status = place.lstat()
        if stat.S_ISLNK(status.st_mode):
            links[os.fsencode(name)] = os.fsencode(place.readlink())
        total += status.st_size
    if total > MAX_TREE:
        raise SourceError(
            f"{root.name}: files take more than {MAX_TREE // 2**20} MiB",
            hint="let .gitignore name what is no source, or keep the definition in a repository of its own",
        )
    _check_links(links)


def _check_path(path: bytes) -> None:
    for part in path.split(b"/"):
        if part in {b"", b".", b".."} or part.lower() == b".git":
            raise SourceError(f"{_shown(path)}: a path that leaves the tree or enters git's own files")


def _check_links(links: Mapping[bytes, bytes]) -> None:
    """Resolve every link through the tree's own links. Raises SourceError for one that leads out or in circles."""
    for path in links:
        pending = list(reversed(path.split(b"/")))
        done: list[bytes] = []
        hops = 0
        while pending:
            part = pending.pop()
            if part in {b"", b"."}:
                continue
            if part == b"..":
                if not done:
                    raise SourceError(
                        f"{_shown(path)}: symbolic link leads outside the tree", hint="remove it from the repository"
                    )
                done.pop()
                continue
            done.append(part)
            target = links.get(b"/".join(done))
            if target is None:
                continue
            hops += 1
            if target.startswith(b"/"):
                raise SourceError(
                    f"{_shown(path)}: symbolic link to an absolute path", hint="remove it, or let .gitignore name it"
                )
            if hops > _MAX_LINKS or b"\0" in target:
                raise SourceError(f"{_shown(path)}: symbolic links form a loop")
            done.pop()
            pending.extend(reversed(target.split(b"/")))


def _write_file(place: Path, content: bytes, *, executable: bool) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o755 if executable else 0o644)
    except OSError as err:
        raise SourceError(f"{_shown(os.fsencode(place.name))}: stands twice in the tree") from err
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)


def _shown(path: bytes) -> str:
    return os.fsdecode(path[:200]).encode(errors="surrogateescape").decode(errors="replace")
