"""The only module that runs Nix, and it evaluates in one way everywhere.

The tree and kix's own library are written into a private store made for this run and removed after it. Nix then runs
with `--pure-eval` and `restrict-eval` together, may fetch only two addresses that nothing can serve, builds nothing,
has an empty environment and, where the machine allows it, no network. `restrict-eval` alone still gives away files,
clock and environment, and `--pure-eval` alone still reaches the network and `file://`.
"""

import functools
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from kixbot.errors import NixError, SourceError
from kixbot.sources import messages, nar, sandbox
from kixbot.sources.sandbox import Bounds, End, Outcome
from kixbot.sources.tree import Tree

LIBRARY = Path(__file__).resolve().parent.parent / "nix"
_INSTALL = "install Nix, for example: apt-get install nix-bin (Debian, Ubuntu), or see nixos.org/download"
_TRACE_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What an expression came to. `tree_name` is the tree's name in the store, at which places in it are split."""

    value: Any
    tree_name: str


def evaluate(tree: Tree, file: str, *, library: Path = LIBRARY, bounds: Bounds | None = None) -> Evaluation:
    """Evaluate the cluster definition `file` (relative to the tree) with kix's library.

    Raises SourceError for what is wrong in the definition, NixError when Nix is missing, was killed, ran out of time
    or memory.
    """
    call = f'(import "${{kix}}/default.nix").evaluate {{ inherit tree; file = {_quoted(file)}; }}'
    try:
        return expression(tree, call, library=library, bounds=bounds)
    except SourceError as err:
        if err.file is None:
            err.file = file
        raise


def expression(tree: Tree, text: str, *, library: Path = LIBRARY, bounds: Bounds | None = None) -> Evaluation:
    """Evaluate a Nix expression in which `tree` and `kix` are the two store paths; its value must be JSON."""
    with _workplace() as work:
        trees = _import(work, tree, library)
        source = _bindings(trees) + text
        outcome = _run(work, source, bounds or Bounds())
        if outcome.end is End.EXITED and outcome.code == 0:
            return _value(outcome, trees)
        told = _judge(outcome, trees, lambda: _run(work, source, bounds or Bounds(), trace=True))
        raise told


@dataclass(frozen=True, slots=True, kw_only=True)
class _Workplace:
    """The folders of one run: a store, and the empty places that stand for home, configuration and PATH."""

    folder: Path

    @property
    def store(self) -> str:
        return f"local?root={self.folder / 'root'}"

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": str(self.folder / "empty"),
            "HOME": str(self.folder / "home"),
            "USER": "kix",  # it cannot read who it is
            "TMPDIR": str(self.folder / "tmp"),
            "NIX_CONF_DIR": str(self.folder / "empty"),
            "NIX_USER_CONF_FILES": "/dev/null",
            "LC_ALL": "C.UTF-8",
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trees:
    tree: nar.Imported
    library: nar.Imported


@contextmanager
def _workplace() -> Iterator[_Workplace]:
    folder = Path(tempfile.mkdtemp(prefix="kix-nix-")).resolve()
    try:
        for name in ("root", "empty", "home", "tmp"):
            (folder / name).mkdir()
        yield _Workplace(folder=folder)
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a private store: its folders are read-only."""
    for place, folders, _ in os.walk(folder):
        for name in folders:
            inner = Path(place) / name
            if not inner.is_symlink():
                inner.chmod(stat.S_IRWXU)
    shutil.rmtree(folder, ignore_errors=True)


def _program(name: str) -> str:
    # An empty or relative entry of PATH would find what the checkout holds.
    places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if Path(place).is_absolute()]
    found = shutil.which(name, path=os.pathsep.join(places))
    if found is None:
        raise NixError("nix is not installed, and a definition in Nix needs it", hint=_INSTALL)
    return found


def _import(work: _Workplace, tree: Tree, library: Path) -> _Trees:
    importer = _program("nix-store")
    stream = work.folder / "trees"
    files = sorted(
        path.relative_to(library).as_posix()
        for path in library.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    )
    with stream.open("wb") as out:
        trees = _Trees(
            tree=nar.export(tree.root, tree.files, "tree", out), library=nar.export(library, files, "kix", out)
        )
        nar.end(out)
    with stream.open("rb") as stdin:
        outcome = sandbox.run(
            [importer, "--store", work.store, "--option", "build-users-group", "", "--import"],
            env=work.environment,
            folder=work.folder,
            stdin=stdin,
        )
    stream.unlink()
    if outcome.end is not End.EXITED or outcome.code != 0:
        raise NixError(f"nix cannot write its private store: {messages.last_line(outcome.messages)}")
    return trees


def _bindings(trees: _Trees) -> str:
    rows = (
        f'  {name} = fetchTarball {{ url = "kix:{name}"; name = "{name}"; sha256 = "{imported.sha256}"; }};\n'
        for name, imported in (("tree", trees.tree), ("kix", trees.library))
    )
    return f"let\n{''.join(rows)}in\n"


def _run(work: _Workplace, source: str, bounds: Bounds, *, trace: bool = False) -> Outcome:
    options = {
        "restrict-eval": "true",
        "allowed-uris": "kix:tree kix:kix",
        "allow-import-from-derivation": "false",
        "max-jobs": "0",
        "builders": "",
        "substituters": "",
        "build-users-group": "",
        "experimental-features": "",
    }
    command = [
        _program("nix-instantiate"), "--eval", "--strict", "--json", "--log-format", "internal-json", "--pure-eval",
        "--store", work.store, *(word for key, value in options.items() for word in ("--option", key, value)),
        *(("--show-trace",) if trace else ()), "--expr", source,
    ]  # fmt: skip
    limits = bounds if not trace else _with_messages(bounds)
    # `builtins.path` with a hash lists any folder of the machine, whatever the options say (seen with 2.8).
    confined = _can_be_confined(command[0])
    return sandbox.run(
        command, env=work.environment, folder=work.folder, bounds=limits, network=False, confined=confined
    )


@functools.cache
def _can_be_confined(program: str) -> bool:
    """Whether this Nix runs where it sees nothing but its own installation: a wrapper may lead to another place."""
    with _workplace() as work:
        tried = sandbox.run([program, "--version"], env=work.environment, folder=work.folder, confined=True)
    return tried.end is End.EXITED and tried.code == 0


def _with_messages(bounds: Bounds) -> Bounds:
    return Bounds(
        address_space=bounds.address_space,
        stack=bounds.stack,
        cpu_seconds=bounds.cpu_seconds,
        seconds=bounds.seconds,
        output=2**20,
        messages=_TRACE_BYTES,
    )


def _value(outcome: Outcome, trees: _Trees) -> Evaluation:
    try:
        value = orjson.loads(outcome.output)
    except orjson.JSONDecodeError as err:
        raise SourceError(
            f"the definition comes to no JSON: {err}", hint="strings must be UTF-8; floats are written by kix.number"
        ) from err
    return Evaluation(value=value, tree_name=trees.tree.name)


def _judge(outcome: Outcome, trees: _Trees, again: Callable[[], Outcome]) -> SourceError | NixError:
    """The error for a run that failed."""
    match outcome.end:
        case End.TIMED_OUT:
            return NixError("evaluation took too long", hint="look for a loop in the definition")
        case End.TOO_MUCH_OUTPUT:
            return SourceError("the definition comes to more than 256 MiB", hint="look for a loop in the definition")
        case End.OUT_OF_CPU:
            return NixError("evaluation used up its CPU time", hint="look for a loop in the definition")
        case End.KILLED if outcome.code == 9:
            return NixError("nix was killed", hint="is the machine out of memory? see its system log")
        case _:
            pass
    if messages.is_out_of_memory(outcome.messages):
        return NixError("nix ran out of memory", hint="look for a loop, or evaluate less at once")
    if messages.is_stack_overflow(outcome.messages) or (outcome.end is End.KILLED and outcome.code == 11):
        return SourceError(
            "the definition calls itself without end: stack overflow", hint="look for a value that refers to itself"
        )
    if outcome.end is End.KILLED:
        return NixError(f"nix was ended by signal {outcome.code}")
    told = messages.read(outcome.messages, trees.tree.name, trees.library.name)
    if told is not None and told.file is None:
        told = messages.read(again().messages, trees.tree.name, trees.library.name) or told
    if told is None:
        return NixError(
            f"nix failed with exit code {outcome.code}: {messages.last_line(outcome.messages)}",
            hint="nix-instantiate --eval --expr 1",
        )
    return SourceError(told.message, hint=told.hint, file=told.file, line=told.line)


def _quoted(text: str) -> str:
    """A Nix string literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("${", "\\${")
    return f'"{escaped}"'
