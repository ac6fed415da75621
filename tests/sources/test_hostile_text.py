"""Whatever stands in a file, reading it ends in values or in one SourceError: never in a crash."""

import contextlib
import json
from pathlib import Path
from typing import Any

from hypothesis import given, strategies as st

from kixbot.errors import SourceError
from kixbot.model.build import SourceInfo
from kixbot.sources import document, manifests, reader
from kixbot.sources.tree import Tree

# Pieces that mean something to YAML, JSON or kix, in any order.
PIECES = st.sampled_from(
    ["- ", "? ", ": ", "{", "}", "[", "]", ",", "&a ", "*a", "<<: ", "!!int ", "!x ", "|\n", ">-\n", "'", '"', "\\", "#", "\n", "\n  ",
     "\t", "---\n", "...\n", "%YAML 1.1\n", "a", "on", "~", "0x1", "1e999", ".inf", "kind: ", "apiVersion: v1\n", "metadata: ",
     "name: ", "namespace: ", "labels: ", "items: ", "List", "\ufeff", "\x00", "\x85", "\u2028", "𝄞", "kix.run/cede: ", "data: "]
)  # fmt: skip

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["kind", "apiVersion", "metadata", "name", "namespace", "labels", "annotations", "items", "spec", "data",
                         "template", "kix.run/ignore", "kix.run/cede", "stringData", "generateName", "x"]),
        inner,
        max_size=4,
    ),
    max_leaves=10,
)  # fmt: skip

SHAPED = st.fixed_dictionaries(
    {"apiVersion": st.sampled_from(["v1", "apps/v1", "x"]) | VALUES, "kind": st.sampled_from(["Secret", "ConfigMap", "List"]) | VALUES},
    optional={"metadata": st.fixed_dictionaries({"name": st.sampled_from(["a", "b"]) | VALUES}, optional={
        "namespace": VALUES, "labels": VALUES, "annotations": VALUES, "generateName": VALUES}) | VALUES,
        "data": VALUES, "stringData": VALUES, "items": VALUES, "spec": VALUES, "status": VALUES},
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join), st.sampled_from(["a.yaml", "a.json", "-"]))
def test_any_text_is_values_or_one_error(text: str, name: str) -> None:
    with contextlib.suppress(SourceError):
        reader.read(text.encode(), file=name)


@given(st.binary(max_size=40))
def test_any_bytes_are_values_or_one_error(data: bytes) -> None:
    with contextlib.suppress(SourceError):
        reader.read(data, file="a.yaml")


@given(st.lists(PIECES, max_size=10).map("".join))
def test_every_line_that_is_told_is_one_of_the_text(text: str) -> None:
    lines: list[int | None] = []
    try:
        for found in reader.read(text.encode(), file="a.yaml"):
            lines += found.places.lines.values()
    except SourceError as error:
        lines.append(error.line)
    assert all(line is None or 1 <= line <= len(text) + 1 for line in lines)


@given(st.lists(SHAPED | VALUES, max_size=3))
def test_any_json_is_resources_or_one_error(values: list[Any]) -> None:
    text = "\n".join(json.dumps(value) for value in values)
    with contextlib.suppress(SourceError):
        manifests.load([manifests.File(name="a.json", data=text.encode(errors="surrogatepass"))])


RESOURCE = st.fixed_dictionaries({"id": st.sampled_from(["ConfigMap/a@x", "Secret/a@x"]) | VALUES, "manifest": SHAPED | VALUES}, optional={
    "hard": VALUES, "package": VALUES, "origin": VALUES, "cede": VALUES, "generated": VALUES})  # fmt: skip
DOCUMENT = st.fixed_dictionaries(
    {"schema": st.just(1), "cluster": st.fixed_dictionaries({"name": st.just("shop")}, optional={"roles": VALUES, "nodes": VALUES}) | VALUES},
    optional={"resources": st.lists(RESOURCE, max_size=2) | VALUES, "packages": VALUES, "assertions": VALUES, "externals": VALUES,
              "scorecard": VALUES, "pins": VALUES, "manifests": VALUES},
)  # fmt: skip


@given(DOCUMENT | VALUES)
def test_any_document_of_a_definition_is_decoded_or_one_error(value: Any) -> None:
    tree = Tree(root=Path("/nonexistent"), files=())
    with contextlib.suppress(SourceError):
        document.decode(value, tree=tree, tree_name="x-tree", source=SourceInfo(kind="nix", path="shop.nix"))
