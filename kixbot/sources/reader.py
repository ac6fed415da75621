"""One file of YAML or JSON: the documents in it."""

from kixbot.errors import SourceError
from kixbot.sources import strictjson, yaml
from kixbot.sources.text import Document, decode


def read(data: bytes, *, file: str) -> tuple[Document, ...]:
    """The documents of a file, empty ones left out. Raises SourceError with file and line.

    Text that opens like JSON is read as JSON, as kubectl does; where it is none, it may still be YAML's flow style,
    unless the name ends in `.json`.
    """
    text = decode(data, file=file)
    if file.endswith(".json"):
        return strictjson.parse(text, file=file)
    if text.lstrip()[:1] not in {"{", "["}:
        return yaml.parse(text, file=file)
    try:
        return strictjson.parse(text, file=file)
    except SourceError as broken:
        if "broken JSON" not in broken.message:
            raise
        try:
            return yaml.parse(text, file=file)
        except SourceError:
            raise broken from None
