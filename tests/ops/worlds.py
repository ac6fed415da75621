"""A deployed cluster to work on by hand, embedded or real, with the hands of other managers."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from kixbot.cluster.interface import Cluster
from kixbot.cluster.memory import MemoryCluster
from kixbot.cluster.opening import open_cluster
from kixbot.model.build import Build
from kixbot.model.drift import Drift
from kixbot.ops.drift import find_drift, observe_record
from kixbot.ops.observe import Observation
from kixbot.output import drift_text
from tests.builds import CLOSED, build_of
from tests.ops.deploys import SHOP, Deploys
from tests.parts.access import Access

BLUE = SHOP.replace("COLOUR", "blue")


@dataclass
class World:
    """`name` is the cluster's and the namespace's; `records` is where records stand."""

    deploys: Deploys
    name: str
    records: str
    is_real: bool = False

    @property
    def cluster(self) -> Cluster:
        return self.deploys.cluster

    def build(self, text: str = BLUE) -> Build:
        named = text.replace("namespace: shop", f"namespace: {self.name}")
        named = named.replace("metadata: {name: shop}", f"metadata: {{name: {self.name}}}")
        return build_of(named, facts=replace(CLOSED, name=self.name))

    def deploy(self, build: Build | str = BLUE, **options: Any) -> list[str]:
        made = self.build(build) if isinstance(build, str) else build
        return self.deploys.run(made, record_namespace=self.records, **options)

    def observe(self) -> Observation:
        return observe_record(self.cluster, self.name, record_namespace=self.records)

    def drift(self, *builds: Build) -> Drift:
        return find_drift(self.observe(), builds)

    def told(self, *builds: Build) -> list[str]:
        """What people read of the drift, with this world's names and times replaced."""
        drift = self.drift(*builds)
        lines = [*drift_text.section(drift, lambda ref: ref.short), *drift_text.additions(drift, lambda ref: ref.short)]
        times = {
            field.time for one in (*drift.resources, *drift.additions) for field in one.fields if field.time is not None
        }
        for time in times:
            lines = [line.replace(time, "TIME") for line in lines]
        return [line.replace(self.name, "shop") for line in lines]

    def live(self, api_version: str, kind: str, name: str) -> dict[str, Any]:
        return self.deploys.get(api_version, kind, name, self.name)

    def patch(
        self, api_version: str, kind: str, name: str, patch: dict[str, Any], *, by: str = "kubectl-edit",
        subresource: str = "",
    ) -> None:  # fmt: skip
        """A merge patch of somebody else."""
        found = self.deploys.kind(api_version, kind)
        namespace = self.name if found.namespaced else ""
        self.cluster.merge_patch(found, name, patch, namespace=namespace, manager=by, subresource=subresource)

    def apply(self, body: dict[str, Any], *, by: str, force: bool = False) -> None:
        """A server-side apply of somebody else, into the namespace."""
        found = self.deploys.kind(body["apiVersion"], body["kind"])
        placed = {**body, "metadata": {**body["metadata"], "namespace": self.name}}
        self.cluster.apply(found, placed, manager=by, force=force)

    def delete(self, api_version: str, kind: str, name: str) -> None:
        live = self.live(api_version, kind, name)
        found = self.deploys.kind(api_version, kind)
        self.cluster.delete(found, name, namespace=self.name, uid=live["metadata"]["uid"])


def embedded() -> World:
    """The embedded cluster, empty."""
    return World(deploys=Deploys(cluster=MemoryCluster()), name="shop", records="kix-system")


@contextmanager
def real(access: Access, prefix: str | None = None) -> Iterator[World]:
    """The shared control plane, with names of this test alone."""
    name = prefix or f"t{secrets.token_hex(4)}"
    cluster = open_cluster(
        context="test", kubeconfig=str(access.kubeconfig), embedded=None, environment=dict(os.environ)
    )
    yield World(deploys=Deploys(cluster=cluster), name=name, records=f"{name}-records", is_real=True)
    cluster.close()
