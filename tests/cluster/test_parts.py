"""Rows of a record as parts: the same after a round trip, bounded in both directions."""

import base64
import gzip
import json
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from kixbot.cluster.parts import PART_BYTES, READ_BYTES, pack, unpack
from kixbot.errors import ClusterError
from kixbot.model.activation import RecordRow
from kixbot.model.resource import Ref

TEXT = st.text(max_size=20)
ROWS = st.builds(
    RecordRow,
    ref=st.builds(Ref, TEXT, TEXT, TEXT, TEXT),
    api_version=TEXT,
    uid=TEXT,
    content_hash=TEXT,
    identity=TEXT,
    package=st.none() | TEXT,
    left_out=st.lists(TEXT, max_size=3).map(tuple),
    resource_version=TEXT,
    owned=st.sampled_from(["", '{"f:data":{}}', '{"f:spec":{}}']),
    value_hash=TEXT,
    cede=st.lists(TEXT, max_size=3).map(tuple),
)


@given(st.lists(ROWS, max_size=20, unique_by=lambda row: row.ref))
def test_rows_are_the_same_after_a_round_trip(rows: list[RecordRow]) -> None:
    parts = pack(rows)
    found = [row for part in parts for row in unpack(part, what="part")]
    assert found == sorted(rows, key=lambda row: row.ref)
    assert pack(reversed(rows)) == parts


def test_twenty_thousand_rows_fit_into_parts_below_the_limit() -> None:
    rows = [
        RecordRow(
            ref=Ref("ConfigMap", "", f"team-{number % 100}", f"settings-{number}"),
            api_version="v1",
            uid=f"{number:032x}",
            content_hash=f"{number * 7919:064x}",
            identity=f"{number * 104729:032x}",
            package=f"team-{number % 100}/app",
            resource_version=str(number),
            owned='{"f:data":{"f:k":{}}}',
            value_hash=f"{number * 15485863:032x}",
        )
        for number in range(20_000)
    ]
    parts = pack(rows)
    assert 1 < len(parts) < 16
    assert all(len(base64.b64decode(part)) <= PART_BYTES for part in parts)
    assert [row for part in parts for row in unpack(part, what="part")] == sorted(rows, key=lambda row: row.ref)


def test_a_part_that_unpacks_to_too_much_is_not_read() -> None:
    bomb = base64.b64encode(gzip.compress(b" " * (READ_BYTES + 1))).decode()
    with pytest.raises(ClusterError, match="ConfigMap x: the record's part unpacks to more than 64 MiB; not read"):
        unpack(bomb, what="ConfigMap x")


def packed(document: bytes) -> str:
    return base64.b64encode(gzip.compress(document, mtime=0)).decode()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not base64!",
        base64.b64encode(b"no gzip").decode(),
        packed(b"[]"),
        packed(b'{"schema":1,"rows":[[]],"sets":[]}'),
        packed(b'{"schema":1,"rows":[[["x"],"","a","b","v1","","","",null,[],"",0,"",[]]],"sets":[""]}'),
        packed(b"[" * 100_000),
    ],
    ids=["empty", "no base64", "no gzip", "no document", "a row without fields", "a row without text", "too deep"],
)
def test_a_damaged_part_is_one_clear_error(text: str) -> None:
    with pytest.raises(ClusterError, match="ConfigMap x: the record's part is damaged"):
        unpack(text, what="ConfigMap x")


def test_a_part_of_a_newer_kix_says_so() -> None:
    (part,) = pack([RecordRow(ref=Ref("A", "", "", "a"), api_version="v1")])
    document = json.loads(gzip.decompress(base64.b64decode(part)))
    newer = packed(json.dumps({**document, "schema": 2}).encode())
    with pytest.raises(ClusterError, match="written by a newer kix"):
        unpack(newer, what="part")


def test_one_distinct_set_of_owned_paths_is_stored_once() -> None:
    row = RecordRow(ref=Ref("A", "", "", "a"), api_version="v1", owned='{"f:data":{}}')
    (part,) = pack([replace(row, ref=Ref("A", "", "", str(number))) for number in range(50)])
    document = json.loads(gzip.decompress(base64.b64decode(part)))
    assert document["sets"] == ['{"f:data":{}}']
