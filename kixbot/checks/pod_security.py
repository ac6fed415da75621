"""The Pod Security Standards, control by control and as they are in each minor version.

https://kubernetes.io/docs/concepts/security/pod-security-standards/ and the checks of k8s.io/pod-security-admission:
a control of a level judges every container, init and ephemeral ones too.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from kixbot.checks.pods import Pods
from kixbot.checks.shape import at, keyed, labels, mapping, text
from kixbot.model.path import member

Level = Literal["baseline", "restricted"]
Minor = int


class Violation(NamedTuple):
    """A place that a control forbids; `fact` continues the sentence "Deployment shop/web …"."""

    control: str
    path: str
    fact: str


Control = Callable[[Pods, Minor], Iterator[Violation]]

BASELINE_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
        "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
_SELINUX_TYPES = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
_VOLUMES = frozenset(
    {
        "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected",
        "secret",
    }
)  # fmt: skip
_SYSCTLS: tuple[tuple[Minor, frozenset[str]], ...] = (
    (
        0,
        frozenset(
            {
                "kernel.shm_rmid_forced",
                "net.ipv4.ip_local_port_range",
                "net.ipv4.ip_unprivileged_port_start",
                "net.ipv4.ping_group_range",
                "net.ipv4.tcp_syncookies",
            }
        ),
    ),
    (27, frozenset({"net.ipv4.ip_local_reserved_ports"})),
    (
        29,
        frozenset(
            {
                "net.ipv4.tcp_fin_timeout",
                "net.ipv4.tcp_keepalive_intvl",
                "net.ipv4.tcp_keepalive_probes",
                "net.ipv4.tcp_keepalive_time",
            }
        ),
    ),
    (32, frozenset({"net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"})),
    (37, frozenset({"net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_slow_start_after_idle"})),
)
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
_PROFILES = frozenset({"RuntimeDefault", "Localhost"})


def minor_of(version: str) -> Minor:
    """`1.34` and `v1.34.2` to 34; what is no version counts as the newest."""
    parts = version.removeprefix("v").split(".")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdecimal() else 99


def violations(pods: Pods, level: Level, minor: Minor) -> Iterator[Violation]:
    """What a level forbids; restricted holds all of baseline."""
    for control in (*BASELINE.values(), *(RESTRICTED.values() if level == "restricted" else ())):
        yield from control(pods, minor)


def _contexts(pods: Pods) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """Who, where and what: the security context of the pod and of each container."""
    yield "", f"{pods.spec_path}.securityContext", at(pods.spec, "securityContext")
    for one in pods.containers:
        yield f"container '{one.name}' ", f"{one.path}.securityContext", at(one.body, "securityContext")


def _is_windows(pods: Pods) -> bool:
    return at(pods.spec, "os").get("name") == "windows"


def _is_relaxed(pods: Pods, minor: Minor) -> bool:
    """Whether the pod's root is nobody outside of it (user namespaces count from 1.35 on)."""
    return minor >= 35 and pods.spec.get("hostUsers") is False


def _host_namespaces(pods: Pods, _: Minor) -> Iterator[Violation]:
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if pods.spec.get(field) is True:
            yield Violation("host-namespaces", f"{pods.spec_path}.{field}", f"sets {field}")


def _privileged(pods: Pods, _: Minor) -> Iterator[Violation]:
    for who, path, context in _contexts(pods):
        if context.get("privileged") is True:
            yield Violation("privileged", f"{path}.privileged", f"{who}is privileged")


def _capabilities(pods: Pods, _: Minor) -> Iterator[Violation]:
    for one in pods.containers:
        added = at(one.body, "securityContext", "capabilities").get("add")
        odd = sorted({str(name) for name in added} - BASELINE_CAPABILITIES) if isinstance(added, list) else []
        if odd:
            path = f"{one.path}.securityContext.capabilities.add"
            yield Violation("capabilities", path, f"container '{one.name}' adds capabilities {', '.join(odd)}")


def _host_path(pods: Pods, _: Minor) -> Iterator[Violation]:
    for path, volume in keyed(pods.spec_path, pods.spec, "volumes"):
        if "hostPath" in volume:
            shown = text(at(volume, "hostPath").get("path")) or "?"
            yield Violation("host-path", f"{path}.hostPath", f"mounts {shown} of its node")


def _host_port(pods: Pods, _: Minor) -> Iterator[Violation]:
    for one in pods.containers:
        for path, port in keyed(one.path, one.body, "ports"):
            if port.get("hostPort"):
                fact = f"container '{one.name}' takes port {port['hostPort']} of its node"
                yield Violation("host-port", f"{path}.hostPort", fact)


def _apparmor(pods: Pods, _: Minor) -> Iterator[Violation]:
    for who, path, context in _contexts(pods):
        kind = at(context, "appArmorProfile").get("type")
        if kind is not None and text(kind) not in _PROFILES:
            yield Violation("apparmor", f"{path}.appArmorProfile.type", f"{who}has AppArmor profile {kind}")
    for key, value in _annotations(pods).items():
        if key.startswith(_APPARMOR) and not (value in {"", "runtime/default"} or value.startswith("localhost/")):
            path = member(f"{pods.path}.metadata.annotations", key)
            yield Violation("apparmor", path, f"container '{key[len(_APPARMOR) :]}' has AppArmor profile {value}")


def _annotations(pods: Pods) -> dict[str, str]:
    body: Any = pods.resource.manifest
    for step in pods.path.split(".")[1:]:
        body = mapping(body).get(step)
    return labels(at(body, "metadata", "annotations"))


def _selinux(pods: Pods, minor: Minor) -> Iterator[Violation]:
    allowed = _SELINUX_TYPES | ({"container_engine_t"} if minor >= 31 else set())
    for who, path, context in _contexts(pods):
        options = at(context, "seLinuxOptions")
        if text(options.get("type")) not in allowed or options.get("user") or options.get("role"):
            yield Violation("selinux", f"{path}.seLinuxOptions", f"{who}sets its SELinux label")


def _proc_mount(pods: Pods, minor: Minor) -> Iterator[Violation]:
    if not _is_relaxed(pods, minor):
        yield from _proc_mounts(pods)


def _proc_mounts(pods: Pods) -> Iterator[Violation]:
    for one in pods.containers:
        kind = at(one.body, "securityContext").get("procMount", "Default")
        if kind != "Default":
            path = f"{one.path}.securityContext.procMount"
            yield Violation("proc-mount", path, f"container '{one.name}' sets procMount {kind}")


def _proc_mount_restricted(pods: Pods, minor: Minor) -> Iterator[Violation]:
    """User namespaces let an unmasked /proc pass baseline, but not restricted."""
    if _is_relaxed(pods, minor):
        yield from _proc_mounts(pods)


def _seccomp(pods: Pods, _: Minor) -> Iterator[Violation]:
    for who, path, context in _contexts(pods):
        kind = at(context, "seccompProfile").get("type")
        if kind is not None and text(kind) not in _PROFILES:
            yield Violation("seccomp", f"{path}.seccompProfile.type", f"{who}has seccomp profile {kind}")


def _host_process(pods: Pods, _: Minor) -> Iterator[Violation]:
    for who, path, context in _contexts(pods):
        if at(context, "windowsOptions").get("hostProcess") is True:
            fact = f"{who}is a process of its Windows node"
            yield Violation("host-process", f"{path}.windowsOptions.hostProcess", fact)


def _sysctls(pods: Pods, minor: Minor) -> Iterator[Violation]:
    allowed = frozenset[str]().union(*(names for since, names in _SYSCTLS if since <= minor))
    for path, entry in keyed(f"{pods.spec_path}.securityContext", at(pods.spec, "securityContext"), "sysctls"):
        if text(entry.get("name")) not in allowed:
            yield Violation("sysctls", f"{path}.name", f"sets sysctl {entry.get('name')}")


def _probe_host(pods: Pods, minor: Minor) -> Iterator[Violation]:
    callers = (
        ("livenessProbe",), ("readinessProbe",), ("startupProbe",), ("lifecycle", "postStart"), ("lifecycle", "preStop")
    )  # fmt: skip
    for one in pods.containers if minor >= 34 else ():
        for caller in callers:
            for handler in ("httpGet", "tcpSocket"):
                host = at(one.body, *caller, handler).get("host")
                if host:
                    path = f"{one.path}.{'.'.join(caller)}.{handler}.host"
                    yield Violation("probe-host", path, f"container '{one.name}' lets the kubelet call {host}")


def _volumes(pods: Pods, _: Minor) -> Iterator[Violation]:
    for path, volume in keyed(pods.spec_path, pods.spec, "volumes"):
        kinds = sorted(set(volume) - {"name"} - _VOLUMES)
        for kind in kinds:
            if kind != "hostPath":  # baseline says so
                yield Violation("volumes", f"{path}.{kind}", f"mounts a volume of type {kind}")


def _escalation(pods: Pods, _: Minor) -> Iterator[Violation]:
    for one in pods.containers if not _is_windows(pods) else ():
        if at(one.body, "securityContext").get("allowPrivilegeEscalation") is not False:
            path = f"{one.path}.securityContext.allowPrivilegeEscalation"
            yield Violation("privilege-escalation", path, f"container '{one.name}' may gain privileges")


def _non_root(pods: Pods, minor: Minor) -> Iterator[Violation]:
    if _is_relaxed(pods, minor):
        return
    shared = at(pods.spec, "securityContext")
    for who, path, context in _contexts(pods):
        if context.get("runAsUser") == 0:
            yield Violation("run-as-root", f"{path}.runAsUser", f"{who}runs as user 0")
    for one in pods.containers:
        own = at(one.body, "securityContext").get("runAsNonRoot")
        if own is False or (own is None and shared.get("runAsNonRoot") is not True):
            path = f"{one.path}.securityContext.runAsNonRoot"
            yield Violation("run-as-root", path, f"container '{one.name}' may run as root")


def _seccomp_set(pods: Pods, _: Minor) -> Iterator[Violation]:
    if _is_windows(pods) or at(pods.spec, "securityContext", "seccompProfile").get("type") is not None:
        return
    for one in pods.containers:
        if at(one.body, "securityContext", "seccompProfile").get("type") is None:
            path = f"{one.path}.securityContext.seccompProfile"
            yield Violation("seccomp", path, f"container '{one.name}' has no seccomp profile")


def _drop_all(pods: Pods, _: Minor) -> Iterator[Violation]:
    for one in pods.containers if not _is_windows(pods) else ():
        capabilities = at(one.body, "securityContext", "capabilities")
        path = f"{one.path}.securityContext.capabilities"
        dropped, added = capabilities.get("drop"), capabilities.get("add")
        if not isinstance(dropped, list) or "ALL" not in dropped:
            yield Violation("capabilities", f"{path}.drop", f"container '{one.name}' does not drop all capabilities")
        odd = {str(name) for name in added} - {"NET_BIND_SERVICE"} if isinstance(added, list) else set[str]()
        if odd & BASELINE_CAPABILITIES:
            shown = ", ".join(sorted(odd & BASELINE_CAPABILITIES))
            yield Violation("capabilities", f"{path}.add", f"container '{one.name}' adds capabilities {shown}")


BASELINE: Mapping[str, Control] = {
    "host-namespaces": _host_namespaces,
    "privileged": _privileged,
    "capabilities": _capabilities,
    "host-path": _host_path,
    "host-port": _host_port,
    "apparmor": _apparmor,
    "selinux": _selinux,
    "proc-mount": _proc_mount,
    "seccomp": _seccomp,
    "host-process": _host_process,
    "sysctls": _sysctls,
    "probe-host": _probe_host,
}
RESTRICTED: Mapping[str, Control] = {
    "capabilities": _drop_all,
    "privilege-escalation": _escalation,
    "proc-mount": _proc_mount_restricted,
    "run-as-root": _non_root,
    "seccomp": _seccomp_set,
    "volumes": _volumes,
}
"""What restricted forbids besides. A control of the same name asks more of the same place."""
