"""Pins: what a tag names now, which tag comes next, whether a digest can still be pulled.

Registries are asked in parallel and never while a file is open; the answers are changes, which `apply_changes` puts
into the pins as they then are. No answer is "no update" because a registry failed: a failure is a result of its own.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from kixbot.errors import KixError, RefusedError, RegistryError, UsageError
from kixbot.model.pin import Pin, PinChange, Pins
from kixbot.model.pinfile import KEY, TAG, decode, encode
from kixbot.model.tag_rule import RuleError, SameTag, find_newest, parse_rule
from kixbot.ops.parallel import each
from kixbot.registry import reference
from kixbot.registry.interface import (
    ImageDeniedError,
    ImageFacts,
    ImageNotFoundError,
    Registry,
    RegistryLimitedError,
    RegistryUnreachableError,
)

__all__ = [
    "CheckResult", "PinCheck", "PinFailure", "PinUpdates", "add_pin", "apply_changes", "check_pins", "decode",
    "encode", "remove_pin", "resolve_updates", "set_tag",
]  # fmt: skip

Progress = Callable[[str], None]
_THREADS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class PinFailure:
    """A pin that could not be looked up, and why."""

    key: str
    error: KixError


@dataclass(frozen=True, slots=True, kw_only=True)
class PinUpdates:
    """What an update found: pins that move, pins that could not be looked up, and how many stay as they are."""

    changes: tuple[PinChange, ...] = ()
    failures: tuple[PinFailure, ...] = ()
    unchanged: int = 0


class CheckResult(Enum):
    """What is the matter with a pin; the value is what people read."""

    OK = "ok"
    MOVED = "tag moved"
    TAG_GONE = "tag gone"
    DIGEST_GONE = "digest gone"
    DENIED = "no access"
    LIMITED = "limited"
    OFFLINE = "offline"
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class PinCheck:
    """One pin's result. `current` is the digest the tag names now, where it differs; `details` says more."""

    key: str
    pin: Pin
    result: CheckResult
    current: str | None = None
    details: str = ""


def resolve_updates(
    pins: Pins, registry: Registry, keys: tuple[str, ...] = (), *, progress: Progress | None = None
) -> PinUpdates:
    """The pins that move, each with its evidence, and those that could not be looked up, by key.

    Without `keys` all pins with an update rule that are not frozen. A key that is named is looked up also without a
    rule: by its own tag. One pin's failure does not hide the others. `progress` gets a line per pin that moves.
    Raises RefusedError for a named pin that is frozen, UsageError for a key that no pin has.
    """
    chosen = [pin for pin in _choose(pins, keys) if keys or (pin.update is not None and not pin.frozen)]
    for pin in chosen:
        if pin.frozen:
            raise RefusedError(f'pin "{pin.key}": is frozen', hint='remove its "frozen" in pins.json')

    def look_up(pin: Pin) -> PinChange | PinFailure | None:
        try:
            change = _find_change(pin, registry)
        except KixError as error:
            return PinFailure(key=pin.key, error=error)
        if change is not None and progress is not None:
            progress(f"{pin.key}: {pin.image}:{pin.tag} moves to {change.new.tag}@{change.new.digest[:19]}")
        return change

    results = each(look_up, chosen, threads=_THREADS)
    changes = tuple(result for result in results if isinstance(result, PinChange))
    failures = tuple(result for result in results if isinstance(result, PinFailure))
    return PinUpdates(changes=changes, failures=failures, unchanged=len(results) - len(changes) - len(failures))


def apply_changes(pins: Pins, changes: tuple[PinChange, ...]) -> Pins:
    """The pins with the changes in them.

    Raises RefusedError where a pin is no longer what its change was worked out from: somebody else wrote it.
    """
    entries = dict(pins.pins)
    for change in changes:
        if entries.get(change.key) != change.old:
            raise RefusedError(
                f'pin "{change.key}" was changed while its image was looked up', hint="run the command again"
            )
        entries[change.key] = change.new
    return dataclasses.replace(pins, pins=dict(sorted(entries.items())))


def set_tag(pins: Pins, registry: Registry, key: str, tag: str) -> PinChange | None:
    """The change that gives a pin another tag and its digest; None where it has both already."""
    (old,) = _choose(pins, (key,))
    if not TAG.fullmatch(tag):
        raise UsageError(f'tag "{tag}": not a tag a registry takes')
    return _change_to(old, tag, registry.get_digest(old.image, tag), registry)


def add_pin(pins: Pins, registry: Registry, image: str, *, key: str | None = None, update: str | None = None) -> Pin:
    """A new pin for `image:tag` (no tag: `latest`), resolved. A digest in the image is checked against the tag.

    Raises UsageError for a key that exists or cannot be one, or an update rule that makes no sense.
    """
    parsed = reference.parse(image)
    key = key or parsed.path.rpartition("/")[2]
    if not KEY.fullmatch(key):
        raise UsageError(f'pin "{key}": a key holds letters, digits, _ . - and begins with one of the first three')
    if key in pins.pins:
        raise UsageError(f'pin "{key}": is there already', hint=f"kix pin set {key} --tag TAG, or give --key NAME")
    tag = parsed.tag or "latest"
    if update is not None:
        _check_rule(update, tag)
    digest = registry.get_digest(parsed.name, tag)
    if parsed.digest is not None and parsed.digest != digest:
        raise RefusedError(f"{image}: the tag names {digest} now", hint="leave the digest out, or the tag")
    facts = registry.get_facts(parsed.name, digest)
    return Pin(key=key, image=parsed.name, tag=tag, digest=digest, user=_user(facts), update=update)


def remove_pin(pins: Pins, key: str) -> Pins:
    """The pins without one. Raises UsageError where there is none of that key."""
    _choose(pins, (key,))
    return dataclasses.replace(pins, pins={name: pin for name, pin in pins.pins.items() if name != key})


def check_pins(pins: Pins, registry: Registry, keys: tuple[str, ...] = ()) -> tuple[PinCheck, ...]:
    """Each pin's result, by key: can its digest still be pulled, and what does its tag name now."""
    return each(lambda pin: _check(pin, registry), _choose(pins, keys), threads=_THREADS)


def _check(pin: Pin, registry: Registry) -> PinCheck:
    def found(result: CheckResult, details: str = "", current: str | None = None) -> PinCheck:
        return PinCheck(key=pin.key, pin=pin, result=result, details=details, current=current)

    try:
        try:
            current: str | None = registry.get_digest(pin.image, pin.tag)
        except ImageNotFoundError:
            current = None
        if current == pin.digest:
            return found(CheckResult.OK)
        if not registry.has_digest(pin.image, pin.digest):
            now = f"the tag names {current} now" if current else "the tag is gone, too"
            return found(CheckResult.DIGEST_GONE, now, current)
    except RegistryError as error:
        return found(_result_of(error), error.message)
    if current is None:
        return found(CheckResult.TAG_GONE, "the digest can still be pulled")
    return found(CheckResult.MOVED, f"the tag names {current} now", current)


def _result_of(error: RegistryError) -> CheckResult:
    match error:
        case ImageDeniedError():
            return CheckResult.DENIED
        case RegistryLimitedError():
            return CheckResult.LIMITED
        case RegistryUnreachableError():
            return CheckResult.OFFLINE
        case _:
            return CheckResult.UNCLEAR


def _find_change(pin: Pin, registry: Registry) -> PinChange | None:
    tag = _newest_tag(pin, registry)
    digest = registry.get_digest(pin.image, tag)
    if digest == pin.digest:
        return None  # also where a newer tag names the very same image
    return _change_to(pin, tag, digest, registry)


def _newest_tag(pin: Pin, registry: Registry) -> str:
    try:
        rule = parse_rule(pin.update or "tag")
        if isinstance(rule, SameTag):
            return pin.tag
        return find_newest(rule, pin.tag, registry.get_tags(pin.image).tags) or pin.tag
    except RuleError as error:
        raise UsageError(f'pin "{pin.key}": {error}', hint='set its "update" in pins.json') from error


def _change_to(old: Pin, tag: str, digest: str, registry: Registry) -> PinChange | None:
    if (tag, digest) == (old.tag, old.digest):
        return None
    facts = registry.get_facts(old.image, digest)
    return PinChange(
        key=old.key,
        old=old,
        new=dataclasses.replace(old, tag=tag, digest=digest, user=_user(facts)),
        created=facts.created,
        platforms=facts.platforms,
        revision=facts.revision,
    )


def _user(facts: ImageFacts) -> str | int | None:
    """The user an image runs as; 0 where its config names none, as every container engine takes it."""
    if facts.user is None:
        return None
    if re.fullmatch(r"[0-9]{1,10}", facts.user):
        return int(facts.user)
    return facts.user or 0


def _check_rule(update: str, tag: str) -> None:
    try:
        find_newest(parse_rule(update), tag, ())
    except RuleError as error:
        raise UsageError(f"update rule: {error}") from error


def _choose(pins: Pins, keys: tuple[str, ...]) -> tuple[Pin, ...]:
    """The named pins in the order of their keys, or all. Raises UsageError for a key that is not there."""
    entries: Mapping[str, Pin] = pins.pins
    for key in keys:
        if key not in entries:
            raise UsageError(f'pin "{key}": there is none of that key', hint=_nearest(entries))
    return tuple(pin for key, pin in sorted(entries.items()) if not keys or key in keys)


def _nearest(entries: Mapping[str, Pin]) -> str:
    shown = ", ".join(sorted(entries)[:10])
    return f"keys: {shown}" if shown else "kix pin add IMAGE:TAG"
