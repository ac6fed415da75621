"""Where findings stand, for the formats of forges, which take none without a file and a line."""

from urllib.parse import quote

from kixbot.model.finding import Finding
from kixbot.model.resource import Location

SETTINGS = "kix.toml"
"""The file shown for what stands nowhere: a suppression, an external, a setting of the cluster."""


def file_of(location: Location | None) -> str:
    """The file of a place relative to the repository, without a leading `./`."""
    return location.file.removeprefix("./") if location else SETTINGS


def line_of(location: Location | None) -> int:
    """The line, 1 where it is not known."""
    return (location.line if location else None) or 1


def uri_of(location: Location | None) -> str:
    """The file as a relative URI: nothing in its name can be a scheme, a query or a fragment."""
    return quote(file_of(location).encode(errors="surrogatepass"), safe="/._-~")


def sentence(finding: Finding) -> str:
    """The message with its hint, as one text."""
    return f"{finding.message}\nhint: {finding.hint}" if finding.hint else finding.message
