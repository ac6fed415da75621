"""The local forge's records: one JSON document a file, written whole, beside the repository they speak of."""

import json
import os
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kixbot.errors import ForgeError
from kixbot.forges.interface import NotFoundError

_LONGEST_NAME = 200
"""Bytes of a file's name; file systems stop at 255."""


class Store:
    """Documents in folders below `root`. Names of files come from numbers and quoted texts only."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def find(self, folder: str, name: str) -> dict[str, Any] | None:
        """One document, None when it is not there."""
        return self._read(self._path(folder, name))

    def get(self, folder: str, name: str, what: str) -> dict[str, Any]:
        """One document. Raises NotFoundError with `what` in its sentence."""
        found = self.find(folder, name)
        if found is None:
            raise NotFoundError(f"{what}: not in the local forge")
        return found

    def list(self, folder: str) -> list[dict[str, Any]]:
        """All documents of a folder, numbers in their order."""
        paths = sorted((self._root / folder).glob("*.json"), key=lambda path: (len(path.name), path.name))
        return [document for document in map(self._read, paths) if document is not None]

    def write(self, folder: str, name: str, document: Mapping[str, Any]) -> None:
        """Replaces a document as one step."""
        self._replace(self._path(folder, name), document)

    def add(self, folder: str, document: Mapping[str, Any]) -> int:
        """Writes a document under the next free number, and gives the number (also stored as `number`)."""
        place = self._root / folder
        place.mkdir(parents=True, exist_ok=True)
        number = 1 + max((int(path.stem) for path in place.glob("*.json") if path.stem.isdecimal()), default=0)
        while True:
            path = place / f"{number}.json"
            try:
                # Reserves the number against another process; the content follows as one step.
                path.open("x").close()
            except FileExistsError:
                number += 1
                continue
            self._replace(path, {"number": number, **document})
            return number

    def _path(self, folder: str, name: str) -> Path:
        quoted = quote(name, safe="")
        if len(quoted) > _LONGEST_NAME:
            quoted = quoted[:_LONGEST_NAME] + "-" + sha256(name.encode()).hexdigest()[:12]
        return self._root / folder / f"{quoted}.json"

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        try:
            document = json.loads(text) if text else None
        except ValueError as error:
            raise ForgeError(f"{path}: not a JSON document", hint="mend or remove this file") from error
        if document is not None and not isinstance(document, dict):
            raise ForgeError(f"{path}: not a JSON object", hint="mend or remove this file")
        return document

    @staticmethod
    def _replace(path: Path, document: Mapping[str, Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=2, ensure_ascii=False, sort_keys=True)
            file.write("\n")
        Path(name).replace(path)
