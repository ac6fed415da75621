"""`make bench`: what kix costs beside the least that has to be done, in pairs, as ratios of CPU time.

A machine's speed drifts, so each row runs both commands in turn and gives the median of the ratios; the absolute times
are there to see the size only. Nothing is asserted here: exact counters in the tests hold the cost.
"""

import json
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import yaml

PAIRS = 5
OBJECTS = 2000


def objects(count: int) -> list[dict[str, object]]:
    """Deployments, Services and ConfigMaps in equal parts, forty to a namespace."""
    made: list[dict[str, object]] = []
    for number in range(count // 3):
        name, labels = f"web{number}", {"app": f"web{number}"}
        metadata = {"name": name, "namespace": f"n{number // 40}", "labels": labels}
        container = {
            "name": "web",
            "image": "ghcr.io/acme/web:1.5.0",
            "envFrom": [{"configMapRef": {"name": name}}],
            "ports": [{"name": "http", "containerPort": 8080}],
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}},
        }
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        workload = {"selector": {"matchLabels": labels}, "template": template}
        service = {"selector": labels, "ports": [{"port": 80, "targetPort": "http"}]}
        made += [
            {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": workload},
            {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": service},
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"LEVEL": "info"}},
        ]
    return made


def cpu(command: Sequence[str], folder: Path) -> float:
    """User and system seconds of one process and what it started."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, check=False, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def row(name: str, ours: Sequence[str], least: Sequence[str], folder: Path) -> None:
    """One line: the two medians and the median of the ratios, after one pair that is not counted."""
    pairs = [(cpu(ours, folder), cpu(least, folder)) for _ in range(PAIRS + 1)][1:]
    mine, bare = (statistics.median(side) for side in zip(*pairs, strict=True))
    ratio = statistics.median(one / other for one, other in pairs)
    print(f"{name:<34} {mine:7.2f} s {bare:7.2f} s {ratio:6.1f}")


def main() -> None:
    """Print the table."""
    python = [sys.executable, "-c"]
    kix = [sys.executable, "-m", "kixbot"]
    with tempfile.TemporaryDirectory(prefix="kix-bench-") as place:
        folder = Path(place)
        made = objects(OBJECTS)
        (folder / "all.yaml").write_text(yaml.dump_all(made, Dumper=yaml.CSafeDumper), encoding="utf-8")
        (folder / "all.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": made}), "utf-8")
        print(f"{len(made)} objects, CPU of whole processes, median of {PAIRS} pairs\n")
        print(f"{'':<34} {'kix':>9} {'least':>9} {'ratio':>6}")
        parse = "import yaml; list(yaml.load_all(open('all.yaml'), Loader=yaml.CSafeLoader))"
        row("check YAML beside parsing it", [*kix, "check", "all.yaml"], [*python, parse], folder)
        parse = "import json; json.load(open('all.json'))"
        row("check JSON beside parsing it", [*kix, "check", "all.json"], [*python, parse], folder)
        digest = "import json, hashlib; [hashlib.sha256(json.dumps(o, sort_keys=True).encode()).digest()"
        digest += " for o in json.load(open('all.json'))['items']]"
        row("build JSON beside hashing it", [*kix, "build", "all.json"], [*python, digest], folder)
        row("--help beside a bare interpreter", [*kix, "--help"], [*python, "pass"], folder)


if __name__ == "__main__":
    main()
