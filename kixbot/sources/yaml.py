"""Kubernetes' dialect of YAML, read strictly and within bounds, with the line of every field.

Scalars mean what `scalars.py` says. Beyond kubectl, which lets them pass: a key that stands twice is refused with
both lines, a key that YAML reads as a boolean or null is refused, and so are unknown tags. Aliases are shared, not
copied, and what they would grow to is counted; one that contains itself is refused by its anchor's name.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml

from kixbot.errors import SourceError
from kixbot.sources import scalars, text as limits
from kixbot.sources.places import Places, Step
from kixbot.sources.text import Document, too_many

_UNSET: Any = object()
_MERGE: Any = object()


def parse(text: str, *, file: str) -> tuple[Document, ...]:
    """All documents of a stream, empty ones left out. Raises SourceError with file and line."""
    return tuple(_Reader(text, file).documents())


class _Node(NamedTuple):
    """A finished value and what it amounts to: values, bytes as JSON, levels."""

    value: Any
    nodes: int
    size: int
    depth: int


class _Frame:
    """A map or list that is being read."""

    __slots__ = ("anchor", "depth", "key", "key_line", "lines", "merged", "nodes", "path", "size", "value")

    def __init__(self, value: dict[str, Any] | list[Any], anchor: str | None, path: tuple[Step, ...]) -> None:
        self.value = value
        self.anchor = anchor
        self.path = path
        self.key: Any = _UNSET
        self.key_line = 0
        self.lines: dict[str, int] = {}
        self.merged: list[tuple[Any, int]] = []
        self.nodes = 1
        self.size = 2
        self.depth = 1


class _Reader:
    def __init__(self, text: str, file: str, *, record: bool = False) -> None:
        self._text = text
        self._file = file
        self._nodes = 0
        self._aliased_nodes = 0
        self._aliased_size = 0
        self._stack: list[_Frame] = []
        self._anchors: dict[str, _Node | None] = {}
        self._root: Any = _UNSET
        self._first_line = 0
        self._item_lines: list[int] = []
        self.recorded: dict[tuple[Step, ...], int] | None = {} if record else None

    def documents(self) -> Iterator[Document]:
        # By exact type: a chain of class patterns costs a third of the whole reading.
        inside: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._open,
            yaml.SequenceStartEvent: self._open,
            yaml.MappingEndEvent: self._close,
            yaml.SequenceEndEvent: self._close,
            yaml.AliasEvent: self._alias,
        }
        count = 0
        start: Any = None
        for event in self._events():
            if (action := inside.get(type(event))) is not None:
                action(event)
            elif isinstance(event, yaml.DocumentStartEvent):
                start = event.start_mark
                self._anchors, self._root, self._item_lines = {}, _UNSET, []
            elif isinstance(event, yaml.DocumentEndEvent) and self._root is not None and self._root is not _UNSET:
                count += 1
                if count > limits.MAX_DOCUMENTS:
                    raise too_many("documents", limits.MAX_DOCUMENTS, file=self._file)
                end: Any = event.end_mark
                yield self._document(start.index, start.line, end.index)

    def _document(self, start: int, before: int, end: int) -> Document:
        def record() -> Mapping[tuple[Step, ...], int]:
            reader = _Reader(self._text[start:end], self._file, record=True)
            for _ in reader.documents():
                pass
            return {path: line + before for path, line in (reader.recorded or {}).items()}

        return Document(self._root, self._first_line, tuple(self._item_lines), Places(self._root, record))

    def _events(self) -> Iterator[Any]:
        try:
            parser = yaml.CSafeLoader(self._text)
            while parser.check_event():
                yield parser.get_event()
        except yaml.MarkedYAMLError as err:
            raise self._broken(err) from err
        except yaml.YAMLError as err:
            raise SourceError(f"broken YAML: {' '.join(str(err).split())}", file=self._file) from err

    def _broken(self, err: yaml.MarkedYAMLError) -> SourceError:
        mark = err.problem_mark or err.context_mark
        line = mark.line + 1 if mark else None
        said = f"{err.context}, {err.problem}" if err.context and err.problem else err.problem or "unreadable"
        hint = None
        if mark and "\t" in _line_of(self._text, mark.line):
            hint = "indent with spaces: YAML allows no tabs"
        elif "mapping values are not allowed" in said:
            hint = "quote a value that holds `: `, or check the indentation of this line and the one before"
        elif "nesting" in said:
            hint = "no Kubernetes object is nested that deep"
        return SourceError(f"broken YAML: {said}", hint=hint, file=self._file, line=line)

    def _error(self, message: str, line: int, hint: str | None = None) -> SourceError:
        return SourceError(message, hint=hint, file=self._file, line=line)

    def _scalar(self, event: Any) -> None:
        line = event.start_mark.line + 1
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.key is _UNSET and isinstance(frame.value, dict):
            self._key(frame, event, line)
            return
        node = _Node(self._value(event, line), 1, len(event.value) + 3, 0)
        self._count(line)
        if event.anchor:
            self._anchors[event.anchor] = node
        self._attach(node, line)

    def _value(self, event: Any, line: int) -> scalars.Scalar:
        text: str = event.value
        try:
            if event.tag is not None:
                return scalars.tagged(event.tag, text)
            return scalars.resolve(text) if event.implicit[0] else text
        except (ValueError, OverflowError) as err:
            hint = "Kubernetes has no tags: remove it, or quote the value" if event.tag else "quote it"
            raise self._error(str(err), line, hint) from err

    def _key(self, frame: _Frame, event: Any, line: int) -> None:
        value = self._value(event, line)
        if event.value == "<<" and event.implicit[0] and event.tag is None:
            frame.key, frame.key_line = _MERGE, line
            return
        if isinstance(value, bool) or value is None:
            meaning = "null" if value is None else f"the boolean {str(value).lower()}"
            raise self._error(f"key {event.value or 'empty'} reads as {meaning}", line, "quote it")
        key = str(value)
        if key != event.value and not isinstance(value, str):
            raise self._error(f"key {event.value} reads as the number {key}", line, "quote it")
        if event.anchor:
            self._anchors[event.anchor] = _Node(value, 1, len(key) + 3, 0)
        if (first := frame.lines.get(key)) is not None:
            raise self._error(
                f"key {_shown(key)} stands twice, on lines {first} and {line}", line, f"remove or rename one {key[:80]}"
            )
        self._count(line)
        frame.lines[key] = line
        frame.key, frame.key_line = key, line
        frame.nodes += 1
        frame.size += len(key) + 4

    def _open(self, event: Any) -> None:
        line = event.start_mark.line + 1
        parent = self._stack[-1] if self._stack else None
        if parent is not None and parent.key is _UNSET and isinstance(parent.value, dict):
            raise self._error("a key must be a plain value, not a map or list", line)
        if len(self._stack) >= limits.MAX_DEPTH:
            raise self._error(f"nested deeper than {limits.MAX_DEPTH} levels", line)
        is_map = isinstance(event, yaml.MappingStartEvent)
        expected = "map" if is_map else "seq"
        if event.tag not in {None, "!", scalars.CORE_TAG + expected}:
            raise self._error(
                f"unknown tag{scalars.shown_tag(str(event.tag))}",
                line,
                "Kubernetes has no tags: remove it, or quote it",
            )
        self._count(line)
        if event.anchor:
            self._anchors[event.anchor] = None
        path: tuple[Step, ...] = ()
        if self.recorded is not None:
            path = self._path(parent) if parent is not None else ()
            self.recorded[path] = self._line(parent, line)
        if parent is None:
            self._first_line = line
        elif len(self._stack) == 2 and self._stack[0].key == "items" and isinstance(parent.value, list):
            self._item_lines.append(line)
        self._stack.append(_Frame({} if is_map else [], event.anchor, path))

    def _close(self, _: Any) -> None:
        frame = self._stack.pop()
        if frame.merged:
            self._merge(frame)
        node = _Node(frame.value, frame.nodes, frame.size, frame.depth)
        if frame.anchor:
            self._anchors[frame.anchor] = node
        self._attach(node, None)

    def _alias(self, event: Any) -> None:
        line, name = event.start_mark.line + 1, event.anchor
        if name not in self._anchors:
            # Its name is not told: it may be a password that begins with an asterisk.
            raise self._error("an alias (`*…`) without its anchor", line, "quote the value if `*` begins a text")
        known = self._anchors[name]
        if known is None:
            raise self._error(f"anchor &{name} contains itself", line)
        self._aliased_nodes += known.nodes
        self._aliased_size += known.size
        if self._aliased_nodes > limits.MAX_ALIASED_NODES or self._aliased_size > limits.MAX_ALIASED_BYTES:
            raise self._error(f"alias *{name} makes the file grow beyond bounds", line, f"write out what &{name} holds")
        if len(self._stack) + known.depth > limits.MAX_DEPTH:
            raise self._error(f"alias *{name} nests deeper than {limits.MAX_DEPTH} levels", line)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.key is _UNSET and isinstance(frame.value, dict):
            raise self._error(f"alias *{name} stands as a key", line, "write the key out")
        self._attach(known, line)

    def _attach(self, node: _Node, line: int | None) -> None:
        """Put a finished value where it belongs. `line` is None for what `_open` has marked."""
        if not self._stack:
            if line is not None:
                self._first_line = line
            self._root = node.value
            return
        frame = self._stack[-1]
        frame.nodes += node.nodes
        frame.size += node.size + 1
        frame.depth = max(frame.depth, node.depth + 1)
        if line is not None and self.recorded is not None:
            self.recorded[self._path(frame)] = self._line(frame, line)
        if isinstance(frame.value, list):
            frame.value.append(node.value)
            return
        if frame.key is _MERGE:
            frame.merged.append((node.value, frame.key_line))
        else:
            frame.value[frame.key] = node.value
        frame.key = _UNSET

    def _merge(self, frame: _Frame) -> None:
        assert isinstance(frame.value, dict)
        for value, line in frame.merged:
            for source in value if isinstance(value, list) else [value]:
                if not isinstance(source, dict):
                    raise self._error("`<<` takes a map or a list of maps", line)
                for key, entry in source.items():
                    if key not in frame.value:
                        frame.value[key] = entry
                    elif frame.lines.get(key, line + 1) < line and frame.value[key] != entry:
                        raise self._error(
                            f"key {_shown(key)} stands before `<<`, which holds it too: readers of YAML disagree",
                            frame.lines[key],
                            "put `<<` first",
                        )

    def _path(self, frame: _Frame) -> tuple[Step, ...]:
        return (*frame.path, len(frame.value) if isinstance(frame.value, list) else str(frame.key))

    def _line(self, frame: _Frame | None, line: int) -> int:
        return frame.key_line if frame is not None and isinstance(frame.value, dict) else line

    def _count(self, line: int) -> None:
        self._nodes += 1
        if self._nodes > limits.MAX_NODES:
            raise too_many("values", limits.MAX_NODES, file=self._file, line=line)


def _shown(text: str) -> str:
    return repr(text[:80])


def _line_of(text: str, number: int) -> str:
    lines = text.split("\n")
    return lines[number] if number < len(lines) else ""
