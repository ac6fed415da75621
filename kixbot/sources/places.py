"""The line of a field: written paths (`model/path`) against the lines a reader recorded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kixbot.model import path as paths

Step = str | int


class Places:
    """The lines of one document, found when first asked for: few are, and reading twice is cheaper than keeping."""

    def __init__(self, value: Any, record: Callable[[], Mapping[tuple[Step, ...], int]]) -> None:
        self._value = value
        self._record = record

    @cached_property
    def lines(self) -> Mapping[tuple[Step, ...], int]:
        """Line by keys and indexes, for every field and list item."""
        return self._record()

    def find(self, root: tuple[Step, ...], path: str) -> int | None:
        """The line of `path` below `root`, or of the nearest parent that was written."""
        value = self._value
        for step in root:
            value = value[step]
        steps = (*root, *_steps_in(path, value))
        for length in range(len(steps), -1, -1):
            if (line := self.lines.get(steps[:length])) is not None:
                return line
        return None


@dataclass(frozen=True, slots=True)
class Place:
    """One object's view of its document: callable with a path, gives a line."""

    places: Places
    root: tuple[Step, ...]

    def __call__(self, path: str) -> int | None:
        """The line of that path of the object, or of its nearest parent."""
        return self.places.find(self.root, path)


def _steps_in(path: str, value: Any) -> tuple[Step, ...]:
    """The path as keys and indexes, as far as the value has it."""
    try:
        written = paths.parse(path)
    except ValueError:
        return ()
    steps: list[Any] = []
    field = ""
    for step in written:
        found = _index(step, field, value)
        if found is None:
            break
        steps.append(found)
        value = value[found]
        field = found if isinstance(found, str) else field
    return tuple(steps)


def _index(step: paths.Step, field: str, value: Any) -> Any:
    """What the step means in this value: a key it has, an index it has, else None."""
    match step:
        case paths.Key(name):
            return name if isinstance(value, dict) and name in value else None
        case paths.Index(at):
            return at if isinstance(value, list) and at < len(value) else None
        case paths.Item(key):
            keys = paths.item_keys(field, value) if isinstance(value, list) else None
            return keys.index(key) if keys and key in keys else None
