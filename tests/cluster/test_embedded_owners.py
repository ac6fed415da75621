"""The embedded cluster against the real one: the same writes in the same order give the same values and owners."""

import os
import secrets
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from kixbot.cluster.faults import ConflictError, RejectedError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.cluster.memory import MemoryCluster
from kixbot.cluster.opening import open_cluster
from kixbot.diff.ownership import managed_fields, parse_fields, render_path
from tests.parts.access import Access


class Write(NamedTuple):
    """One write: by whom, how, which value for each key (absent: not sent), which containers."""

    manager: str
    how: str
    data: dict[str, str]
    containers: dict[str, str]


# Never empty: the API server drops an empty `data` when it stores it but keeps its owner, which is not claimed.
VALUES = st.dictionaries(st.sampled_from("abc"), st.sampled_from(["1", "2"]), min_size=1, max_size=3)
WRITES = st.builds(
    Write,
    manager=st.sampled_from(["kix", "other", "third"]),
    how=st.sampled_from(["apply", "apply", "force", "patch", "dry-run"]),
    data=VALUES,
    containers=st.dictionaries(
        st.sampled_from(["web", "proxy"]), st.sampled_from(["i:1", "i:2"]), min_size=1, max_size=2
    ),
)


@pytest.fixture(scope="module")
def both(control_plane: Access) -> Iterator[tuple[Cluster, Cluster]]:
    real = open_cluster(
        context="test", kubeconfig=str(control_plane.kubeconfig), embedded=None, environment=dict(os.environ)
    )
    yield MemoryCluster(), real
    real.close()


def bodies(write: Write, name: str) -> list[dict[str, Any]]:
    """A ConfigMap (a granular map) and a Deployment (a list with keys), in the default namespace."""
    metadata = {"name": name, "namespace": "default"}
    settings_ = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": write.data}
    env = [{"name": key.upper(), "value": value} for key, value in sorted(write.data.items())]
    containers = [
        {"name": container, "image": image, **({"env": env} if env else {})}
        for container, image in sorted(write.containers.items())
    ]
    spec = {
        "replicas": 0,
        "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": containers}},
    }
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}
    return [settings_, deployment]


def kind_of(cluster: Cluster, body: dict[str, Any]) -> ApiKind:
    found = cluster.discover().find(body["apiVersion"], body["kind"])
    assert found is not None
    return found


def outcome(cluster: Cluster, body: dict[str, Any], write: Write) -> Any:
    """What the write answers: the values and who owns which path, or the conflicts."""
    kind = kind_of(cluster, body)
    try:
        if write.how == "patch":
            if body["kind"] != "ConfigMap":
                return "not tried"  # a merge patch replaces lists, which is another matter
            patch = {"data": write.data}
            name = body["metadata"]["name"]
            answer = cluster.merge_patch(kind, name, patch, namespace="default", manager=write.manager)
        else:
            force, dry = write.how == "force", write.how == "dry-run"
            answer = cluster.apply(kind, body, manager=write.manager, force=force, dry_run=dry)
    except ConflictError as error:
        return sorted((one.field, one.manager) for one in error.conflicts)
    return seen(answer)


def seen(body: dict[str, Any]) -> Any:
    owners = sorted(
        (entry["manager"], entry["operation"], sorted(map(render_path, parse_fields(entry["fieldsV1"]))))
        for entry in managed_fields(body)
        if not entry.get("subresource") and entry["manager"] in ("kix", "other", "third")
    )
    return owners, body.get("data", {}), containers_of(body)


def containers_of(body: dict[str, Any]) -> Any:
    found = body.get("spec", {}).get("template", {}).get("spec", {}).get("containers", [])
    return sorted(
        (one["name"], one["image"], sorted((env["name"], env.get("value")) for env in one.get("env", [])))
        for one in found
    )


@settings(
    max_examples=12,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(writes=st.lists(WRITES, min_size=2, max_size=6))
def test_the_same_writes_give_the_same_values_owners_and_conflicts(
    both: tuple[Cluster, Cluster], writes: list[Write]
) -> None:
    name = f"t{secrets.token_hex(6)}"
    first = Write("kix", "apply", {"a": "1"}, {"web": "i:1"})
    for write in [first, *writes]:
        for body in bodies(write, name):
            embedded, real = both
            try:
                expected = outcome(real, body, write)
            except RejectedError:
                continue  # a container left without its image: validation, which the embedded one does not claim
            assert outcome(embedded, body, write) == expected, (write, body["kind"])
    for body in bodies(first, name):
        for cluster in both:
            kind = kind_of(cluster, body)
            live = cluster.get(kind, name, "default")
            cluster.delete(kind, name, namespace="default", uid=live["metadata"]["uid"])
