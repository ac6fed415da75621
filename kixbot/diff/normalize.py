"""What is left out before two bodies are compared."""

from collections.abc import Mapping
from typing import Any


def without_nulls(value: Any) -> Any:
    """The value without null map entries, at every depth: to the API server they mean the same as no entry."""
    if isinstance(value, Mapping):
        return {key: without_nulls(entry) for key, entry in value.items() if entry is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(entry) for entry in value]
    return value


def is_same(old: Any, new: Any) -> bool:
    """Equality of JSON values: unlike in Python, `true` is not 1; integral floats and integers are the same number."""
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        return old.keys() == new.keys() and all(is_same(old[key], new[key]) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(is_same(one, other) for one, other in zip(old, new, strict=True))
    return bool(old == new)
