"""Reading a checkout's own files, without git: where its git folder is, and what an address may show."""

from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from kixbot.errors import GitError


def find_checkout(path: Path) -> Path | None:
    """The nearest folder at or above `path` that holds `.git`."""
    start = path.resolve()
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), None)


def git_folder(checkout: Path) -> Path:
    """The git folder of a checkout, of a linked worktree too; a bare repository is its own."""
    marker = checkout / ".git"
    if marker.is_file():
        return (checkout / first_line(marker).removeprefix("gitdir:").strip()).resolve()
    if marker.is_dir():
        return marker.resolve()
    if (checkout / "objects").is_dir() and (checkout / "HEAD").is_file():
        return checkout.resolve()
    raise GitError(f"{checkout}: not a git repository", hint="git init, or give a folder that git knows")


def common_folder(git: Path) -> Path:
    """Where objects and refs stand: the git folder itself, or the main one of a linked worktree."""
    link = git / "commondir"
    return (git / first_line(link)).resolve() if link.is_file() else git


def without_credentials(url: str) -> str:
    """The address without user, password, query and fragment; `git@` of an SSH address stays."""
    parts = urlsplit(url)
    if not parts.scheme or not parts.netloc:
        return url
    host = parts.netloc.rpartition("@")[2]
    user = parts.netloc.rpartition("@")[0].partition(":")[0]
    netloc = f"{user}@{host}" if parts.scheme == "ssh" and user else host
    return urlunsplit((parts.scheme, netloc, parts.path, "", ""))


def first_line(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return stream.read(4096).decode(errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""
