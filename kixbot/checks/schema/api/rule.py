"""How the API server's own rules are written: small judges over one value, put together in tables.

A table's key is (type, field); an empty field means the object itself. What has the wrong type reads as absent: the
schema has said so already.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.names import Syntax
from kixbot.checks.schema.faults import (
    CONFLICT,
    FORMAT,
    NAME,
    ONE_OF,
    RANGE,
    UNIQUE,
    dotted,
    missing,
    not_allowed,
    shown_key,
)
from kixbot.checks.schema.node import Fault, Judge, Raw
from kixbot.checks.schema.values import shown

Judges = Mapping[tuple[str, str], tuple[Judge, ...]]
Fields = Mapping[str, Judge | Sequence[Judge]]
"""The rules of one type by field, as tables are written."""


def needs(*fields: str) -> Judge:
    """Fields that an object must have, not empty."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        for field in fields:
            if value.get(field) in (None, "", [], {}):
                yield missing(field, at)

    return judge


def has(*fields: str) -> Judge:
    """Fields that an object must have, be they empty."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        for field in fields:
            if value.get(field) is None:
                yield missing(field, at)

    return judge


def filled(value: Any, at: Raw) -> Iterator[Fault]:
    """A field that may not be empty where it stands."""
    if value in ("", [], {}):
        yield missing(str(at[-1]), at[:-1])


def between(low: int, high: int = 2**63) -> Judge:
    """A number, or an int-or-string that is a number, within bounds."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        if isinstance(value, int) and not low <= value <= high:
            span = f"{low} to {high}" if high < 2**31 - 1 else f"{low} or more"
            yield Fault(
                rule=RANGE,
                at=at,
                text=f"has {value} in {dotted(at)}, which takes {span}",
                hint=f"write a number from {span}" if high < 2**31 - 1 else f"write {span}",
            )

    return judge


PORT = between(1, 65535)
NOT_NEGATIVE = between(0)
POSITIVE = between(1)


def reads(syntax: Syntax, rule: str = FORMAT) -> Judge:
    """A text of some syntax."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        if isinstance(value, str) and (problem := syntax(value)):
            yield Fault(
                rule=rule,
                at=at,
                text=f"has {shown(value)} in {dotted(at)}, which {problem}",
                hint=f"write {_example(syntax)}",
            )

    return judge


def named(syntax: Syntax) -> Judge:
    """A name of some syntax."""
    return reads(syntax, NAME)


def each(judge: Judge) -> Judge:
    """A rule for every item of a list."""

    def judge_all(value: Any, at: Raw) -> Iterator[Fault]:
        for place, item in enumerate(value if isinstance(value, list) else ()):
            yield from judge(item, (*at, place))

    return judge_all


def unless_empty(judge: Judge) -> Judge:
    """A rule that says nothing of an empty text."""

    def judge_filled(value: Any, at: Raw) -> Iterator[Fault]:
        if value != "":
            yield from judge(value, at)

    return judge_filled


def one_of(*allowed: str) -> Judge:
    """A text out of a list that the published schema does not have."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        if isinstance(value, str) and value not in allowed:
            yield not_allowed(value, allowed, at)

    return judge


def exactly_one(*fields: str, optional: bool = False) -> Judge:
    """An object that has one of these fields and no other of them."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        there = [field for field in fields if value.get(field) is not None]
        names = ", ".join(fields) if len(fields) <= 6 else ", ".join([*fields[:5], "…"])
        if len(there) > 1:
            yield Fault(
                rule=ONE_OF,
                at=at,
                text=f"has {' and '.join(there)} in {dotted(at)}, which takes one of them",
                hint=f"keep {there[0]} and remove the other",
            )
        elif not there and not optional:
            yield Fault(
                rule=ONE_OF, at=at, text=f"has none of {names} in {dotted(at)}", hint=f"add exactly one of {names}"
            )

    return judge


def unique(field: str, *also: str) -> Judge:
    """A list in which no two items have the same value of a field (together with `also`)."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        seen = set()
        for place, item in enumerate(value if isinstance(value, list) else ()):
            if not isinstance(item, Mapping) or not isinstance(item.get(field), str | int) or item[field] == "":
                continue
            key = tuple(str(item.get(one, "")) for one in (field, *also))
            if key in seen:
                yield Fault(
                    rule=UNIQUE,
                    at=(*at, place, field),
                    text=f"has {shown(item[field])} twice as {field} in {dotted(at)}",
                    hint=f"give each item a {field} of its own",
                )
            seen.add(key)

    return judge


def segments(value: Any, at: Raw, *fields: str) -> Iterator[Fault]:
    """Texts that become one segment of a URL."""
    for field in fields:
        if isinstance(text := value.get(field), str) and (problem := names.path_segment(text)):
            yield Fault(
                rule=NAME,
                at=(*at, field),
                text=f"has {shown(text)} in {dotted((*at, field))}, which {problem}",
                hint="write a name without '/' and '%'",
            )


def conflict(at: Raw, text: str, hint: str) -> Fault:
    """Fields that do not go together."""
    return Fault(rule=CONFLICT, at=at, text=text, hint=hint)


def keys(syntax: Syntax, rule: str = NAME) -> Judge:
    """An object whose keys have some syntax."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        for key in value:
            if problem := syntax(key):
                yield Fault(
                    rule=rule,
                    at=(*at, key),
                    text=f'has the key "{shown_key(key)}" in {dotted(at)}, which {problem}',
                    hint=f"write {_example(syntax)}",
                )

    return judge


def merged(*tables: Judges) -> dict[tuple[str, str], tuple[Judge, ...]]:
    """One table out of several; the rules for one place stand in their order."""
    found: dict[tuple[str, str], tuple[Judge, ...]] = {}
    for table in tables:
        for place, judges in table.items():
            found[place] = (*found.get(place, ()), *judges)
    return found


def table(rows: Mapping[str, Fields]) -> Judges:
    """A table written by type: {"core.v1.Pod": {"": …, "spec": …}}."""
    return {
        (name, field): (judge,) if callable(judge) else tuple(judge)
        for name, fields in rows.items()
        for field, judge in fields.items()
    }


_EXAMPLES = {
    "dns_label": "a name such as web-1",
    "dns_1035_label": "a name such as web-1",
    "dns_subdomain": "a name such as web-1 or web.example.org",
    "csi_driver": "a name such as csi.example.org",
    "domain_path": "a name such as example.org/ingress",
    "search_domain": "a domain such as svc.cluster.local",
    "wildcard_or_subdomain": "a host such as shop.example.org or *.example.org",
    "path_segment": "a name such as reader",
    "qualified": "a key such as app or example.org/app",
    "qualified_folded": "a key such as note or example.org/note",
    "label_value": "a value such as web-1.5_b",
    "finalizer": "a name such as example.org/keep",
    "sysctl": "a name such as net.ipv4.tcp_syncookies",
    "image": "the reference without spaces",
    "port_name": "a name such as http or http-2",
    "config_key": "a key such as log.level",
    "env_name_of_old": "a name such as LOG_LEVEL",
    "kind": "a kind such as Pod",
    "env_name": "a name such as LOG_LEVEL",
    "header_name": "a name such as X-Probe",
    "percent": 'a number or "25%"',
    "ip": "an address such as 192.0.2.1 or 2001:db8::1",
    "cidr": "a range such as 10.0.0.0/8",
    "spec_path": "a path such as .spec.replicas",
    "status_path": "a path such as .status.replicas",
    "json_path": "a path such as .spec.replicas",
    "webhook_path": "a path such as /validate",
    "absolute_path": "a path such as /healthz",
    "local_path": "a path such as folder/file",
    "file_path": "a path such as folder/file",
    "no_backsteps": "a path without '..'",
    "time_zone": "a name such as Etc/UTC or Europe/Berlin",
    "cron": '"minute hour day month weekday", such as "0 3 * * *"',
}


def _example(syntax: Syntax) -> str:
    return _EXAMPLES.get(getattr(syntax, "__name__", ""), "what belongs there")
