"""Suppressions that other checkers' annotations state for their own object.

They are read, never asked for: kube-linter's, kube-score's, Polaris' and Checkov's, as far as their checks have a rule
here. Our own annotation is read with the manifest (`sources`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from kixbot.checks.shape import labels
from kixbot.model.build import Suppression
from kixbot.model.resource import Resource

_KUBE_LINTER = "ignore-check.kube-linter.io/"
_KUBE_LINTER_ALL = "kube-linter.io/ignore-all"
_KUBE_SCORE = "kube-score/ignore"
_POLARIS = re.compile(r"polaris\.fairwinds\.com/(?:(?P<check>[A-Za-z]+)-)?exempt\Z")
_CHECKOV = re.compile(r"checkov\.io/skip[0-9]*\Z")
_ALL = ("sec/*", "rel/*", "gov/*")
"""What "everything" of another checker covers: their rules are about style and safety, not about what cannot work."""


def foreign(resources: Iterable[Resource]) -> Iterator[Suppression]:
    """Every suppression that an annotation of another checker states, its text or else its key as the reason."""
    for resource in resources:
        for key, value in labels(resource.annotations).items():
            for rule, reason in _foreign(key, value):
                yield Suppression(rule=rule, resource=resource.ref.id, reason=reason or key)


def _foreign(key: str, value: str) -> Iterator[tuple[str, str]]:
    if key.startswith(_KUBE_LINTER):
        yield from _mapped(KUBE_LINTER, key.removeprefix(_KUBE_LINTER), value)
    elif key == _KUBE_LINTER_ALL:
        yield from ((rule, value) for rule in _ALL)
    elif key == _KUBE_SCORE:
        for check in value.split(","):
            yield from _mapped(KUBE_SCORE, check.strip(), "")
    elif found := _POLARIS.match(key):
        if value == "true":
            check = found["check"]
            yield from ((rule, "") for rule in (POLARIS.get(check, ()) if check else _ALL))
    elif _CHECKOV.match(key):
        check, _, reason = value.partition("=")
        yield from _mapped(CHECKOV, check.strip(), reason.strip())


def _mapped(table: Mapping[str, tuple[str, ...]], check: str, reason: str) -> Iterator[tuple[str, str]]:
    yield from ((rule, reason) for rule in table.get(check, ()))


KUBE_LINTER: Mapping[str, tuple[str, ...]] = {
    "access-to-create-pods": ("sec/create-pods",),
    "access-to-secrets": ("sec/read-secrets",),
    "cluster-admin-role-binding": ("sec/cluster-admin",),
    "dangling-horizontalpodautoscaler": ("ref/workload",),
    "dangling-ingress": ("ref/service", "ref/backend-port"),
    "dangling-networkpolicy": ("ref/policy-selects-nothing",),
    "dangling-networkpolicypeer-podselector": ("ref/policy-selects-nothing",),
    "dangling-service": ("ref/service-selects-nothing",),
    "dangling-servicemonitor": ("ref/monitor-selects-nothing",),
    "deprecated-service-account-field": ("gov/old-account-field",),
    "docker-sock": ("sec/host-path",),
    "drop-net-raw-capability": ("sec/capabilities",),
    "duplicate-env-var": ("schema/duplicate-env",),
    "env-value-from": ("ref/secret", "ref/config-map", "ref/secret-key", "ref/config-map-key"),
    "env-var-secret": ("sec/secret-in-env",),
    "exposed-services": ("sec/exposed-service",),
    "host-ipc": ("sec/host-namespaces",),
    "host-network": ("sec/host-namespaces",),
    "host-pid": ("sec/host-namespaces",),
    "job-ttl-seconds-after-finished": ("gov/finished-job",),
    "latest-tag": ("gov/image-no-tag", "gov/image-no-digest"),
    "liveness-port": ("ref/probe-port",),
    "minimum-three-replicas": ("rel/one-replica",),
    "no-anti-affinity": ("rel/spread",),
    "no-liveness-probe": ("rel/liveness-probe",),
    "no-read-only-root-fs": ("sec/writable-root",),
    "no-readiness-probe": ("rel/readiness-probe",),
    "no-rolling-update-strategy": ("rel/recreate",),
    "non-existent-service-account": ("ref/service-account",),
    "non-isolated-pod": ("sec/no-network-policy",),
    "pdb-max-unavailable": ("rel/budget-blocks",),
    "pdb-min-available": ("rel/budget-blocks",),
    "priority-class-name": ("ref/priority-class",),
    "privilege-escalation-container": ("sec/privilege-escalation",),
    "privileged-container": ("sec/privileged",),
    "readiness-port": ("ref/probe-port",),
    "run-as-non-root": ("sec/run-as-root",),
    "sensitive-host-mounts": ("sec/host-path",),
    "startup-port": ("ref/probe-port",),
    "unsafe-proc-mount": ("sec/proc-mount",),
    "unsafe-sysctls": ("sec/sysctls",),
    "unset-cpu-requirements": ("rel/resources",),
    "unset-memory-requirements": ("rel/resources",),
    "use-namespace": ("gov/default-namespace",),
    "wildcard-in-rules": ("sec/wildcard-rights",),
    "writable-host-mount": ("sec/host-path",),
}
KUBE_SCORE: Mapping[str, tuple[str, ...]] = {
    "container-image-tag": ("gov/image-no-tag", "gov/image-no-digest"),
    "container-resources": ("rel/resources",),
    "container-seccomp-profile": ("sec/seccomp",),
    "container-security-context-privileged": ("sec/privileged",),
    "container-security-context-readonlyrootfilesystem": ("sec/writable-root",),
    "container-security-context-user-group-id": ("sec/run-as-root",),
    "cronjob-has-deadline": ("rel/cron-job",),
    "deployment-has-host-podantiaffinity": ("rel/spread",),
    "deployment-has-poddisruptionbudget": ("rel/no-budget",),
    "deployment-replicas": ("rel/one-replica",),
    "deployment-strategy": ("rel/recreate",),
    "deployment-targeted-by-hpa-does-not-have-replicas-configured": ("rel/hpa-replicas",),
    "environment-variable-key-duplication": ("schema/duplicate-env",),
    "horizontalpodautoscaler-has-target": ("ref/workload",),
    "horizontalpodautoscaler-replicas": ("rel/hpa-range",),
    "ingress-targets-service": ("ref/service", "ref/backend-port"),
    "networkpolicy-targets-pod": ("ref/policy-selects-nothing",),
    "pod-networkpolicy": ("sec/no-network-policy",),
    "pod-probes": ("rel/readiness-probe", "rel/liveness-probe"),
    "pod-probes-identical": ("rel/same-probes",),
    "service-targets-pod": ("ref/service-selects-nothing",),
    "service-type": ("sec/exposed-service",),
    "statefulset-has-host-podantiaffinity": ("rel/spread",),
    "statefulset-has-poddisruptionbudget": ("rel/no-budget",),
    "statefulset-has-servicename": ("ref/service", "ref/headless-service"),
}
POLARIS: Mapping[str, tuple[str, ...]] = {
    "automountServiceAccountToken": ("sec/automount-token",),
    "clusterrolePodExecAttach": ("sec/exec-pods",),
    "clusterrolebindingClusterAdmin": ("sec/cluster-admin",),
    "cpuLimitsMissing": ("rel/resources",),
    "cpuRequestsMissing": ("rel/resources",),
    "dangerousCapabilities": ("sec/capabilities",),
    "deploymentMissingReplicas": ("rel/one-replica",),
    "hostIPCSet": ("sec/host-namespaces",),
    "hostNetworkSet": ("sec/host-namespaces",),
    "hostPIDSet": ("sec/host-namespaces",),
    "hostPathSet": ("sec/host-path",),
    "hostPortSet": ("sec/host-port",),
    "hostProcess": ("sec/host-process",),
    "insecureCapabilities": ("sec/capabilities",),
    "linuxHardening": ("sec/seccomp", "sec/apparmor", "sec/selinux"),
    "livenessProbeMissing": ("rel/liveness-probe",),
    "memoryLimitsMissing": ("rel/resources",),
    "memoryRequestsMissing": ("rel/resources",),
    "missingNetworkPolicy": ("sec/no-network-policy",),
    "missingPodDisruptionBudget": ("rel/no-budget",),
    "notReadOnlyRootFilesystem": ("sec/writable-root",),
    "pdbDisruptionsIsZero": ("rel/budget-blocks",),
    "privilegeEscalationAllowed": ("sec/privilege-escalation",),
    "procMount": ("sec/proc-mount",),
    "readinessProbeMissing": ("rel/readiness-probe",),
    "rolePodExecAttach": ("sec/exec-pods",),
    "rolebindingClusterAdminClusterRole": ("sec/cluster-admin",),
    "runAsPrivileged": ("sec/privileged",),
    "runAsRootAllowed": ("sec/run-as-root",),
    "sensitiveConfigmapContent": ("sec/secret-in-config-map",),
    "sensitiveContainerEnvVar": ("sec/secret-in-env",),
    "tagNotSpecified": ("gov/image-no-tag",),
    "topologySpreadConstraint": ("rel/spread",),
}
CHECKOV: Mapping[str, tuple[str, ...]] = {
    "CKV2_K8S_2": ("sec/exec-pods",),
    "CKV2_K8S_5": ("sec/read-secrets",),
    "CKV2_K8S_6": ("sec/no-network-policy",),
    "CKV_K8S_8": ("rel/liveness-probe",),
    "CKV_K8S_9": ("rel/readiness-probe",),
    "CKV_K8S_10": ("rel/resources",),
    "CKV_K8S_11": ("rel/resources",),
    "CKV_K8S_12": ("rel/resources",),
    "CKV_K8S_13": ("rel/resources",),
    "CKV_K8S_14": ("gov/image-no-tag",),
    "CKV_K8S_16": ("sec/privileged",),
    "CKV_K8S_17": ("sec/host-namespaces",),
    "CKV_K8S_18": ("sec/host-namespaces",),
    "CKV_K8S_19": ("sec/host-namespaces",),
    "CKV_K8S_20": ("sec/privilege-escalation",),
    "CKV_K8S_21": ("gov/default-namespace",),
    "CKV_K8S_22": ("sec/writable-root",),
    "CKV_K8S_23": ("sec/run-as-root",),
    "CKV_K8S_25": ("sec/capabilities",),
    "CKV_K8S_26": ("sec/host-port",),
    "CKV_K8S_27": ("sec/host-path",),
    "CKV_K8S_28": ("sec/capabilities",),
    "CKV_K8S_31": ("sec/seccomp",),
    "CKV_K8S_35": ("sec/secret-in-env",),
    "CKV_K8S_36": ("sec/capabilities",),
    "CKV_K8S_37": ("sec/capabilities",),
    "CKV_K8S_38": ("sec/automount-token",),
    "CKV_K8S_39": ("sec/capabilities",),
    "CKV_K8S_40": ("sec/run-as-root",),
    "CKV_K8S_43": ("gov/image-no-digest",),
    "CKV_K8S_49": ("sec/wildcard-rights",),
}
