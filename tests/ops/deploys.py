"""Deploying small builds in tests: what the events say, in lines."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.cluster.memory import MemoryCluster
from kixbot.model.build import Build
from kixbot.model.plan import Plan
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.events import Event, Finished, Planned
from kixbot.ops.receipt import Provenance
from kixbot.output.deploy_text import Progress
from tests.builds import CLOSED, build_of

SHOP = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: shop}
data: {colour: COLOUR}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: 'registry.test/web:1', envFrom: [{configMapRef: {name: web}}]}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
"""


def shop(colour: str = "blue", *, more: str = "") -> Build:
    """A Namespace, a ConfigMap, a Deployment that reads it, a Service."""
    return build_of(SHOP.replace("COLOUR", colour) + more, facts=CLOSED)


def config_map(name: str, namespace: str = "shop") -> str:
    """One more document for `shop`."""
    return f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: {namespace}}}\ndata: {{k: v}}\n"


@dataclass
class Deploys:
    """Deploys into one cluster, remembering what was said."""

    cluster: Cluster = field(default_factory=MemoryCluster)
    events: list[Event] = field(default_factory=list)

    def run(
        self, build: Build, *, confirm: Callable[[Plan], bool] = lambda _: True, who: Provenance | None = None,
        **options: Any,
    ) -> list[str]:  # fmt: skip
        """The lines people see; the exception of a stopped deploy comes after `events` are filled."""
        self.events.clear()
        stream = deploy(
            build,
            self.cluster,
            options=DeployOptions(**options),
            who=who or Provenance(actor="ann"),
            confirm=confirm,
        )
        for event in stream:
            self.events.append(event)
        return self.lines()

    def lines(self) -> list[str]:
        """What was said so far."""
        plan = next((event.plan for event in self.events if isinstance(event, Planned)), None)
        assert plan is not None
        progress = Progress(plan)
        return [line for event in self.events for line in progress.lines(event)]

    @property
    def plan(self) -> Plan:
        return next(event.plan for event in self.events if isinstance(event, Planned))

    @property
    def finished(self) -> Finished:
        return next(event for event in self.events if isinstance(event, Finished))

    def kind(self, api_version: str, kind: str) -> ApiKind:
        found = self.cluster.discover(refresh=True).find(api_version, kind)
        assert found is not None
        return found

    def get(self, api_version: str, kind: str, name: str, namespace: str = "shop") -> dict[str, Any]:
        return self.cluster.get(self.kind(api_version, kind), name, namespace)

    def names(self, api_version: str, kind: str, namespace: str = "") -> list[str]:
        listed = self.cluster.listing(self.kind(api_version, kind), namespace=namespace)
        return [one["metadata"]["name"] for one in listed.items]

    def phases(self) -> dict[str, str]:
        listed = self.cluster.listing(self.kind("kix.run/v1alpha1", "Activation"))
        return {one["metadata"]["name"]: one["status"]["phase"] for one in listed.items}
