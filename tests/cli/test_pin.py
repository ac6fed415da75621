"""`kix pin` as people type it: arguments to exit code, stdout, stderr and the file."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kixbot.registry.loopback import LoopbackRegistry
from kixbot.registry.memory import ImageRecipe, ImageStore, make_image
from tests.cli.typed import kix

ROOT = Path(__file__).parent.parent.parent
SCHEMAS = ROOT / "docs" / "schemas"
OLD = make_image(ImageRecipe())
NEW = make_image(
    ImageRecipe(
        created="2026-09-09T10:47:00Z", user="101", labels={"org.opencontainers.image.revision": "c1b8d5e\x1b[2J"}
    )
)


class Shop:
    """A folder with a kix.toml that looks ghcr.io up at a loopback registry."""

    def __init__(self, folder: Path, store: ImageStore, server: LoopbackRegistry, down: str) -> None:
        self.folder = folder
        self.store = store
        self.server = server
        mirrors = f'[registries.mirrors]\n"ghcr.io" = "{server.host}/ghcr.io"\n"down.example" = "{down}"\n'
        (folder / "kix.toml").write_text(f"schema = 1\n{mirrors}")

    def kix(self, *words: str) -> int:
        return kix(self.folder, "pin", *words)

    @property
    def file(self) -> Path:
        return self.folder / "pins.json"

    @property
    def pins(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.file.read_text())["pins"]
        return found


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path / "no-logins"))
    monkeypatch.setenv("GITHUB_TOKEN", "canary-token")
    store = ImageStore()
    store.put("ghcr.io/acme/web", "1.4.2", OLD)
    store.put("ghcr.io/acme/web", "1.5.0", NEW)
    store.put("ghcr.io/acme/db", "17.2-bookworm", OLD)
    with LoopbackRegistry(store) as server, socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody else can take the port, and it refuses
        yield Shop(tmp_path, store, server, f"127.0.0.1:{taken.getsockname()[1]}")


@pytest.fixture
def pinned(shop: Shop, capsys: pytest.CaptureFixture[str]) -> Shop:
    assert shop.kix("add", "ghcr.io/acme/web:1.4.2", "--update", "^1.4") == 0
    assert shop.kix("add", "ghcr.io/acme/db:17.2-bookworm", "--key", "db", "--update", "17.*-bookworm") == 0
    capsys.readouterr()
    return shop


def document(capsys: pytest.CaptureFixture[str], schema: str) -> Any:
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, json.loads((SCHEMAS / f"{schema}.json").read_text()))
    return found


def test_add_makes_the_file(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert shop.kix("add", "ghcr.io/acme/web:1.5.0", "--update", "^1.4") == 0
    assert capsys.readouterr().out == f"web ghcr.io/acme/web:1.5.0@{NEW.top}\n"
    assert shop.file.read_text() == (
        "{\n"
        '  "pins": {\n'
        '    "web": {\n'
        f'      "digest": "{NEW.top}",\n'
        '      "image": "ghcr.io/acme/web",\n'
        '      "tag": "1.5.0",\n'
        '      "update": "^1.4",\n'
        '      "user": 101\n'
        "    }\n"
        "  },\n"
        '  "version": 1\n'
        "}\n"
    )
    jsonschema.validate(json.loads(shop.file.read_text()), json.loads((SCHEMAS / "pins.json").read_text()))


def test_set_moves_one_pin_and_shows_the_evidence(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert pinned.kix("set", "web", "--tag", "1.5.0") == 0
    assert capsys.readouterr().out == (
        "web ghcr.io/acme/web: 1.4.2 -> 1.5.0\n"
        f"  {OLD.top} -> {NEW.top}\n"
        "  created 2026-09-09T10:47:00Z, linux/amd64 linux/arm64, revision c1b8d5e\\x1b[2J\n"
    )
    assert pinned.pins["web"]["digest"] == NEW.top
    assert pinned.kix("set", "web", "--tag", "1.5.0") == 0
    assert capsys.readouterr().out == "web is at 1.5.0 already\n"


def test_list_is_a_table_and_asks_no_registry(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    asked = len(pinned.server.lines)
    assert pinned.kix("list") == 0
    short = f"sha256:{OLD.top[7:19]}"
    assert capsys.readouterr().out == (
        "KEY  IMAGE             TAG            DIGEST               UPDATE\n"
        f"db   ghcr.io/acme/db   17.2-bookworm  {short}  17.*-bookworm\n"
        f"web  ghcr.io/acme/web  1.4.2          {short}  ^1.4\n"
    )
    assert len(pinned.server.lines) == asked
    assert pinned.kix("list", "-o", "json") == 0
    assert [entry["key"] for entry in document(capsys, "pin-list")["pins"]] == ["db", "web"]


def test_update_moves_what_its_rule_lets_through(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert pinned.kix("update") == 0
    said = capsys.readouterr()
    assert said.out == (
        "web ghcr.io/acme/web: 1.4.2 -> 1.5.0\n"
        f"  {OLD.top} -> {NEW.top}\n"
        "  created 2026-09-09T10:47:00Z, linux/amd64 linux/arm64, revision c1b8d5e\\x1b[2J\n"
        "1 pin moved, 1 unchanged\n"
    )
    assert said.err == f"web: ghcr.io/acme/web:1.4.2 moves to 1.5.0@{NEW.top[:19]}\n"
    assert pinned.pins["web"] == {
        "digest": NEW.top, "image": "ghcr.io/acme/web", "tag": "1.5.0", "update": "^1.4", "user": 101,
    }  # fmt: skip
    assert pinned.kix("update") == 0
    assert capsys.readouterr().out == "0 pins moved, 2 unchanged\n"


def test_a_dry_run_writes_nothing(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    before = pinned.file.read_bytes()
    assert pinned.kix("update", "--dry-run") == 0
    assert capsys.readouterr().out.endswith("1 pin would move, 1 unchanged\n")
    assert pinned.file.read_bytes() == before
    assert pinned.kix("update", "--dry-run", "-o", "json", "web") == 0
    assert document(capsys, "pin-update") == {
        "schema": 1,
        "dryRun": True,
        "changes": [
            {
                "key": "web",
                "image": "ghcr.io/acme/web",
                "from": {"tag": "1.4.2", "digest": OLD.top},
                "to": {"tag": "1.5.0", "digest": NEW.top},
                "created": "2026-09-09T10:47:00Z",
                "platforms": ["linux/amd64", "linux/arm64"],
                "revision": "c1b8d5e\x1b[2J",
            }
        ],
        "failures": [],
        "unchanged": 0,
    }


def test_a_registry_that_is_down_is_one_message_and_nothing_is_written(
    pinned: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.loads(pinned.file.read_text())
    for number in range(3):
        text["pins"][f"down{number}"] = {
            "image": f"down.example/x{number}", "tag": "1", "digest": OLD.top, "update": "tag",
        }  # fmt: skip
    pinned.file.write_text(json.dumps(text))
    before = pinned.file.read_bytes()
    assert pinned.kix("--help") == 0
    capsys.readouterr()
    assert pinned.kix("update") == 4
    said = capsys.readouterr()
    assert said.out == ""
    (error,) = [line for line in said.err.splitlines() if line.startswith(("error:", "warning:"))]
    assert error.endswith(": cannot be reached: connection refused (pin down0, down1, down2)")
    assert "canary" not in said.err
    assert pinned.file.read_bytes() == before


def test_keep_going_writes_the_others_and_still_fails(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    pinned.store.untag("ghcr.io/acme/db", "17.2-bookworm")
    assert pinned.kix("update", "--keep-going") == 4
    said = capsys.readouterr()
    assert said.out.endswith("1 pin moved, 0 unchanged, 1 not looked up\n")
    assert said.err.splitlines()[1:] == [
        "error: ghcr.io/acme/db:17.2-bookworm: not found (MANIFEST_UNKNOWN) (pin db)",
        "  hint: check the name and the tag",
    ]
    assert pinned.pins["web"]["tag"] == "1.5.0"


@pytest.mark.parametrize(
    ("happens", "words", "code", "result"),
    [
        ("nothing", (), 0, "ok"),
        ("moved", (), 0, "tag moved"),
        ("moved", ("--fail-on", "moved"), 1, "tag moved"),
        ("untagged", (), 0, "tag gone"),
        ("untagged", ("--fail-on", "tag-gone"), 1, "tag gone"),
        ("gone", (), 1, "digest gone"),
    ],
)
def test_check_ends_with_what_it_found(
    pinned: Shop, happens: str, words: tuple[str, ...], code: int, result: str, capsys: pytest.CaptureFixture[str]
) -> None:
    match happens:
        case "moved":
            pinned.store.put("ghcr.io/acme/web", "1.4.2", NEW)
        case "untagged":
            pinned.store.untag("ghcr.io/acme/web", "1.4.2")
        case "gone":
            pinned.store.delete("ghcr.io/acme/web", OLD.top)
    assert pinned.kix("check", "web", "-o", "json", *words) == code
    assert document(capsys, "pin-check")["pins"][0]["result"] == result


def test_check_is_a_table(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    pinned.store.put("ghcr.io/acme/web", "1.4.2", NEW)
    assert pinned.kix("check") == 0
    assert capsys.readouterr().out == (
        "KEY  IMAGE                          RESULT     DETAILS\n"
        "db   ghcr.io/acme/db:17.2-bookworm  ok         -\n"
        f"web  ghcr.io/acme/web:1.4.2         tag moved  the tag names {NEW.top} now\n"
    )


def test_a_check_without_an_answer_ends_with_4_and_a_proven_no_with_1(
    pinned: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.loads(pinned.file.read_text())
    text["pins"]["down"] = {"image": "down.example/x", "tag": "1", "digest": OLD.top}
    pinned.file.write_text(json.dumps(text))
    assert pinned.kix("check") == 4
    assert "down  down.example/x:1               offline  127.0.0.1:" in capsys.readouterr().out
    pinned.store.delete("ghcr.io/acme/web", OLD.top)
    assert pinned.kix("check") == 1


def test_remove_takes_a_pin_out(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    assert pinned.kix("remove", "db") == 0
    assert capsys.readouterr().out == "db removed\n"
    assert list(pinned.pins) == ["web"]


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("add", "ghcr.io/acme/web"), 2, 'error: pin "web": is there already'),
        (("add", "ghcr.io/acme/Web"), 2, 'error: image "ghcr.io/acme/Web": not a name a registry takes'),
        (("add", "ghcr.io/acme/api"), 4, "error: ghcr.io/acme/api:latest: not found (MANIFEST_UNKNOWN)"),
        (("set", "api", "--tag", "1"), 2, 'error: pin "api": there is none of that key'),
        (("set", "web"), 2, "error: Missing option '--tag'."),
        (("set", "web", "--tag", "9.9"), 4, "error: ghcr.io/acme/web:9.9: not found (MANIFEST_UNKNOWN)"),
        (("remove", "api"), 2, 'error: pin "api": there is none of that key'),
        (("update", "api"), 2, 'error: pin "api": there is none of that key'),
        (("check", "--mirror", "x"), 2, 'error: --mirror "x": NAME=HOST is needed'),
        (("list", "--file", "absent.json"), 3, "error: {}/absent.json: no such file"),
    ],
)
def test_what_cannot_be_done_is_one_message_with_a_hint(
    pinned: Shop, words: tuple[str, ...], code: int, error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = pinned.file.read_bytes()
    assert pinned.kix(*words) == code
    said = capsys.readouterr()
    first, hint = said.err.splitlines()
    assert first == error.format(pinned.folder)
    assert hint.startswith("  hint: ")
    assert said.out == ""
    assert pinned.file.read_bytes() == before


def test_the_clusters_of_the_settings_name_the_file(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    settings = pinned.folder / "kix.toml"
    text = settings.read_text().replace(
        "[registries", '[clusters.shop]\npath = "shop.nix"\npins = "shop/pins.json"\n[registries', 1
    )
    settings.write_text(text)
    (pinned.folder / "shop").mkdir()
    assert pinned.kix("add", "ghcr.io/acme/web:1.5.0") == 0
    assert (pinned.folder / "shop" / "pins.json").is_file()
    settings.write_text(text.replace("[registries", '[clusters.other]\npath = "other.nix"\n[registries', 1))
    capsys.readouterr()
    assert pinned.kix("list") == 2
    assert capsys.readouterr().err == (
        "error: the clusters have several files of pins\n  hint: --file pins.json or shop/pins.json\n"
    )
    assert pinned.kix("list", "--file", "shop/pins.json") == 0


def test_no_client_is_loaded_to_list_pins(pinned: Shop) -> None:
    program = (
        "import sys\n"
        "from kixbot.cli.main import run\n"
        "code = run(['pin', 'list'])\n"
        "print(code, sorted({'urllib3', 'kubernetes', 'github', 'gitlab', 'pydantic', 'tenacity'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=pinned.folder, env={"PYTHONPATH": str(ROOT)}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


def test_a_file_of_a_newer_version_is_left_alone(pinned: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    text = '{"version": 2, "pins": {}}'
    pinned.file.write_text(text)
    for words in (("update",), ("add", "ghcr.io/acme/web:1.5.0"), ("remove", "web")):
        assert pinned.kix(*words) == 3
        assert "version 2 is newer than this kix reads (1)" in capsys.readouterr().err
    assert pinned.file.read_text() == text
