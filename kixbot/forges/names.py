"""Names that a branch or a file of a repository can have; anything else is refused before it is sent or written."""

import re

from kixbot.forges.interface import InvalidNameError
from kixbot.forges.values import FileChange

# The rules of `git check-ref-format` for what stands after refs/heads/.
_NO_REF = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^/|/$|\.$|(^|/)\.|\.lock(/|$)|^-|^@$|^$")
_RESERVED = frozenset({"", ".", "..", ".git"})


def check_branch(name: str) -> str:
    """The name, when git takes it for a branch and it cannot be read as an option. Raises InvalidNameError."""
    if _NO_REF.search(name):
        raise InvalidNameError(f"{name!r}: no branch can be called that")
    return name


def check_path(path: str) -> str:
    """The path, when it stays inside the tree. Raises InvalidNameError."""
    outside = any(part.lower() in _RESERVED for part in path.split("/"))
    if outside or "\\" in path or any(ord(letter) < 0x20 for letter in path):
        raise InvalidNameError(f"{path!r}: no file of a repository can be called that")
    return path


def check_change(branch: str, files: tuple[FileChange, ...]) -> None:
    """A branch and all paths of a commit on it. Raises InvalidNameError."""
    check_branch(branch)
    for file in files:
        check_path(file.path)


def check_number(identifier: str) -> str:
    """An id a forge gave us as digits, before it becomes part of an address. Raises InvalidNameError."""
    if not identifier.isdecimal():
        raise InvalidNameError(f"{identifier!r}: not an id of the forge")
    return identifier
