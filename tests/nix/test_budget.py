"""What an evaluation may cost, counted and not timed: Nix's own counters, which are the same on every machine.

The figures are those of 300 instances and 4,810 resources, with a fifth to spare; that evaluation takes about half a
second of CPU and 200 MiB.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

from kixbot.sources.nix import LIBRARY
from tests.parts.second_nix import Nix

CALLS = 2_200_000
THUNKS = 3_200_000
ALLOCATED_BYTES = 280_000_000
CLUSTER = Path(__file__).parent / "large_cluster.nix"


def counted(nix: Nix, instances: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The document, and Nix's counters."""
    done = subprocess.run(
        [str(nix.folder / "nix-instantiate"), "--eval", "--strict", "--json", "--expr",
         f"import {CLUSTER} (import {LIBRARY}) {instances}"],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NIX_SHOW_STATS": "1"},
    )  # fmt: skip
    return json.loads(done.stdout), json.loads(done.stderr[done.stderr.index("{") :])


def test_three_hundred_instances_stay_within_the_budget(first_nix: Nix) -> None:
    document, counters = counted(first_nix, 300)
    assert (len(document["packages"]), len(document["resources"])) == (300, 4810)
    assert counters["nrFunctionCalls"] < CALLS
    assert counters["nrThunks"] < THUNKS
    assert counters["gc"]["totalBytes"] < ALLOCATED_BYTES


def test_the_cost_grows_with_the_cluster_and_not_faster(first_nix: Nix) -> None:
    _, small = counted(first_nix, 100)
    _, large = counted(first_nix, 400)
    assert large["nrFunctionCalls"] < 4.2 * small["nrFunctionCalls"]
    assert large["nrThunks"] < 4.2 * small["nrThunks"]


def test_a_chain_of_five_thousand_references_is_evaluated(first_nix: Nix) -> None:
    expression = f"""
        let
          kix = import {LIBRARY};
          inherit (kix) lib;
          chain = {{ scope }}: {{
            name = "chain";
            build = _:
              let
                linkOf = n: scope.mkConfigMap {{
                  name = "c${{toString n}}";
                  data.before = if n == 0 then "" else (lib.elemAt links (n - 1)).out.name;
                }};
                links = lib.genList linkOf 5000;
              in
              lib.listToAttrs (lib.imap0 (n: lib.nameValuePair "c${{toString n}}") links);
          }};
        in
        (kix.buildCluster {{ name = "c"; modules = [ {{ instances.a.chain.package = chain; }} ]; }}).document.resources
    """
    hard = {found["id"]: found["hard"] for found in json.loads(first_nix.evaluate(expression))}
    assert hard["ConfigMap/c4999@a"] == ["ConfigMap/c4998@a"]
    assert sum(len(references) for name, references in hard.items() if name.startswith("ConfigMap")) == 4999
