"""Containers: images, ports, environment, resources, probes and hooks."""

from collections.abc import Iterator
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.resources import resource_field
from kixbot.checks.schema.api.rule import (
    NOT_NEGATIVE,
    PORT,
    Fields,
    Judges,
    between,
    conflict,
    exactly_one,
    named,
    needs,
    one_of,
    reads,
    table,
    unique,
    unless_empty,
)
from kixbot.checks.schema.faults import dotted, missing
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown
from kixbot.checks.shape import mapping

_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")


_FIELDS = frozenset(
    {
        "metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations",
        "spec.nodeName", "spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
    }
)  # fmt: skip


ENV_FIELDS = _FIELDS - {"metadata.labels", "metadata.annotations"}


VOLUME_FIELDS = frozenset(
    {"metadata.name", "metadata.namespace", "metadata.uid", "metadata.labels", "metadata.annotations"}
)


def field_path(allowed: frozenset[str], value: Any, at: Raw) -> Iterator[Fault]:
    """A path of the downward API: one of `allowed`, or one label or annotation by its key."""
    path = value.get("fieldPath") if isinstance(value, dict) else None
    if not isinstance(path, str) or not path:
        return
    base, bracket, rest = path.partition("['")
    if bracket and base in {"metadata.labels", "metadata.annotations"} and rest.endswith("']"):
        if names.qualified_folded(rest[:-2]) is None:
            return
    elif path in allowed:
        return
    yield Fault(
        rule="api/format",
        at=(*at, "fieldPath"),
        text=f"has {shown(path)} in {dotted(at)}.fieldPath, which names no field that pods can show",
        hint=f"write one of {', '.join(sorted(allowed))}, or metadata.labels['KEY']",
    )


def _env_source(value: Any, at: Raw) -> Iterator[Fault]:
    yield from field_path(ENV_FIELDS, value.get("fieldRef"), (*at, "fieldRef"))
    yield from resource_field(value.get("resourceFieldRef"), (*at, "resourceFieldRef"))


def _env(value: Any, at: Raw) -> Iterator[Fault]:
    if value.get("value") not in (None, "") and value.get("valueFrom") is not None:
        yield conflict(at, f"has value and valueFrom in {dotted(at)}", "keep one of them")


def _probe(value: Any, at: Raw) -> Iterator[Fault]:
    grace = value.get("terminationGracePeriodSeconds")
    if isinstance(grace, int) and grace <= 0:
        yield from between(1)(grace, (*at, "terminationGracePeriodSeconds"))


def _container(value: Any, at: Raw) -> Iterator[Fault]:
    for probe in ("livenessProbe", "startupProbe"):
        body = mapping(value.get(probe))
        if isinstance(count := body.get("successThreshold"), int) and count not in {0, 1}:
            yield Fault(
                rule="api/range",
                at=(*at, probe, "successThreshold"),
                text=f"has {count} in {dotted((*at, probe))}.successThreshold, which must be 1",
                hint="write 1, or leave it out",
            )
    if mapping(value.get("readinessProbe")).get("terminationGracePeriodSeconds") is not None:
        yield conflict(
            (*at, "readinessProbe", "terminationGracePeriodSeconds"),
            f"has terminationGracePeriodSeconds in {dotted(at)}.readinessProbe, which ends nothing",
            "remove it",
        )
    security = mapping(value.get("securityContext"))
    if security.get("allowPrivilegeEscalation") is False:
        adds = mapping(security.get("capabilities")).get("add")
        if security.get("privileged") is True:
            yield _escalates(at, "privileged")
        if isinstance(adds, list) and "CAP_SYS_ADMIN" in adds:
            yield _escalates(at, "the capability CAP_SYS_ADMIN")


def _escalates(at: Raw, by: str) -> Fault:
    return conflict(
        (*at, "securityContext", "allowPrivilegeEscalation"),
        f"forbids allowPrivilegeEscalation in {dotted(at)}.securityContext and has {by}",
        "remove one of them",
    )


def _seccomp(value: Any, at: Raw) -> Iterator[Fault]:
    local = value.get("type") == "Localhost"
    if isinstance(path := value.get("localhostProfile"), str):
        yield from reads(names.local_path)(path, (*at, "localhostProfile"))
    if local and value.get("localhostProfile") is None:
        yield missing("localhostProfile", at)
    if not local and value.get("localhostProfile") is not None:
        yield conflict(at, f"has localhostProfile in {dotted(at)} without type Localhost", "write type: Localhost")


def _http(value: Any, at: Raw) -> Iterator[Fault]:
    for place, header in enumerate(value.get("httpHeaders") or ()):
        if isinstance(header, dict) and isinstance(name := header.get("name"), str):
            yield from named(names.header_name)(name, (*at, "httpHeaders", place, "name"))


def port_of(value: Any, at: Raw) -> Iterator[Fault]:
    """A port by number or name."""
    if isinstance(value, str):
        yield from named(names.port_name)(value, at)
    else:
        yield from PORT(value, at)


_CONTAINER: Fields = {
    "": (needs("name", "image"), _container),
    "name": named(names.dns_label),
    "image": reads(names.image),
    "ports": unique("name"),
    "resizePolicy": unique("resourceName"),
    "restartPolicy": one_of("Always", "Never", "OnFailure"),
}


JUDGES: Judges = table(
    {
        "core.v1.Container": _CONTAINER,
        "core.v1.ContainerPort": {
            "name": unless_empty(named(names.port_name)),
            "containerPort": PORT,
            "hostPort": between(0, 65535),
            "": needs("containerPort"),
        },
        "core.v1.ContainerResizePolicy": {
            "": needs("restartPolicy"),
            "resourceName": one_of("cpu", "memory"),
            "restartPolicy": unless_empty(one_of("NotRequired", "RestartContainer")),
        },
        "core.v1.EnvVar": {"name": named(names.env_name), "": (needs("name"), _env)},
        "core.v1.EnvVarSource": {
            "": (
                exactly_one("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"),
                _env_source,
            )
        },
        "core.v1.EnvFromSource": {
            "": exactly_one("configMapRef", "secretRef"),
            "prefix": unless_empty(named(names.env_name)),
        },
        "core.v1.SecretEnvSource": {"": needs("name"), "name": named(names.dns_subdomain)},
        "core.v1.ConfigMapEnvSource": {"": needs("name"), "name": named(names.dns_subdomain)},
        "core.v1.SecretKeySelector": {
            "": needs("name", "key"),
            "name": named(names.dns_subdomain),
            "key": named(names.config_key),
        },
        "core.v1.ConfigMapKeySelector": {
            "": needs("name", "key"),
            "name": named(names.dns_subdomain),
            "key": named(names.config_key),
        },
        "core.v1.ObjectFieldSelector": {"": needs("fieldPath"), "apiVersion": one_of("", "v1")},
        "core.v1.ResourceFieldSelector": {"": needs("resource")},
        "core.v1.Probe": {
            "": (exactly_one(*_HANDLERS), _probe),
            "initialDelaySeconds": NOT_NEGATIVE,
            "timeoutSeconds": NOT_NEGATIVE,
            "periodSeconds": NOT_NEGATIVE,
            "successThreshold": NOT_NEGATIVE,
            "failureThreshold": NOT_NEGATIVE,
        },
        "core.v1.LifecycleHandler": {"": exactly_one("exec", "httpGet", "tcpSocket", "sleep")},
        "core.v1.ExecAction": {"": needs("command")},
        "core.v1.HTTPGetAction": {"": (needs("port"), _http), "port": port_of},
        "core.v1.TCPSocketAction": {"": needs("port"), "port": port_of},
        "core.v1.GRPCAction": {"": needs("port"), "port": PORT},
        "core.v1.SleepAction": {"seconds": NOT_NEGATIVE},
        "core.v1.SeccompProfile": {"": _seccomp},
        "core.v1.AppArmorProfile": {"": _seccomp},
        "core.v1.SecurityContext": {
            "runAsUser": between(0, 2**31 - 1),
            "runAsGroup": between(0, 2**31 - 1),
            "procMount": one_of("Default", "Unmasked"),
        },
        "core.v1.VolumeDevice": {"": needs("name", "devicePath"), "devicePath": reads(names.no_backsteps)},
        "core.v1.VolumeMount": {
            "": (needs("name", "mountPath"), exactly_one("subPath", "subPathExpr", optional=True)),
            "subPath": reads(names.local_path),
            "subPathExpr": reads(names.local_path),
        },
    }
)
