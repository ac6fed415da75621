"""The same paths and bytes from the real Nix: `builtins.toFile` and `builtins.toJSON` are the oracle, in two versions."""

import json
import os
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from kixbot.identity import activation, canonical, identify, store_path
from kixbot.model.resource import Ref, Resource
from tests.parts.second_nix import Nix

# Everything but floats, NUL, \b and \f, which definitions may not hold (Nix prints, cuts or cannot write them).
HARD_VALUES: list[Any] = [
    {},
    [],
    "",
    {"a": {}, "b": []},
    {"é": 1, "z": 2, "A": 3, "_": 4, "a": 5, "日本": 6, "\U0001f600": 7, "\uffff": 8},
    {"quote": '"', "backslash": "\\", "both": '\\"', "slash": "a/b", "lines": "a\nb\r\n\tc"},
    {"control": "\x01\x02\x1b\x1f\x7f", "c1": "\x80\x9f", "separators": "\u2028\u2029", "bom": "\ufeff"},
    {"dollar": "${x}", "interpolation": "$${y}", "quotes": "''", "escape": "\\u0041", "b": "\\b\\f"},
    {"max": 2**63 - 1, "min": -(2**63 - 1), "zero": 0, "negative": -1},
    {"true": True, "false": False},
    {"list": [1, "two", [3, {"four": 5}]], "deep": {"a": {"b": {"c": {"d": ["e"]}}}}},
    {"long": "x" * 10000},
    {"bidi": "\u202e\u2066", "combining": "e\u0301", "private": "\ue000", "astral": "\U0010ffff"},
]


def evaluate(nix: Nix, expression: str, data: Any, folder: Path) -> Any:
    """Evaluates a function of `data` with the real Nix; nothing is written to a store."""
    (folder / "data.json").write_text(json.dumps(data), encoding="utf-8")
    program = f"({expression}) (builtins.fromJSON (builtins.readFile {folder / 'data.json'}))"
    done = subprocess.run(
        ["nix-instantiate", "--eval", "--strict", "--json", "--store", f"local?root={folder}", "-E", program],
        env=nix.environment({"PATH": os.environ["PATH"], "HOME": str(folder)}),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("value", HARD_VALUES, ids=range(len(HARD_VALUES)))
def test_canonical_text_equals_to_json(value: Any, each_nix: Nix, tmp_path: Path) -> None:
    assert canonical(value) == evaluate(each_nix, "builtins.toJSON", value, tmp_path)


BODIES = [canonical(value) for value in HARD_VALUES] + ['{"x":"\\u0008\\u000c"}', '{"x":0.1}', '{"x":1e22}', "{}", "x"]


def test_store_paths_equal_to_file(each_nix: Nix, tmp_path: Path) -> None:
    found = evaluate(each_nix, 'map (body: "${builtins.toFile "ConfigMap-shop-web.json" body}")', BODIES, tmp_path)
    assert found == [store_path("ConfigMap-shop-web.json", body, ()) for body in BODIES]


def test_store_paths_with_references_equal_to_file(each_nix: Nix, tmp_path: Path) -> None:
    expression = """data: let
      leaves = map (name: builtins.toFile name "leaf") data.names;
      body = builtins.foldl' (text: leaf: text + builtins.substring 0 0 leaf) "body" leaves;
    in { inherit leaves; root = builtins.toFile "root.json" body; }"""
    names = ["z.json", "a.json", "Secret--x.json", "_=+?.json", "0" * 200 + ".json"]
    leaves = [store_path(name, "leaf", ()) for name in names]
    assert evaluate(each_nix, expression, {"names": names}, tmp_path) == {
        "leaves": leaves,
        "root": store_path("root.json", "body", [*leaves, *leaves]),
    }


def resource(name: str) -> Resource:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"name": name}}
    return Resource(ref=Ref("ConfigMap", "", "shop", name), api_version="v1", manifest=manifest)


def test_identities_of_a_chain_and_its_activation_equal_to_file(each_nix: Nix, tmp_path: Path) -> None:
    names = [f"c{at:04}" for at in range(400)]
    chain = [resource(name) for name in names]
    edges = {user.ref: (used.ref,) for used, user in pairwise(chain)}
    identities = identify(chain, edges)
    expression = """data: let
      step = paths: row: let
        last = if paths == [ ] then "" else builtins.substring 0 0 (builtins.head paths);
      in [ (builtins.toFile row.name (row.body + last)) ] ++ paths;
      paths = builtins.foldl' step [ ] data.rows;
      context = builtins.foldl' (text: path: text + builtins.substring 0 0 path) "" paths;
    in { inherit paths; root = builtins.toFile "Activation-shop.json" (data.activation + context); }"""
    root = activation("shop", chain, identities)
    rows = [{"name": f"ConfigMap-shop-{one.ref.name}.json", "body": identities[one.ref].body} for one in chain]
    assert evaluate(each_nix, expression, {"rows": rows, "activation": root.body}, tmp_path) == {
        "paths": [identities[one.ref].path for one in reversed(chain)],
        "root": root.path,
    }
