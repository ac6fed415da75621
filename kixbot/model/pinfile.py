"""pins.json as text: decoding with every refusal, encoding with stable bytes.

The file is `{"$schema"?, "pins": {KEY: {image, tag, digest, user?, update?, frozen?}}, "version": 1}`: keys sorted, two
spaces, a final newline, no times (they would change hashes). Fields this version does not know are kept as they were.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from kixbot.errors import SourceError
from kixbot.model.pin import PINS_VERSION, Pin, Pins

PINS_FILE = "pins.json"

KEY = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
# Tags and digests as the distribution specification writes them.
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")

_KNOWN = ("digest", "frozen", "image", "tag", "update", "user")


def encode(pins: Pins) -> str:
    """The file's text. Equal pins give equal bytes; `decode(encode(pins)) == pins`."""
    document = {
        **pins.extra,
        "version": PINS_VERSION,
        "pins": {key: _encode_pin(pin) for key, pin in pins.pins.items()},
    }
    return json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def decode(text: str, *, file: str = PINS_FILE) -> Pins:
    """The pins of a file's text; `file` is its name in messages.

    Raises SourceError for broken JSON, a key that stands twice, a newer version, and fields of the wrong shape.
    """
    document = _parse(text, file)
    if not isinstance(document, dict):
        raise SourceError(f"{file}: an object is needed at the top", hint='{"version": 1, "pins": {}}')
    _check_version(document.get("version"), file)
    entries = document.get("pins")
    if not isinstance(entries, dict):
        raise SourceError(f'{file}: "pins" is needed, an object of pins by key')
    return Pins(
        pins={key: _decode_pin(key, entry, file) for key, entry in sorted(entries.items())},
        extra={name: value for name, value in document.items() if name not in ("version", "pins")},
    )


def _encode_pin(pin: Pin) -> dict[str, Any]:
    entry: dict[str, Any] = {**pin.extra, "image": pin.image, "tag": pin.tag, "digest": pin.digest}
    if pin.user is not None:
        entry["user"] = pin.user
    if pin.update is not None:
        entry["update"] = pin.update
    if pin.frozen:
        entry["frozen"] = True
    return entry


def _parse(text: str, file: str) -> Any:
    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for name, value in items:
            if name in seen:
                raise SourceError(f'{file}: "{name}" stands twice in one object', hint="keep one of them")
            seen[name] = value
        return seen

    def number(word: str) -> float:
        value = float(word)
        if not math.isfinite(value):
            raise SourceError(f"{file}: {word} is not a number JSON can hold")
        return value

    try:
        text.encode()  # lone surrogates of a caller
        document = json.loads(text, object_pairs_hook=pairs, parse_constant=number, parse_float=number)
        json.dumps(document, ensure_ascii=False).encode()  # and of an escape such as \ud800
    except json.JSONDecodeError as error:
        hint = "mend it, or take the last good one: git restore " + file
        raise SourceError(f"{file}: not JSON: {error.msg.lower()}", hint=hint, file=file, line=error.lineno) from error
    except UnicodeEncodeError as error:
        raise SourceError(f"{file}: holds half of a surrogate pair, which is no text") from error
    except RecursionError as error:
        raise SourceError(f"{file}: nested too deeply") from error
    except ValueError as error:
        # Python refuses to read integers of more than 4,300 digits.
        raise SourceError(f"{file}: holds a number that is too long") from error
    return document


def _check_version(version: object, file: str) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise SourceError(f'{file}: "version" is needed, an integer', hint=f'"version": {PINS_VERSION}')
    if version > PINS_VERSION:
        raise SourceError(
            f"{file}: version {version} is newer than this kix reads ({PINS_VERSION})", hint="use a newer kix"
        )


def _decode_pin(key: str, entry: object, file: str) -> Pin:
    place = f'{file}: pin "{key}"'
    if not KEY.fullmatch(key):
        raise SourceError(f"{place}: a key holds letters, digits, _ . - and begins with one of the first three")
    if not isinstance(entry, dict):
        raise SourceError(f"{place}: an object is needed, with image, tag and digest")
    user = entry.get("user")
    if user is not None and (isinstance(user, bool) or not isinstance(user, str | int)):
        raise SourceError(f"{place}: user is a name or a number")
    frozen = entry.get("frozen", False)
    if not isinstance(frozen, bool):
        raise SourceError(f"{place}: frozen is true or false")
    return Pin(
        key=key,
        image=_decode_image(entry, place),
        tag=_text(entry, "tag", place, TAG, "a tag such as 1.28-alpine"),
        digest=_text(entry, "digest", place, DIGEST, "sha256: and 64 hexadecimal digits"),
        user=user,
        update=_optional_text(entry, "update", place),
        frozen=frozen,
        extra={name: value for name, value in entry.items() if name not in _KNOWN},
    )


def _decode_image(entry: Mapping[str, Any], place: str) -> str:
    image = entry.get("image")
    # Only what would make `image:tag@digest` mean something else; the registry room parses the rest.
    if not isinstance(image, str) or not re.fullmatch(r"[A-Za-z0-9\[][A-Za-z0-9._:/\[\]-]*", image):
        raise SourceError(f"{place}: image is needed, such as ghcr.io/acme/web")
    if ":" in image.rpartition("/")[2]:
        raise SourceError(f'{place}: image "{image}" holds a tag', hint='write the tag under "tag"')
    return image


def _text(entry: Mapping[str, Any], name: str, place: str, form: re.Pattern[str], example: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not form.fullmatch(value):
        raise SourceError(f"{place}: {name} is needed, {example}", hint="kix pin set KEY --tag TAG writes it")
    return value


def _optional_text(entry: Mapping[str, Any], name: str, place: str) -> str | None:
    value = entry.get(name)
    if value is None or (isinstance(value, str) and value):
        return value
    raise SourceError(f"{place}: {name} is a text")
