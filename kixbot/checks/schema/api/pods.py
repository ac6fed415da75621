"""Pod specs: what holds across containers and volumes, scheduling, DNS."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import (
    NOT_NEGATIVE,
    Judges,
    between,
    conflict,
    each,
    named,
    needs,
    one_of,
    reads,
    table,
    unique,
    unless_empty,
)
from kixbot.checks.schema.faults import UNIQUE, VOLUME_MOUNT, dotted, missing
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown
from kixbot.checks.shape import mapping, mappings

_ROLES = ("initContainers", "containers", "ephemeralContainers")


def _containers(spec: Mapping[str, Any], at: Raw) -> Iterator[tuple[str, Mapping[str, Any], Raw]]:
    for role in _ROLES:
        listed = spec.get(role)
        for place, body in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(body, dict):
                yield role, body, (*at, role, place)


def _names(spec: Any, at: Raw) -> Iterator[Fault]:
    """One name for one container, over both lists; the walk has found repeats within one of them."""
    seen: dict[str, str] = {}
    for role, body, where in _containers(spec, at):
        name = body.get("name")
        if isinstance(name, str) and name and seen.setdefault(name, role) != role:
            yield Fault(
                rule=UNIQUE,
                at=(*where, "name"),
                text=f"has {shown(name)} in {seen[name]} and in {role} of {dotted(at)}",
                hint="rename one of the containers",
            )


_CLAIMS = frozenset({"persistentVolumeClaim", "ephemeral"})


def judge_mounts(spec: Any, at: Raw, extra: frozenset[str] = frozenset()) -> Iterator[Fault]:
    """Every mount names a volume; `extra` are volumes that claim templates make."""
    volumes = {volume.get("name"): volume for volume in mappings(spec.get("volumes"))}
    for _, body, where in _containers(spec, at):
        for field in ("volumeMounts", "volumeDevices"):
            for place, mount in enumerate(body.get(field) or () if isinstance(body.get(field), list) else ()):
                name = mount.get("name") if isinstance(mount, dict) else None
                if not isinstance(name, str) or not name:
                    continue
                if name not in volumes and name not in extra:
                    known = ", ".join(sorted({str(one) for one in volumes} | extra)) or "(none)"
                    yield Fault(
                        rule=VOLUME_MOUNT,
                        at=(*where, field, place, "name"),
                        text=f"mounts {shown(name)} in {dotted(where)}, which is no volume of the pod",
                        hint=f"volumes of the pod: {known}",
                    )
                elif field == "volumeDevices" and not _CLAIMS & set(volumes.get(name, _CLAIMS)):
                    yield conflict(
                        (*where, field, place, "name"),
                        f"has {shown(name)} as a device in {dotted(where)}, which is no volume claim",
                        "mount it with volumeMounts",
                    )
        yield from _paths(body, where)


def _paths(body: Mapping[str, Any], where: Raw) -> Iterator[Fault]:
    mounts = mappings(body.get("volumeMounts"))
    devices = mappings(body.get("volumeDevices"))
    paths = {mount.get("mountPath") for mount in mounts}
    mounted = {mount.get("name") for mount in mounts}
    for device in devices:
        if device.get("devicePath") in paths or device.get("name") in mounted:
            yield conflict(
                (*where, "volumeDevices"),
                f"has {shown(device.get('name'))} as a mount and as a device in {dotted(where)}",
                "keep one of them",
            )


def _host(spec: Any, at: Raw) -> Iterator[Fault]:
    network = spec.get("hostNetwork") is True
    used: dict[tuple[str, str, str], Raw] = {}
    for role, body, where in _containers(spec, at):
        for place, port in enumerate(mappings(body.get("ports"))):
            number, outer = port.get("containerPort"), port.get("hostPort")
            if network and isinstance(outer, int) and outer and outer != number:
                yield conflict(
                    (*where, "ports", place, "hostPort"),
                    f"has hostPort {outer} and containerPort {number} in {dotted(where)}; hostNetwork makes them one",
                    f"write {number}, or leave hostPort out",
                )
            bound = outer or (number if network else None)
            if isinstance(bound, int) and role == "containers":
                key = (str(port.get("protocol") or "TCP"), str(port.get("hostIP") or ""), str(bound))
                if key in used:
                    yield Fault(
                        rule=UNIQUE,
                        at=(*where, "ports", place),
                        text=f"binds port {bound} of the node twice, in {dotted(where)}",
                        hint="take another port",
                    )
                used[key] = where
    if spec.get("shareProcessNamespace") is True and spec.get("hostPID") is True:
        yield conflict(at, f"has shareProcessNamespace and hostPID in {dotted(at)}", "keep one of them")


def _windows(spec: Any, at: Raw) -> Iterator[Fault]:
    """Fields that only Linux has, in a pod that says it is for Windows."""
    if mapping(spec.get("os")).get("name") != "windows":
        return
    for field in ("hostPID", "hostIPC", "shareProcessNamespace"):
        if spec.get(field):
            yield conflict((*at, field), f"has {field} in {dotted(at)}, which Windows does not know", "remove it")
    security = mapping(spec.get("securityContext"))
    for field in ("seLinuxOptions", "seccompProfile", "fsGroup", "fsGroupChangePolicy", "sysctls", "runAsUser",
                  "runAsGroup", "supplementalGroups"):  # fmt: skip
        if field in security:
            yield conflict(
                (*at, "securityContext", field),
                f"has {field} in {dotted(at)}.securityContext, which Windows does not know",
                "remove it",
            )


def _init(spec: Any, at: Raw) -> Iterator[Fault]:
    for role, body, where in _containers(spec, at):
        if role == "initContainers" and body.get("restartPolicy") != "Always":
            for field in ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle"):
                if body.get(field):
                    yield conflict(
                        (*where, field),
                        f"has {field} in {dotted(where)}, which only a sidecar may have",
                        "remove it, or write restartPolicy: Always to make the container a sidecar",
                    )
        if role == "containers" and body.get("restartPolicy") == "Always" and not body.get("restartPolicyRules"):
            yield conflict(
                (*where, "restartPolicy"),
                f"has restartPolicy in {dotted(where)}, which belongs to init containers and to the pod",
                f"write it under {dotted(at)}",
            )


def _dns(spec: Any, at: Raw) -> Iterator[Fault]:
    if spec.get("dnsPolicy") == "None" and not mapping(spec.get("dnsConfig")).get("nameservers"):
        yield missing("nameservers", (*at, "dnsConfig"))


def _gates(spec: Any, at: Raw) -> Iterator[Fault]:
    if spec.get("schedulingGates") and spec.get("nodeName"):
        yield conflict(
            (*at, "nodeName"), f"has nodeName and schedulingGates in {dotted(at)}", "remove nodeName or the gates"
        )


def _aliases(value: Any, at: Raw) -> Iterator[Fault]:
    for place, host in enumerate(value.get("hostnames") or ()):
        if isinstance(host, str):
            yield from named(names.dns_subdomain)(host, (*at, "hostnames", place))


def _sleeps(spec: Any, at: Raw) -> Iterator[Fault]:
    """A hook may sleep as long as the pod has to end, at most."""
    grace = spec.get("terminationGracePeriodSeconds")
    grace = 30 if grace is None else grace
    for _, body, where in _containers(spec, at):
        for hook in ("preStop", "postStart"):
            seconds = mapping(mapping(mapping(body.get("lifecycle")).get(hook)).get("sleep")).get("seconds")
            if isinstance(seconds, int) and isinstance(grace, int) and seconds > grace:
                yield conflict(
                    (*where, "lifecycle", hook, "sleep", "seconds"),
                    f"sleeps {seconds} s in {dotted(where)}.lifecycle.{hook}, longer than the pod may ({grace} s)",
                    "sleep shorter, or raise terminationGracePeriodSeconds",
                )


JUDGES: Judges = table(
    {
        "core.v1.PodSpec": {
            "": (needs("containers"), _names, _host, _windows, _init, _dns, _gates, _sleeps),
            "activeDeadlineSeconds": between(1, 2**31 - 1),
            "terminationGracePeriodSeconds": NOT_NEGATIVE,
            "hostname": unless_empty(named(names.dns_label)),
            "subdomain": unless_empty(named(names.dns_label)),
            "serviceAccountName": unless_empty(named(names.dns_subdomain)),
            "nodeName": unless_empty(named(names.dns_subdomain)),
            "priorityClassName": unless_empty(named(names.dns_subdomain)),
            "runtimeClassName": named(names.dns_subdomain),
        },
        "core.v1.PodSecurityContext": {
            "runAsUser": between(0, 2**31 - 1),
            "runAsGroup": between(0, 2**31 - 1),
            "fsGroup": between(0, 2**31 - 1),
            "supplementalGroups": each(between(0, 2**31 - 1)),
            "sysctls": unique("name"),
        },
        "core.v1.Sysctl": {"": needs("name"), "name": named(names.sysctl)},
        "core.v1.PodDNSConfig": {"nameservers": each(reads(names.ip)), "searches": each(named(names.search_domain))},
        "core.v1.PodDNSConfigOption": {"": needs("name")},
        "core.v1.HostAlias": {"": (needs("ip"), _aliases), "ip": reads(names.ip)},
        "core.v1.PodOS": {"": needs("name"), "name": one_of("linux", "windows")},
        "core.v1.PodReadinessGate": {"conditionType": named(names.qualified)},
        "core.v1.PodSchedulingGate": {"name": named(names.qualified)},
    }
)
