"""Waves: what comes before what, and that no order of traversal can change it."""

from collections.abc import Iterable
from itertools import pairwise
from random import Random
from typing import Any

from hypothesis import given, strategies as st

from kixbot.graph.components import component_of, links, settle
from kixbot.graph.edges import find
from kixbot.graph.waves import INSTALL_ORDER, install_key, waves
from kixbot.model.build import Build, Edge, EdgeKind, Package
from kixbot.model.plan import Wave
from kixbot.model.resource import Ref, Resource
from tests.graph.objects import evaluated, resource, resources

SHOP = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: clusters.postgresql.cnpg.io}
spec: {group: postgresql.cnpg.io, names: {kind: Cluster}}
---
apiVersion: v1
kind: Secret
metadata: {name: db}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web}
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: db}
spec: {bootstrap: {initdb: {secret: {name: db}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - name: web
          env: [{name: DB_HOST, value: db-rw}]
          envFrom: [{configMapRef: {name: web}}, {secretRef: {name: db}}]
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: web}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web}
spec: {rules: [{backendRefs: [{name: web, port: 80}]}]}
"""


def built(found: Iterable[Resource], edges: Iterable[Edge] | None = None, **options: Any) -> Build:
    source = evaluated(found, marked=options.pop("marked", False))
    if options:
        source = type(source)(
            cluster=source.cluster, source=source.source, resources=source.resources, marked=source.marked, **options
        )
    connected, dangling = find(source) if edges is None else (tuple(edges), ())
    settled = settle(tuple(connected), marked=source.marked)
    return Build(
        evaluated=source,
        resources=source.resources,
        edges=settled.edges,
        dangling=dangling,
        identities={},
        activation=None,
        cycles=settled.cycles,
        softened=settled.softened,
    )


def shown(found: Iterable[Wave]) -> list[str]:
    return [f"{wave.number}: " + " ".join(f"{ref.kind}/{ref.name}" for ref in wave.refs) for wave in found]


def plain(name: str, kind: str = "ConfigMap", **declared: Any) -> Resource:
    manifest: dict[str, Any] = {"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "labels": {"app": name}}}
    if kind == "Pod":
        manifest["spec"] = {"containers": []}
    return resource(manifest, **declared)


def test_the_shop_stands_in_four_waves() -> None:
    assert shown(waves(built(resources(SHOP)))) == [
        "0: Namespace/shop CustomResourceDefinition/clusters.postgresql.cnpg.io",
        "1: Secret/db ConfigMap/web",
        "2: Cluster/db",
        "3: Service/web Deployment/web",
        "4: HTTPRoute/web",
    ]


def test_operators_of_a_marked_build_stand_in_levels_of_wave_0() -> None:
    account = resource({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "op"}}, package="ops/op")
    settings = plain("settings")
    operator = resource(
        {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "op"}},
        package="ops/op",
        hard=(account.ref, settings.ref),
    )
    instance = resource(
        {"apiVersion": "kix.run/v1alpha1", "kind": "PackageInstance", "metadata": {"name": "op", "namespace": "ops"}},
        package="ops/op",
        hard=(account.ref, operator.ref),
    )
    user = plain("user")
    package = Package(id="ops/op", namespace="ops", name="op", package="op", version="1", brings_crds=True)
    found = [
        account,
        settings,
        operator,
        instance,
        user,
        *resources(SHOP.partition("---\napiVersion: v1\nkind: Secret")[0]),
    ]
    assert shown(waves(built(found, marked=True, packages=(package,)))) == [
        "0: Namespace/shop CustomResourceDefinition/clusters.postgresql.cnpg.io",
        "0: ServiceAccount/op ConfigMap/settings",
        "0: Deployment/op PackageInstance/op",
        "1: ConfigMap/user",
    ]


def test_a_package_instance_closes_its_package_and_shifts_nothing() -> None:
    a, b = plain("a"), plain("b")
    user = plain("user", hard=(b.ref,))
    instance = resource(
        {"apiVersion": "kix.run/v1alpha1", "kind": "PackageInstance", "metadata": {"name": "p"}}, hard=(a.ref, user.ref)
    )
    empty = resource({"apiVersion": "kix.run/v1alpha1", "kind": "PackageInstance", "metadata": {"name": "empty"}})
    assert shown(waves(built([instance, empty, user, b, a], marked=True))) == [
        "1: ConfigMap/a ConfigMap/b PackageInstance/empty",
        "2: ConfigMap/user PackageInstance/p",
    ]


def test_an_order_only_edge_in_a_cycle_is_dropped_and_the_hard_one_stays() -> None:
    a, b = plain("a"), plain("b")
    edges = [Edge(a.ref, b.ref, EdgeKind.HARD), Edge(b.ref, a.ref, EdgeKind.ORDER)]
    assert shown(waves(built([a, b], edges))) == ["1: ConfigMap/b", "2: ConfigMap/a"]


def test_a_stateful_set_that_names_its_service_comes_after_it_and_is_not_placed() -> None:
    text = """
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {serviceName: db, template: {metadata: {labels: {app: db}}, spec: {containers: []}}}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}}
"""
    assert shown(waves(built(resources(text)))) == ["1: Service/db", "2: StatefulSet/db"]


def test_a_webhook_waits_for_its_workload_and_custom_objects_wait_for_the_webhook() -> None:
    text = """
apiVersion: example.org/v1
kind: Cache
metadata: {name: a}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: caches}
webhooks: [{name: a, clientConfig: {service: {name: hook, namespace: shop}}, rules: [{apiGroups: [example.org]}]}]
---
apiVersion: v1
kind: Service
metadata: {name: hook}
spec: {selector: {app: hook}}
---
apiVersion: v1
kind: Pod
metadata: {name: hook, labels: {app: hook}}
spec: {containers: [], serviceAccountName: hook}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: hook}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.example.org}
spec:
  group: example.org
  names: {kind: Cache}
  conversion: {webhook: {clientConfig: {service: {name: hook, namespace: shop}}}}
"""
    assert shown(waves(built(resources(text)))) == [
        "0: CustomResourceDefinition/caches.example.org",
        "1: ServiceAccount/hook",
        "2: Service/hook Pod/hook",
        "3: ValidatingWebhookConfiguration/caches",
        "4: Cache/a",
    ]


def test_a_hard_cycle_of_plain_sources_becomes_soft_and_the_rest_keeps_its_order() -> None:
    a, b, c, d = (plain(name) for name in "abcd")
    edges = (
        Edge(a.ref, b.ref, EdgeKind.HARD),
        Edge(b.ref, c.ref, EdgeKind.HARD),
        Edge(c.ref, a.ref, EdgeKind.HARD),
        Edge(d.ref, a.ref, EdgeKind.HARD),
    )
    settled = settle(edges, marked=False)
    assert settled.softened == edges[:3]
    assert [edge.kind for edge in settled.edges] == [EdgeKind.SOFT] * 3 + [EdgeKind.HARD]
    assert shown(waves(built([a, b, c, d], edges))) == ["1: ConfigMap/a ConfigMap/b ConfigMap/c", "2: ConfigMap/d"]


def test_hard_cycles_of_a_marked_build_are_named_by_their_shortest_ring() -> None:
    a, b, c, x, y = (plain(name).ref for name in "abcxy")
    pairs = [(b, c), (c, a), (a, b), (b, a), (x, y), (y, x), (x, a)]
    settled = settle(tuple(Edge(source, target, EdgeKind.HARD) for source, target in pairs), marked=True)
    assert settled.cycles == ((a, b), (x, y))
    assert settled.softened == ()


def test_kinds_stand_in_helms_order_and_unknown_ones_after() -> None:
    refs = [
        Ref("Deployment", "apps", "shop", "a"),
        Ref("Service", "serving.knative.dev", "shop", "a"),
        Ref("PackageInstance", "kix.run", "shop", "a"),
        Ref("Service", "", "shop", "b"),
        Ref("Service", "", "shop", "a"),
        Ref("Service", "", "other", "z"),
    ]
    assert [f"{ref.kind_group}/{ref.name}" for ref in sorted(refs, key=install_key)] == [
        "Service/z",
        "Service/a",
        "Service/b",
        "Deployment/a",
        "Service.serving.knative.dev/a",
        "PackageInstance.kix.run/a",
    ]
    assert len(INSTALL_ORDER) == len(set(INSTALL_ORDER))


KINDS = st.sampled_from(["ConfigMap", "Pod", "Service", "Namespace"])


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Resource], list[Edge]]:
    found = [plain(f"n{at}", draw(KINDS)) for at in range(draw(st.integers(1, 8)))]
    refs = st.sampled_from([one.ref for one in found])
    triples = draw(
        st.lists(st.tuples(refs, refs, st.sampled_from(EdgeKind)), max_size=20, unique_by=lambda one: one[:2])
    )
    return found, [Edge(source, target, kind) for source, target, kind in triples if source != target]


@given(graphs(), st.randoms(use_true_random=False))
def test_waves_hold_every_resource_once_respect_hard_edges_and_ignore_the_order_of_input(
    graph: tuple[list[Resource], list[Edge]], random: Random
) -> None:
    found, edges = graph
    build = built(found, edges)
    result = waves(build)
    placed = {ref: at for at, wave in enumerate(result) for ref in wave.refs}
    assert sorted(placed) == sorted(one.ref for one in found)
    assert sum(len(wave.refs) for wave in result) == len(found)
    for edge in build.edges:
        if edge.kind is EdgeKind.HARD and edge.source.kind != "Namespace":
            assert placed[edge.target] < placed[edge.source], edge
    numbers = [wave.number for wave in result]
    assert numbers == sorted(numbers)
    random.shuffle(found)
    random.shuffle(edges)
    assert waves(built(found, edges)) == result


@given(graphs())
def test_order_edges_between_components_are_respected(graph: tuple[list[Resource], list[Edge]]) -> None:
    found, edges = graph
    build = built(found, edges)
    placed = {ref: at for at, wave in enumerate(waves(build)) for ref in wave.refs}
    ordering = [edge for edge in build.edges if edge.kind is not EdgeKind.SOFT and edge.source.kind != "Namespace"]
    component = component_of(links([edge for edge in ordering if edge.target.kind != "Namespace"]))
    for edge in ordering:
        if edge.target.kind == "Namespace" or component[edge.source] != component[edge.target]:
            assert placed[edge.target] < placed[edge.source], edge


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=25))
def test_components_are_sets_of_nodes_that_reach_each_other(pairs: list[tuple[int, int]]) -> None:
    nodes = [Ref("ConfigMap", "", "", str(at)) for at in range(7)]
    graph = {node: sorted({nodes[b] for a, b in pairs if nodes[a] == node}) for node in nodes}

    def reach(start: Ref) -> set[Ref]:
        found, waiting = {start}, [start]
        while waiting:
            for target in graph[waiting.pop()]:
                if target not in found:
                    found.add(target)
                    waiting.append(target)
        return found

    component = component_of(graph)
    for one in nodes:
        for other in nodes:
            together = other in reach(one) and one in reach(other)
            assert (component[one] == component[other]) == together


def test_a_chain_of_5000_has_5000_waves() -> None:
    chain = [plain(f"c{at:04}") for at in range(5000)]
    edges = [Edge(user.ref, used.ref, EdgeKind.HARD) for used, user in pairwise(chain)]
    assert len(waves(built(chain, edges))) == 5000
