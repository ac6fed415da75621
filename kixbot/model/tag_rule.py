"""Which tag a pin moves to: the rules of a pin's `update` field, over the tags a registry lists. Pure.

- `tag`: the tag stays, its digest is looked up anew;
- a range of versions: `^1.4`, `~1.4.2`, `>=1.2 <2`, `1.x`;
- a pattern, in which `*` stands for one number: `17.*-bookworm`, `2025.*.*`.

A tag is read as prefix, numbers and suffix (`v` `1.28` `-alpine`). A candidate has the current tag's prefix, as many
numbers and the same suffix, and is no pre-release: so `1.28-alpine` never becomes `1.29.0` or `1.29-rc1-alpine`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import assert_never

_VERSION = re.compile(
    r"(?P<prefix>[vV]?)(?P<numbers>\d{1,18}(?:\.\d{1,18}){0,5})"
    # A letter or digit may not follow at once: `1.2-betamax` is a suffix, `1.0rc1` a pre-release.
    r"(?P<pre>[-._]?(?:alpha|beta|rc|cr|preview|pre|dev|snapshot|nightly|canary|edge|a|b|m)(?:[-._]?\d+)*(?![A-Za-z0-9]))?"
    r"(?P<suffix>[-._+A-Za-z].*)?",
    re.IGNORECASE,
)
_TERM = re.compile(r"(?P<operator>\^|~|>=|<=|>|<|=)?\s*[vV]?(?P<numbers>\d{1,18}(?:\.(?:\d{1,18}|[xX]))*)")
_NUMBER = r"(0|[1-9]\d{0,17}|0\d{1,17})"


@dataclass(frozen=True, slots=True, kw_only=True)
class TagVersion:
    """A tag that reads as a version. `numbers` as written: `1.28` has two."""

    tag: str
    prefix: str
    numbers: tuple[int, ...]
    suffix: str
    is_prerelease: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SameTag:
    """The tag stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """Bounds on the numbers: each `low` is included, each `high` is not. Missing numbers count as 0."""

    low: tuple[int, ...] = (0,)
    high: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """`expression` matches a whole tag; its groups are the numbers that are compared."""

    expression: re.Pattern[str]


Rule = SameTag | Range | Pattern


class RuleError(ValueError):
    """An update rule, or a tag it cannot be used on, that makes no sense. The text says which and why."""


def parse_version(tag: str) -> TagVersion | None:
    """The version in a tag, or None for `latest` and the like."""
    found = _VERSION.fullmatch(tag)
    if found is None:
        return None
    return TagVersion(
        tag=tag,
        prefix=found["prefix"],
        numbers=tuple(int(number) for number in found["numbers"].split(".")),
        suffix=found["suffix"] or "",
        is_prerelease=found["pre"] is not None,
    )


def parse_rule(text: str) -> Rule:
    """The rule of an `update` field. Raises RuleError."""
    if text == "tag":
        return SameTag()
    if "*" in text:
        return _parse_pattern(text)
    terms = re.sub(r"(\^|~|>=|<=|>|<|=)\s+", r"\1", text.replace(",", " ")).split()
    if not terms:
        raise RuleError("an update rule is `tag`, a range such as ^1.4, or a pattern such as 17.*-bookworm")
    low: tuple[int, ...] = (0,)
    high: tuple[int, ...] | None = None
    for term in terms:
        term_low, term_high = _parse_term(term, text)
        low = max(low, term_low, key=_padded)
        high = term_high if high is None else high if term_high is None else min(high, term_high, key=_padded)
    if high is not None and _padded(low) >= _padded(high):
        raise RuleError(f"no version lies in the range {text}")
    return Range(low=low, high=high)


def find_newest(rule: Rule, current: str, tags: Iterable[str]) -> str | None:
    """The highest of `tags` that the rule lets the pin move to; None where none is above `current`.

    Raises RuleError when the current tag cannot be compared: it is no version (`latest`), or the pattern does not
    match it.
    """
    match rule:
        case SameTag():
            return None
        case Range():
            return _newest_in_range(rule, current, tags)
        case Pattern():
            return _newest_of_pattern(rule, current, tags)
        case _:
            assert_never(rule)


def _newest_in_range(rule: Range, current: str, tags: Iterable[str]) -> str | None:
    now = parse_version(current)
    if now is None:
        raise RuleError(f'tag "{current}" is not a version, which a range needs')
    # A pre-release may move to the release of the same numbers; a release only upwards.
    floor = (_padded(now.numbers), not now.is_prerelease)
    best, best_at = None, floor
    for tag in tags:
        version = parse_version(tag)
        if version is None or version.is_prerelease or not _is_alike(version, now):
            continue
        at = (_padded(version.numbers), True)
        if at > best_at and _is_inside(rule, version.numbers):
            best, best_at = tag, at
    return best


def _newest_of_pattern(rule: Pattern, current: str, tags: Iterable[str]) -> str | None:
    now = rule.expression.fullmatch(current)
    if now is None:
        raise RuleError(f'tag "{current}" does not match its own pattern')
    best, best_at = None, _numbers(now)
    for tag in tags:
        found = rule.expression.fullmatch(tag)
        if found is not None and _numbers(found) > best_at:
            best, best_at = tag, _numbers(found)
    return best


def _is_alike(version: TagVersion, now: TagVersion) -> bool:
    return version.prefix == now.prefix and version.suffix == now.suffix and len(version.numbers) == len(now.numbers)


def _is_inside(rule: Range, numbers: tuple[int, ...]) -> bool:
    at = _padded(numbers)
    return _padded(rule.low) <= at and (rule.high is None or at < _padded(rule.high))


def _parse_pattern(text: str) -> Pattern:
    if not re.fullmatch(r"[A-Za-z0-9_.*-]{1,128}", text) or "**" in text:
        raise RuleError(f"{text} is no pattern: letters, digits, . _ - and * for one number")
    parts = [re.escape(part) for part in text.split("*")]
    return Pattern(expression=re.compile(_NUMBER.join(parts)))


def _parse_term(term: str, rule: str) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
    """Lower and upper bound of one term, with node-semver's meaning: `>1.4` begins at 1.5, `=1.4` is `1.4.x`."""
    found = _TERM.fullmatch(term)
    if found is None:
        raise RuleError(
            f"{rule} is no update rule: `tag`, a range such as ^1.4 or 1.x, a pattern such as 17.*-bookworm"
        )
    words = found["numbers"].split(".")
    fixed = next((index for index, word in enumerate(words) if word in "xX"), len(words))
    numbers = tuple(int(word) for word in words[:fixed])
    operator = found["operator"] or ""
    if fixed < len(words) and (operator or any(word not in "xX" for word in words[fixed:])):
        raise RuleError(f"{rule} is no update rule: x stands last and without an operator")
    match operator:
        case ">=":
            return numbers, None
        case ">":
            return _bumped(numbers, len(numbers) - 1), None
        case "<":
            return (0,), numbers
        case "<=":
            return (0,), _bumped(numbers, len(numbers) - 1)
        case "^":
            index = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
            return numbers, _bumped(numbers, index)
        case "~":
            return numbers, _bumped(numbers, min(1, len(numbers) - 1))
        case _:
            return numbers, _bumped(numbers, len(numbers) - 1)


def _bumped(numbers: tuple[int, ...], index: int) -> tuple[int, ...]:
    return (*numbers[:index], numbers[index] + 1)


def _padded(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return (*numbers, *(0,) * (6 - len(numbers)))


def _numbers(found: re.Match[str]) -> tuple[int, ...]:
    return tuple(int(group) for group in found.groups())
