"""The blast radius: what a change can break or open, from two builds and the plan between them. Pure.

It names what a reviewer must not miss, whatever else is left out for want of room; a value of a Secret is never in it.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.model.build import Build
from kixbot.model.plan import Plan, Wave
from kixbot.model.resource import Body, Ref
from kixbot.output.review_values import Risk, RiskKind

_DATA_KINDS = frozenset({"PersistentVolumeClaim", "PersistentVolume", "Namespace", "CustomResourceDefinition"})
_GRANTS = frozenset({"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"})
_WEBHOOKS = frozenset({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})
_ESCAPES = {
    "hostNetwork": "the node's network",
    "hostPID": "the node's processes",
    "hostIPC": "the node's shared memory",
}
_IMPLIED_HOST = "docker.io"
_MOST_RIGHTS = 5
_DIGEST = re.compile(r"(sha256:[0-9a-f]{12})[0-9a-f]{52}")


def cluster_risks(base: Build, head: Build, plan: Plan) -> tuple[Risk, ...]:
    """The risks of one cluster, gravest first."""
    old = {resource.ref: resource.manifest for resource in base.resources}
    new = {resource.ref: resource.manifest for resource in head.resources}
    touched = frozenset(
        change.ref for package in plan.packages for change in package.resources if change.reason == "content"
    )
    found = [
        *_removals(plan),
        *_objects(old, new, touched),
        *_images(old, new, touched),
        *_suppressions(base, head),
        *_waves(plan.waves, touched),
    ]
    return tuple(sorted(set(found), key=lambda risk: (risk.kind, risk.verb, risk.subject, risk.values)))


def find_shrink(base: Build, head: Build, threshold: int) -> Risk | None:
    """A cluster that lost everything, or more than `threshold` percent of its resources: nobody wants that silently."""
    before, after = len(base.resources), len(head.resources)
    if before and not after:
        return Risk(kind=RiskKind.NOTHING_LEFT, verb=f"leaves nothing: all {before} resources are gone")
    if before and (before - after) * 100 > threshold * before:
        lost = f"{before - after} of {before} resources are gone, more than {threshold} %"
        return Risk(kind=RiskKind.SHRINK, verb=f"shrinks past the threshold: {lost}")
    return None


def _removals(plan: Plan) -> Iterator[Risk]:
    for package in plan.packages:
        for change in package.resources:
            if change.action == "removed" and change.ref.kind != "PackageInstance":
                kind = RiskKind.DELETE_DATA if change.ref.kind in _DATA_KINDS else RiskKind.DELETE
                yield Risk(kind=kind, verb="removes", subject=change.ref.short, ref=change.ref)
            if change.action == "recreated":
                yield Risk(kind=RiskKind.RECREATE, verb="recreates", subject=change.ref.short, ref=change.ref)


def _objects(old: Mapping[Ref, Body], new: Mapping[Ref, Body], touched: frozenset[Ref]) -> Iterator[Risk]:
    for ref in touched:
        body = new.get(ref)
        if body is None:
            continue
        verb = "changes" if ref in old else "adds"
        if ref.kind in _GRANTS:
            rights = sorted(_rights(body) - _rights(old.get(ref, {})))[:_MOST_RIGHTS]
            values = (" ".join(rights),) if rights else ()
            yield Risk(kind=RiskKind.GRANT, verb=f"{verb} rights in", subject=ref.short, values=values, ref=ref)
        elif ref.kind in _WEBHOOKS:
            yield Risk(kind=RiskKind.WEBHOOK, verb=f"{verb} admission webhooks in", subject=ref.short, ref=ref)
        elif ref.kind in _DATA_KINDS and ref in old:
            yield Risk(kind=RiskKind.DELETE_DATA, verb="changes", subject=ref.short, ref=ref)
        for right in sorted(_escapes(body) - _escapes(old.get(ref, {}))):
            yield Risk(kind=RiskKind.PRIVILEGE, verb=f"gives {right} to", subject=ref.short, ref=ref)


def _rights(body: Body) -> set[str]:
    """What a role allows or a binding binds, one short text each."""
    rules = body.get("rules")
    found = set()
    for rule in rules if isinstance(rules, list) else ():
        if isinstance(rule, Mapping):
            things = rule.get("resources") or rule.get("nonResourceURLs")
            found |= {f"{verb}:{thing}" for verb in _texts(rule.get("verbs")) for thing in _texts(things)}
    role = body.get("roleRef")
    subjects = body.get("subjects")
    if isinstance(role, Mapping):
        for subject in subjects if isinstance(subjects, list) else ():
            if isinstance(subject, Mapping):
                found.add(f"{role.get('kind')}/{role.get('name')} to {subject.get('kind')}/{subject.get('name')}")
    return found


def _texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _escapes(body: Body) -> set[str]:
    """The ways in which a workload's pods reach beyond their containers."""
    found = set()
    for pod in _pod_specs(body):
        found |= {what for field, what in _ESCAPES.items() if pod.get(field) is True}
        for volume in _mappings(pod.get("volumes")):
            if isinstance(volume.get("hostPath"), Mapping):
                found.add("the node's files")
        for container in _containers(pod):
            security = container.get("securityContext")
            if isinstance(security, Mapping):
                if security.get("privileged") is True:
                    found.add("full privileges")
                capabilities = security.get("capabilities")
                if isinstance(capabilities, Mapping) and capabilities.get("add"):
                    found.add("extra capabilities")
    return found


def _images(old: Mapping[Ref, Body], new: Mapping[Ref, Body], touched: frozenset[Ref]) -> Iterator[Risk]:
    known = {_host(image) for body in old.values() for image in _images_of(body).values()}
    for ref in touched:
        before, after = _images_of(old.get(ref, {})), _images_of(new.get(ref, {}))
        for name, image in after.items():
            if _host(image) not in known and old:
                yield Risk(kind=RiskKind.REGISTRY, verb="new registry", subject=_host(image), ref=ref)
            earlier = before.get(name)
            if earlier is not None and earlier != image:
                yield _move(ref, earlier, image)


def _move(ref: Ref, earlier: str, image: str) -> Risk:
    """An image that moves: only what differs is shown where the repository stays."""
    one, two = _repository(earlier), _repository(image)
    if one == two:
        values = (_short(earlier.removeprefix(one).lstrip(":@")), _short(image.removeprefix(two).lstrip(":@")))
        return Risk(kind=RiskKind.IMAGE, verb="moves image", subject=one, values=values, ref=ref)
    values = (_short(earlier), _short(image))
    return Risk(kind=RiskKind.IMAGE, verb="replaces the image of", subject=ref.short, values=values, ref=ref)


def _short(reference: str) -> str:
    """Twelve digits of a digest: the details have all of it."""
    return _DIGEST.sub(r"\1", reference)


def _images_of(body: Body) -> dict[str, str]:
    return {
        str(container.get("name")): str(container["image"])
        for pod in _pod_specs(body)
        for container in _containers(pod)
        if isinstance(container.get("image"), str)
    }


def _repository(image: str) -> str:
    name = image.split("@", 1)[0]
    head, slash, last = name.rpartition("/")
    return f"{head}{slash}{last.split(':', 1)[0]}"


def _host(image: str) -> str:
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else _IMPLIED_HOST


def _pod_specs(body: Body) -> Iterator[Mapping[str, Any]]:
    """The pod specs of a workload of any built-in kind: of the pod, its template, its job's template."""
    spec = body.get("spec")
    for _ in range(4):
        if not isinstance(spec, Mapping):
            return
        if isinstance(spec.get("containers"), list):
            yield spec
            return
        inner = spec.get("template") or spec.get("jobTemplate")
        spec = inner.get("spec") if isinstance(inner, Mapping) else None


def _containers(pod: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*_mappings(pod.get("initContainers")), *_mappings(pod.get("containers"))]


def _mappings(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list | tuple) else []


def _suppressions(base: Build, head: Build) -> Iterator[Risk]:
    before = set(base.evaluated.scorecard.ignore)
    for one in head.evaluated.scorecard.ignore:
        if one not in before:
            yield Risk(kind=RiskKind.SUPPRESSION, verb="ignores", subject=one.rule, values=(one.resource, one.reason))
    declared = {(one.kind, one.namespace, one.name) for one in base.evaluated.externals}
    for external in head.evaluated.externals:
        if (external.kind, external.namespace, external.name) not in declared:
            subject = f"{external.kind}/{external.name}"
            yield Risk(kind=RiskKind.SUPPRESSION, verb="declares as external", subject=subject)


def _waves(waves: tuple[Wave, ...], touched: frozenset[Ref]) -> Iterator[Risk]:
    numbers = sorted({wave.number for wave in waves if touched.intersection(wave.refs)})
    if numbers:
        last = max(wave.number for wave in waves)
        listed = ", ".join(map(str, numbers[:10])) + (" …" if len(numbers) > 10 else "")
        word = "wave" if len(numbers) == 1 else "waves"
        yield Risk(kind=RiskKind.WAVES, verb=f"lands in {word} {listed} of {last}")
