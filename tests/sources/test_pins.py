"""pins.json on disk: whole or not at all, and no change lost."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kixbot.errors import OutsideError, SourceError
from kixbot.model.pin import Pin, Pins
from kixbot.model.pinfile import decode, encode
from kixbot.sources.pins import edit_pins, find_pins, get_pins

ROOT = Path(__file__).parent.parent.parent
D = "sha256:" + "a" * 64


def pins(*keys: str) -> Pins:
    return Pins(pins={key: Pin(key=key, image=f"ghcr.io/acme/{key}", tag="1.0", digest=D) for key in keys})


def test_an_absent_file_has_no_pins(tmp_path: Path) -> None:
    assert find_pins(tmp_path / "pins.json") is None
    with pytest.raises(SourceError, match=r"pins\.json: no such file"):
        get_pins(tmp_path / "pins.json")


def test_an_edit_makes_the_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "pins.json"
    assert edit_pins(file, lambda _: pins("web")) == pins("web")
    assert file.read_text() == encode(pins("web"))
    assert [file.name for file in tmp_path.iterdir()] == ["pins.json"]
    assert file.stat().st_mode & 0o777 == 0o644


def test_an_edit_sees_what_is_there_and_keeps_the_files_mode(tmp_path: Path) -> None:
    file = tmp_path / "pins.json"
    file.write_text(encode(pins("web")))
    file.chmod(0o600)
    seen: list[Pins] = []

    def change(now: Pins) -> Pins:
        seen.append(now)
        return pins("web", "db")

    edit_pins(file, change)
    assert seen == [pins("web")]
    assert get_pins(file) == pins("web", "db")
    assert file.stat().st_mode & 0o777 == 0o600


def test_an_edit_that_changes_nothing_does_not_touch_the_file(tmp_path: Path) -> None:
    file = tmp_path / "pins.json"
    file.write_text(json.dumps({"version": 1, "pins": {}}))
    before = file.stat()
    edit_pins(file, lambda now: now)
    after = file.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_what_a_change_raises_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "pins.json"
    file.write_text(encode(pins("web")))

    def change(now: Pins) -> Pins:
        raise OutsideError("a registry is down")

    with pytest.raises(OutsideError):
        edit_pins(file, change)
    assert file.read_text() == encode(pins("web"))
    assert [file.name for file in tmp_path.iterdir()] == ["pins.json"]


def test_a_linked_file_is_replaced_where_it_lies(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "pins.json").symlink_to("real/shop.json")
    edit_pins(tmp_path / "pins.json", lambda _: pins("web"))
    assert (tmp_path / "pins.json").is_symlink()
    assert get_pins(tmp_path / "real" / "shop.json") == pins("web")


FULL = """
import os, resource, signal, sys
from pathlib import Path
from kixbot.errors import OutsideError
from kixbot.model.pinfile import decode
from kixbot.sources.pins import edit_pins

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
file, new = Path(sys.argv[1]), sys.argv[2]
old = file.read_bytes()
for room in range(len(new.encode())):
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
    try:
        edit_pins(file, lambda now: decode(new))
    except OutsideError as error:
        assert "cannot be written: file too large" in error.message, error.message
    else:
        raise SystemExit(f"written in {room} bytes")
    assert file.read_bytes() == old, room
    assert os.listdir(file.parent) == [file.name], room
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
edit_pins(file, lambda now: decode(new))
"""


def test_a_write_that_ends_at_any_byte_leaves_the_old_file_whole(tmp_path: Path) -> None:
    file, new = tmp_path / "pins.json", encode(pins("web", "db"))
    file.write_text(encode(pins("web")))
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(file), new], env={"PYTHONPATH": str(ROOT)}, check=False, capture_output=True
    )
    assert done.stderr.decode() == ""
    assert file.read_text() == new


ADD = """
import dataclasses, sys
from pathlib import Path
from kixbot.model.pin import Pin
from kixbot.sources.pins import edit_pins

for number in range(20):
    key = f"{sys.argv[2]}{number}"
    pin = Pin(key=key, image="ghcr.io/a", tag="1", digest="sha256:" + "a" * 64)
    edit_pins(Path(sys.argv[1]), lambda now: dataclasses.replace(now, pins={**now.pins, key: pin}))
"""


def test_writers_at_the_same_time_lose_no_change(tmp_path: Path) -> None:
    file = tmp_path / "pins.json"
    writers = [
        subprocess.Popen([sys.executable, "-c", ADD, str(file), name], env={"PYTHONPATH": str(ROOT)})
        for name in ("a", "b", "c")
    ]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len(decode(file.read_text()).pins) == 60


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda file: file.mkdir(), "a folder, where a file of pins is needed"),
        (lambda file: file.write_bytes(b"\xff\xfe"), "not UTF-8"),
        (os.mkfifo, "not a regular file"),
        (lambda file: file.symlink_to(file.name), "cannot be read: too many levels of symbolic links"),
        (lambda file: file.write_text("{}"), '"version" is needed, an integer'),
    ],
)  # fmt: skip
def test_what_is_no_file_of_pins_is_named(tmp_path: Path, make: object, message: str) -> None:
    file = tmp_path / "pins.json"
    assert callable(make)
    make(file)
    with pytest.raises(SourceError) as caught:
        find_pins(file)
    assert caught.value.message == f"{file}: {message}"


def test_a_byte_order_mark_is_read_over(tmp_path: Path) -> None:
    (tmp_path / "pins.json").write_bytes(b"\xef\xbb\xbf" + encode(pins("web")).encode())
    assert get_pins(tmp_path / "pins.json") == pins("web")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match="its folder cannot be opened: no such file or directory"):
        edit_pins(tmp_path / "absent" / "pins.json", lambda now: now)
