"""The shop before and after a change, as real builds: image 1.4.2 to 1.5.0, grafana twice, valkey added."""

from typing import Any

from kixbot.model.build import Build, ClusterFacts, Evaluated, Package, SourceInfo
from kixbot.model.resource import Ref, Resource, split_api_version
from kixbot.ops.build import assemble

QUIET = ("cache", "certificates", "db", "dns", "ingress", "logs", "mail", "metrics")
"""Eight packages that do not change; with the Namespaces, which count as one, nine."""


def resource(api_version: str, kind: str, name: str, namespace: str, package: str | None, **rest: Any) -> Resource:
    hard = rest.pop("hard", ())
    metadata: dict[str, Any] = {"name": name, **rest.pop("metadata", {})}
    if namespace:
        metadata["namespace"] = namespace
    manifest = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}
    ref = Ref(kind=kind, group=split_api_version(api_version)[0], namespace=namespace, name=name)
    return Resource(ref=ref, api_version=api_version, manifest=manifest, package=package, hard=hard)


def deployment(name: str, namespace: str, image: str, **spec: Any) -> Resource:
    pods = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": name, "image": image}]}}
    return resource("apps/v1", "Deployment", name, namespace, f"{namespace}/{name}", spec={**spec, "template": pods})


def closed(name: str, namespace: str, *members: Resource) -> tuple[Resource, ...]:
    """A package's resources and the PackageInstance that refers to them all."""
    hard = tuple(member.ref for member in members)
    instance = resource("kix.run/v1alpha1", "PackageInstance", name, namespace, f"{namespace}/{name}", hard=hard)
    return (*members, instance)


def shop(*, image: str, version: str, grafana: int, valkey: bool) -> Build:
    web = deployment("web", "shop", image)
    scaler = resource(
        "autoscaling/v2", "HorizontalPodAutoscaler", "web", "shop", "shop/web", spec={"maxReplicas": 9}, hard=(web.ref,)
    )
    found = [
        *closed("web", "shop", web, scaler),
        *closed(
            "grafana",
            "monitoring",
            deployment("grafana", "monitoring", "docker.io/grafana/grafana:11.2.0", replicas=grafana),
        ),
        *(one for name in QUIET for one in closed(name, "base", deployment(name, "base", f"ghcr.io/acme/{name}:1"))),
        *(resource("v1", "Namespace", name, "", None) for name in ("base", "monitoring", "shop")),
    ]
    versions = {"shop/web": version, "monitoring/grafana": "11.2.0", **{f"base/{name}": "1" for name in QUIET}}
    if valkey:
        versions["shop/valkey"] = "8.0.2"
        found += closed(
            "valkey",
            "shop",
            resource("v1", "ConfigMap", "valkey", "shop", "shop/valkey", data={"valkey.conf": "maxmemory 1gb\n"}),
            resource("v1", "Service", "valkey", "shop", "shop/valkey", spec={"selector": {"app": "valkey"}}),
            resource("apps/v1", "StatefulSet", "valkey", "shop", "shop/valkey", spec={"serviceName": "valkey"}),
        )
    packages = tuple(
        Package(
            id=one,
            namespace=one.partition("/")[0],
            name=one.partition("/")[2],
            package=one.partition("/")[2],
            version=text,
        )
        for one, text in versions.items()
    )
    return build(*found, packages=packages)


def build(*resources: Resource, packages: tuple[Package, ...] = (), marked: bool = True) -> Build:
    return assemble(
        Evaluated(
            cluster=ClusterFacts(name="shop"),
            source=SourceInfo(kind="nix", path="clusters/shop.nix"),
            resources=resources,
            packages=packages,
            marked=marked,
        )
    )


def before() -> Build:
    return shop(image="ghcr.io/acme/web:1.4.2", version="1.4.2", grafana=1, valkey=False)


def after() -> Build:
    return shop(image="ghcr.io/acme/web:1.5.0", version="1.5.0", grafana=2, valkey=True)
