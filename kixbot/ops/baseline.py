"""The findings another build is compared with, read back from a document of `kix check -o json`."""

import json
from collections.abc import Mapping
from typing import Any

from kixbot.errors import UsageError
from kixbot.model.finding import Confidence, Finding, Severity, State
from kixbot.model.resource import BUILTIN_GROUPS, Location, Ref

SCHEMA = 1


def decode(text: str, *, file: str) -> dict[str, Finding]:
    """The document's findings by fingerprint, those that were fixed already left out.

    Raises UsageError where it is no such document.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_document(file) from error
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        raise _no_document(file)
    try:
        findings = [_finding(entry) for entry in document["findings"]]
    except (KeyError, TypeError, ValueError) as error:
        raise _no_document(file) from error
    return {finding.fingerprint: finding for finding in findings if finding.state is not State.FIXED}


def _no_document(file: str) -> UsageError:
    return UsageError(f"{file}: not a document of kix check", hint=f"kix check -o json > {file}")


def _finding(entry: Mapping[str, Any]) -> Finding:
    location = entry["location"]
    return Finding(
        rule=_text(entry["rule"]),
        severity=Severity(entry["severity"]),
        confidence=Confidence(entry["confidence"]),
        message=_text(entry["message"]),
        ref=_ref(entry["resource"]) if entry["resource"] else None,
        package=entry["package"],
        path=entry["path"] or "",
        hint=entry["hint"],
        location=Location(file=_text(location["file"]), line=location["line"]) if location else None,
        state=State(entry["state"]) if entry["state"] else None,
        fingerprint=_text(entry["fingerprint"]),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def _ref(written: str) -> Ref:
    """`Kind[.group]/name[@namespace]` back into its parts; of built-in kinds the group stays unknown."""
    kind_group, _, rest = written.partition("/")
    name, _, namespace = rest.partition("@")
    kind, dot, group = kind_group.partition(".")
    if dot and group in BUILTIN_GROUPS:
        raise ValueError("a built-in group is not written out")
    return Ref(kind, group, namespace, name)
