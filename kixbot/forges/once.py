"""Writes that must not happen twice: after a lost answer, look before asking again."""

from collections.abc import Callable
from typing import TypeVar

from kixbot.errors import ForgeError
from kixbot.forges.interface import Forge
from kixbot.forges.values import Comment

T = TypeVar("T")


class UncertainWriteError(ForgeError):
    """The answer to a write got lost: it may have happened. Whoever asked looks before asking again."""


def once(write: Callable[[], T], look: Callable[[], T | None]) -> T:
    """What `write` gives; after a lost answer what `look` finds, else one more `write`."""
    try:
        return write()
    except UncertainWriteError:
        found = look()
    return write() if found is None else found


def find_own_comment(forge: Forge, number: int, body: str) -> Comment | None:
    """The newest comment of our own that says exactly `body`."""
    viewer = forge.get_viewer()
    own = [found for found in forge.list_comments(number) if found.author == viewer and found.body == body]
    return own[-1] if own else None
