"""Reading and replacing pins.json: a reader sees the old file or the new one, and two writers never lose a change.

The lock is on the file's folder, so that no lock file is left beside what is committed. It is held while the file is
read again, changed and replaced, never while a registry is asked.
"""

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from kixbot.errors import OutsideError, SourceError
from kixbot.model.pin import Pins
from kixbot.model.pinfile import decode, encode
from kixbot.sources.text import MAX_BYTES


def find_pins(file: Path) -> Pins | None:
    """The pins of a file, or None where there is no such file. Raises SourceError for what is not one."""
    try:
        # Without O_NONBLOCK a named pipe would hold us here.
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                raise SourceError(f"{file}: not a regular file")
            body = opened.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return None
    except IsADirectoryError as error:
        raise SourceError(f"{file}: a folder, where a file of pins is needed") from error
    except OSError as error:
        raise SourceError(f"{file}: cannot be read: {(error.strerror or 'unknown').lower()}") from error
    if len(body) > MAX_BYTES:
        raise SourceError(f"{file}: larger than {MAX_BYTES >> 20} MiB")
    try:
        return decode(body.decode("utf-8-sig"), file=str(file))
    except UnicodeDecodeError as error:
        raise SourceError(f"{file}: not UTF-8") from error


def get_pins(file: Path) -> Pins:
    """As `find_pins`, but an absent file is a SourceError."""
    pins = find_pins(file)
    if pins is None:
        raise SourceError(f"{file}: no such file", hint="kix pin add IMAGE:TAG makes it")
    return pins


def edit_pins(file: Path, change: Callable[[Pins], Pins]) -> Pins:
    """Read, change and replace the file in one step, and give what it now holds; an absent file is an empty one.

    What `change` raises leaves the file as it was; a change to the same bytes does not touch it.
    """
    # A symlink's target is replaced, not the link.
    target = Path(os.path.realpath(file))
    with _locked(target.parent, file):
        old = find_pins(target)
        new = change(old or Pins())
        text = encode(new)
        if old is None or encode(old) != text:
            _replace(target, text, file)
    return new


@contextlib.contextmanager
def _locked(folder: Path, file: Path) -> Iterator[None]:
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError as error:
        raise OutsideError(f"{file}: its folder cannot be opened: {(error.strerror or 'unknown').lower()}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _replace(target: Path, text: str, file: Path) -> None:
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o644
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as opened:
            opened.write(text)
            opened.flush()
            os.fchmod(opened.fileno(), mode)
            os.fsync(opened.fileno())
        Path(temporary).replace(target)
        temporary = None
        _sync(target.parent)
    except OSError as error:
        raise OutsideError(f"{file}: cannot be written: {(error.strerror or 'unknown').lower()}") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                Path(temporary).unlink()


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
