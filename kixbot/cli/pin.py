"""`kix pin`: set, add, remove, list, check and update the image pins of pins.json."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from kixbot.cli.session import Session
from kixbot.errors import ExitCode, UsageError
from kixbot.model.pin import Pin, Pins
from kixbot.model.pinfile import PINS_FILE
from kixbot.ops import pin as ops
from kixbot.ops.pin import CheckResult, PinCheck, PinFailure, PinUpdates
from kixbot.output import pins as output
from kixbot.registry import open_registry
from kixbot.registry.interface import Registry
from kixbot.settings.model import RegistrySettings, Settings
from kixbot.sources.opening import settings_in
from kixbot.sources.pins import edit_pins, find_pins, get_pins

Function = TypeVar("Function", bound=Callable[..., Any])

_FAIL_ON = {"moved": CheckResult.MOVED, "tag-gone": CheckResult.TAG_GONE}
_UNKNOWN = frozenset({CheckResult.DENIED, CheckResult.LIMITED, CheckResult.OFFLINE, CheckResult.UNCLEAR})

_EPILOG = """\b
Examples:
  kix pin add ghcr.io/acme/web:1.4.2 --update "^1.4"
  kix pin set web --tag 1.5.0
  kix pin update --dry-run      what would move
  kix pin check                 can every digest still be pulled"""


@click.group(epilog=_EPILOG)
def command() -> None:
    """Keep image pins in pins.json.

    A pin names an image, a tag and the digest that the tag named when it was pinned: the digest is what is deployed.
    """


def _file_option(function: Function) -> Function:
    return click.option("--file", metavar="FILE", help=f"Use this file instead of {PINS_FILE}.")(function)


def _registry_options(function: Function) -> Function:
    for name, metavar, text in (
        ("--allow", "HOST", "Contact this host although its address is private."),
        ("--insecure", "HOST", "Speak to this host without TLS."),
        ("--mirror", "NAME=HOST", "Look images of NAME up at HOST; the file keeps NAME."),
    ):
        function = click.option(name, metavar=metavar, multiple=True, help=f"{text} May be repeated.")(function)
    return function


def _format_option(function: Function) -> Function:
    choice = click.Choice(["text", "json"])
    return click.option("-o", "--output", "form", type=choice, default="text", help="How to print it.")(function)


@command.command("set")
@click.argument("key")
@click.option("--tag", required=True, help="The tag to pin.")
@_file_option
@_registry_options
@click.pass_obj
def set_command(session: Session, /, *, key: str, tag: str, file: str | None, **rules: tuple[str, ...]) -> int:
    """Give the pin KEY another tag, and the digest it names now."""
    path = _path(session, file)
    pins = get_pins(path)
    change = ops.set_tag(pins, _open(session, rules), key, tag)
    if change is None:
        session.console.result(f"{key} is at {tag} already")
        return int(ExitCode.DONE)
    edit_pins(path, lambda now: ops.apply_changes(now, (change,)))
    session.console.result(output.change_text(change))
    return int(ExitCode.DONE)


@command.command("add")
@click.argument("image", metavar="IMAGE[:TAG]")
@click.option("--key", help="The pin's name; without it the last part of the image's.")
@click.option("--update", metavar="RULE", help="tag, a range such as ^1.4, or a pattern such as 17.*-bookworm.")
@_file_option
@_registry_options
@click.pass_obj
def add_command(
    session: Session, /, *, image: str, key: str | None, update: str | None, file: str | None, **rules: tuple[str, ...]
) -> int:
    """Pin an image. Without a tag it is `latest`."""
    path = _path(session, file)
    pin = ops.add_pin(find_pins(path) or Pins(), _open(session, rules), image, key=key, update=update)
    edit_pins(path, lambda now: _with(now, pin))
    session.console.result(f"{pin.key} {pin.reference}")
    return int(ExitCode.DONE)


@command.command("remove")
@click.argument("key")
@_file_option
@click.pass_obj
def remove_command(session: Session, /, *, key: str, file: str | None) -> int:
    """Remove the pin KEY."""
    path = _path(session, file)
    get_pins(path)
    edit_pins(path, lambda now: ops.remove_pin(now, key))
    session.console.result(f"{key} removed")
    return int(ExitCode.DONE)


@command.command("list")
@_file_option
@_format_option
@click.pass_obj
def list_command(session: Session, /, *, file: str | None, form: str) -> int:
    """List all pins. Asks no registry."""
    pins = get_pins(_path(session, file))
    session.console.result(output.list_json(pins) if form == "json" else output.list_text(pins))
    return int(ExitCode.DONE)


@command.command("check")
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--fail-on", type=click.Choice(sorted(_FAIL_ON)), multiple=True, help="Also end with 1 for this.")
@_file_option
@_format_option
@_registry_options
@click.pass_obj
def check_command(
    session: Session,
    /,
    *,
    keys: tuple[str, ...],
    fail_on: tuple[str, ...],
    file: str | None,
    form: str,
    **rules: tuple[str, ...],
) -> int:
    """Ask the registries about all pins, or the named ones.

    Ends with 1 where a digest can no longer be pulled, else with 4 where a registry gave no answer. A tag that moved
    or is gone is shown, and an error only with --fail-on.
    """
    pins = get_pins(_path(session, file))
    checks = ops.check_pins(pins, _open(session, rules), keys)
    session.console.result(output.check_json(checks) if form == "json" else output.check_text(checks))
    return int(exit_code_of(checks, frozenset(_FAIL_ON[name] for name in fail_on)))


@command.command("update")
@click.argument("keys", nargs=-1, metavar="[KEY]...")
@click.option("--dry-run", is_flag=True, help="Write nothing.")
@click.option("--keep-going", is_flag=True, help="Write what was found although some pins could not be looked up.")
@_file_option
@_format_option
@_registry_options
@click.pass_obj
def update_command(
    session: Session,
    /,
    *,
    keys: tuple[str, ...],
    dry_run: bool,
    keep_going: bool,
    file: str | None,
    form: str,
    **rules: tuple[str, ...],
) -> int:
    """Move pins by their update rules, all or the named ones.

    A named pin without a rule has the digest of its own tag looked up. Frozen pins stay. Nothing is written where a
    pin could not be looked up, unless with --keep-going.
    """
    path = _path(session, file)
    found = ops.resolve_updates(get_pins(path), _open(session, rules), keys, progress=session.console.note)
    if found.failures and not keep_going:
        _fail(session, found.failures)
    if found.changes and not dry_run:
        edit_pins(path, lambda now: ops.apply_changes(now, found.changes))
    _print_update(session, found, form, is_dry_run=dry_run)
    if found.failures:
        _fail(session, found.failures)
    return int(ExitCode.DONE)


def exit_code_of(checks: tuple[PinCheck, ...], fails: frozenset[CheckResult]) -> ExitCode:
    """What `kix pin check` ends with: a proven no before a missing answer."""
    results = {check.result for check in checks}
    if results & (fails | {CheckResult.DIGEST_GONE}):
        return ExitCode.NO
    return ExitCode.OUTSIDE if results & _UNKNOWN else ExitCode.DONE


def _print_update(session: Session, found: PinUpdates, form: str, *, is_dry_run: bool) -> None:
    printer = output.update_json if form == "json" else output.update_text
    session.console.result(printer(found, is_dry_run=is_dry_run))


def _fail(session: Session, failures: tuple[PinFailure, ...]) -> None:
    """Raise the first failure; the others' messages, each once, and their keys are noted before it."""
    keys: dict[str, list[str]] = {}
    for failure in failures:
        keys.setdefault(failure.error.message, []).append(failure.key)
    first, *others = keys
    for message in others:
        session.console.warn(f"{message} (pin {', '.join(keys[message])})")
    error = failures[0].error
    error.message = f"{first} (pin {', '.join(keys[first])})"
    raise error


def _with(pins: Pins, pin: Pin) -> Pins:
    if pin.key in pins.pins:
        raise UsageError(f'pin "{pin.key}": is there already', hint=f"kix pin set {pin.key} --tag TAG")
    return Pins(pins=dict(sorted({**pins.pins, pin.key: pin}.items())), extra=pins.extra)


def _path(session: Session, file: str | None) -> Path:
    """The file of --file, else the one the clusters of kix.toml name, else pins.json. Raises UsageError for several."""
    if file is None:
        named = {cluster.pins for cluster in _settings(session).clusters.values()} or {PINS_FILE}
        if len(named) > 1:
            raise UsageError("the clusters have several files of pins", hint=f"--file {' or '.join(sorted(named))}")
        (file,) = named
    return session.directory / file


def _open(session: Session, given: dict[str, tuple[str, ...]]) -> Registry:
    """A client by `[registries]` of kix.toml and what the command line adds."""
    mirrors = {}
    for word in given["mirror"]:
        name, equals, host = word.partition("=")
        if not (name and equals and host):
            raise UsageError(f'--mirror "{word}": NAME=HOST is needed', hint="--mirror docker.io=mirror.corp.example")
        mirrors[name] = host
    settings = _settings(session).registries
    rules = RegistrySettings(
        mirrors={**settings.mirrors, **mirrors},
        insecure=(*settings.insecure, *given["insecure"]),
        allow=(*settings.allow, *given["allow"]),
    )
    return open_registry(rules, environment=os.environ, home=Path.home(), note=session.console.note)


def _settings(session: Session) -> Settings:
    return settings_in(session.directory, config=session.config)
