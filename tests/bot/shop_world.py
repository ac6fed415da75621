"""A repository of plain manifests on the local forge, two clusters in promotion order, and runs of the bot on it."""

import io
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kixbot.bot.main import run_event
from kixbot.bot.outputs import Outputs
from kixbot.bot.settings import load
from kixbot.boundary import describe
from kixbot.cluster.memory import MemoryCluster
from kixbot.cluster.records import Records
from kixbot.errors import KixError
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE, Activation
from tests.contracts.forge_world import LocalWorld

CANARY = "ghp_canary_0123456789abcdefghij"
"""A token in the environment of every run: it must show up nowhere."""

WEB = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      automountServiceAccountToken: false
      containers:
      - name: web
        image: ghcr.io/acme/web:1.4.2
        ports: [{containerPort: 8080}]
        securityContext: {runAsNonRoot: true, runAsUser: 10001, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Namespace
metadata: {name: shop}
"""

SETTINGS = """schema = 1
[clusters.staging]
path = "staging"
[clusters.production]
path = "production"
environment = "live"
after = ["staging"]
"""


@dataclass
class Run:
    """One run of the bot: exit code, log, error lines, outputs, and the files it wrote."""

    code: int
    log: str
    outputs: dict[str, str]
    files: dict[str, str] = field(default_factory=dict)


class Shop:
    """The world. `world` is the forge's; clusters are embedded, one folder each."""

    def __init__(self, folder: Path, settings: str = SETTINGS, **files: str) -> None:
        self.folder = folder
        self.world = LocalWorld(folder / "forge.git")
        self.clusters = folder / "clusters"
        self.base = self.write("main", {"kix.toml": settings, **both(WEB), **files})

    def write(self, branch: str, files: Mapping[str, str | None]) -> str:
        """Somebody pushes files."""
        return self.world.commit(
            branch, {path: None if text is None else text.encode() for path, text in files.items()}
        )

    def propose(self, files: Mapping[str, str | None], branch: str = "change", *, fork: bool = False) -> int:
        """Somebody opens a pull request with files."""
        self.write(branch, files)
        return self.world.open(branch, fork=fork)

    def run(self, event: str, what: str = "run", **variables: str) -> Run:
        """`kixbot WHAT` as a CI job runs it, with a token in the environment."""
        environment = {
            "KIX_LOCAL_FORGE": str(self.world.folder),
            "KIX_LOCAL_EVENT": event,
            "KIX_EMBEDDED": str(self.clusters),
            "KIX_GITHUB_TOKEN": CANARY,
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary.md"),
            "GITHUB_OUTPUT": str(self.folder / "outputs"),
            **variables,
        }
        log = io.StringIO()
        place = self.folder / "out"
        outputs = Outputs(environment, place, log)
        try:
            code = int(run_event(what, load({}, environment), environment, outputs))
        except KixError as error:
            code = int(error.exit_code)
            log.write("\n".join(describe(error)) + "\n")
        files = {path.name: path.read_text() for path in place.iterdir()} if place.exists() else {}
        return Run(code=code, log=log.getvalue(), outputs=dict(outputs.values), files=files)

    def push(self, sha: str, **variables: str) -> Run:
        """The run of a push to main."""
        return self.run(f"push:{sha}", **variables)

    def review(self, number: int, **variables: str) -> Run:
        """The run of a pull request."""
        return self.run(f"pull-request:{number}", **variables)

    def comments(self, number: int) -> list[str]:
        """Bodies of all comments."""
        return [comment.body for comment in self.world.forge.list_comments(number)]

    def current(self, cluster: str) -> Activation | None:
        """What the cluster says it runs."""
        edge = MemoryCluster(self.clusters / cluster)
        return Records(edge, cluster=cluster, namespace=DEFAULT_RECORD_NAMESPACE).read().current

    def live(self, cluster: str, kind: str, name: str) -> dict[str, Any] | None:
        """An object of namespace shop as the cluster has it."""
        edge = MemoryCluster(self.clusters / cluster)
        found = next(one for one in edge.discover().kinds if one.kind == kind)
        return next((body for body in edge.listing(found).items if body["metadata"]["name"] == name), None)

    @property
    def summary(self) -> str:
        """The job summary so far."""
        file = self.folder / "summary.md"
        return file.read_text() if file.exists() else ""


def both(text: str) -> dict[str, str]:
    """The same manifests for both clusters."""
    return {"staging/web.yaml": text, "production/web.yaml": text}
