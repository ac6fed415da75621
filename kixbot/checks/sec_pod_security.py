"""Rules of the Pod Security Standards, one a control: a row says what it is called, why it matters and an example."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pod_security import BASELINE, RESTRICTED, minor_of
from kixbot.model.finding import Severity

_SPEC = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n"
_CONTAINER = '{name: web, image: "ghcr.io/acme/web:1.5.0"%s}'


class _Row(NamedTuple):
    control: str
    title: str
    rationale: str
    hint: str
    good: str
    bad: str


def _in_container(field: str) -> str:
    return f"{_SPEC}  containers: [{_CONTAINER % f', {field}'}]\n"


def _in_context(field: str) -> str:
    return _in_container(f"securityContext: {{{field}}}")


def _in_pod(field: str) -> str:
    return f"{_SPEC}  {field}\n  containers: [{_CONTAINER % ''}]\n"


_ROWS = (
    _Row(
        "privileged",
        "a container is privileged",
        "It sees all devices of its node and may load kernel modules: whoever takes it over has the node.",
        "remove privileged, and add the one capability or device that is needed",
        _in_context("privileged: false"),
        _in_context("privileged: true"),
    ),
    _Row(
        "privilege-escalation",
        "a container may gain privileges that it did not start with",
        "Programs with the setuid bit, such as sudo, run as root inside the container unless "
        "allowPrivilegeEscalation is false. It is true by default.",
        "set allowPrivilegeEscalation: false",
        _in_context("allowPrivilegeEscalation: false"),
        _in_context("readOnlyRootFilesystem: true"),
    ),
    _Row(
        "run-as-root",
        "a container may run as root",
        "Root in the container is root on the node for the kernel, and every mistake in its isolation counts double. "
        "With runAsNonRoot the kubelet refuses to start an image whose user is root. In a user namespace "
        "(hostUsers: false) root is nobody outside, from Kubernetes 1.35 on.",
        "set runAsNonRoot: true, and runAsUser where the image names no number",
        _in_context("runAsNonRoot: true"),
        _in_context("runAsUser: 0"),
    ),
    _Row(
        "capabilities",
        "a container keeps capabilities that it does not need",
        "Container runtimes grant a dozen capabilities by default, among them NET_RAW, with which a container can "
        "answer in the name of others. Dropping all of them is enough for most programs.",
        "set capabilities: {drop: [ALL]}, and add NET_BIND_SERVICE where a low port is needed",
        _in_context("capabilities: {drop: [ALL]}"),
        _in_context("capabilities: {add: [SYS_ADMIN]}"),
    ),
    _Row(
        "seccomp",
        "a container has no seccomp profile",
        "Without a profile it may make every system call of the kernel; RuntimeDefault forbids some fifty that no "
        "ordinary program needs and most escapes do.",
        "set seccompProfile: {type: RuntimeDefault} in the pod's securityContext",
        _in_context("seccompProfile: {type: RuntimeDefault}"),
        _in_context("seccompProfile: {type: Unconfined}"),
    ),
    _Row(
        "apparmor",
        "a container runs without its AppArmor profile",
        "The profile that the runtime brings keeps a container from writing to most of /proc and /sys, and from "
        "mounting.",
        "remove the profile, or name RuntimeDefault or Localhost",
        _in_context("appArmorProfile: {type: RuntimeDefault}"),
        _in_context("appArmorProfile: {type: Unconfined}"),
    ),
    _Row(
        "selinux",
        "a pod sets an SELinux label that takes it out of its confinement",
        "Users, roles and types other than those of containers let it reach what other containers may not.",
        "remove seLinuxOptions, or keep to a type of containers and to a level",
        _in_context("seLinuxOptions: {level: 's0:c1,c2'}"),
        _in_context("seLinuxOptions: {type: spc_t}"),
    ),
    _Row(
        "host-namespaces",
        "a pod shares a namespace of its node",
        "hostNetwork listens on the node's addresses past every NetworkPolicy; hostPID and hostIPC see and signal the "
        "node's processes.",
        "remove the field, and use a Service, or hostPort where one port is enough",
        _in_pod("hostNetwork: false"),
        _in_pod("hostNetwork: true"),
    ),
    _Row(
        "host-path",
        "a pod mounts a path of its node",
        "What it writes there stays on the node, and with the right path (/, /etc, the runtime's socket) it is root on "
        "the node. The pod also behaves differently on every node.",
        "use a PersistentVolumeClaim, an emptyDir, or a ConfigMap",
        _in_pod("volumes: [{name: data, emptyDir: {}}]"),
        _in_pod("volumes: [{name: data, hostPath: {path: /var/run/docker.sock}}]"),
    ),
    _Row(
        "host-port",
        "a container takes a port of its node",
        "The port is open on the node's own addresses, past Services and mostly past NetworkPolicies, and only one "
        "such pod fits on a node.",
        "use a Service",
        _in_container("ports: [{containerPort: 8080}]"),
        _in_container("ports: [{containerPort: 8080, hostPort: 8080}]"),
    ),
    _Row(
        "host-process",
        "a container is a process of its Windows node",
        "It runs outside of any container, with the rights of the node's own services.",
        "remove hostProcess",
        _in_context("windowsOptions: {hostProcess: false}"),
        _in_context("windowsOptions: {hostProcess: true}"),
    ),
    _Row(
        "proc-mount",
        "a container gets an unmasked /proc",
        "Masked are the places through which a container could read from the node or write to its kernel.",
        "remove procMount; with hostUsers: false it passes the baseline from Kubernetes 1.35 on",
        _in_context("procMount: Default"),
        _in_context("procMount: Unmasked"),
    ),
    _Row(
        "sysctls",
        "a pod sets a kernel parameter that is not known to be safe",
        "Some parameters count for the whole node, not for the pod alone. The safe ones grow with the versions of "
        "Kubernetes.",
        "remove the parameter, or set it on the node",
        _in_pod("securityContext: {sysctls: [{name: net.ipv4.tcp_syncookies, value: '1'}]}"),
        _in_pod("securityContext: {sysctls: [{name: kernel.msgmax, value: '65536'}]}"),
    ),
    _Row(
        "probe-host",
        "a probe or a hook lets the kubelet call another host",
        "The kubelet calls from the node's network: the field reaches what the pod itself may not. The baseline "
        "forbids it from Kubernetes 1.34 on.",
        "remove host; the address of the pod is the default",
        _in_container("readinessProbe: {httpGet: {port: 8080}}"),
        _in_container("readinessProbe: {httpGet: {port: 8080, host: 169.254.169.254}}"),
    ),
    _Row(
        "volumes",
        "a pod mounts a volume of a type that reaches past storage classes",
        "nfs, iscsi, rbd and others name servers and logins in the pod itself, so that whoever may create pods may "
        "mount anything there.",
        "use a PersistentVolumeClaim",
        _in_pod("volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"),
        _in_pod("volumes: [{name: data, nfs: {server: files.example.org, path: /}}]"),
    ),
)
_NAMES = {"volumes": "volume-types"}


def _finder(row: _Row) -> Callable[[Context], Iterator[Hit]]:
    controls = [found for level in (BASELINE, RESTRICTED) if (found := level.get(row.control))]

    def find(context: Context) -> Iterator[Hit]:
        minor = minor_of(context.cluster.kubernetes_version)
        for pods in context.pods:
            for control in controls if not pods.is_opaque else ():
                for violation in control(pods, minor):
                    yield Hit(
                        resource=pods.resource,
                        path=violation.path,
                        message=f"{pods.resource.ref.plain} {violation.fact}",
                        hint=row.hint,
                    )

    return find


CHECKS: tuple[Check, ...] = tuple(
    Check(
        id=f"sec/{_NAMES.get(row.control, row.control)}",
        severity=Severity.WARNING,
        title=row.title,
        rationale=row.rationale,
        example=Example(good=row.good, bad=row.bad),
        find=_finder(row),
    )
    for row in _ROWS
)
