"""Objects of a build that Argo CD or Flux keep: by whom, what they do to them, and the commands that let them go.

An object counts while the Application, Kustomization or HelmRelease it names is there and would still write or delete:
a label or an annotation that was left behind alone does not.
"""

import shlex
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from kixbot.cluster.faults import ForbiddenError, KindNotServedError
from kixbot.cluster.interface import Cluster
from kixbot.errors import RefusedError
from kixbot.model.build import Build
from kixbot.model.plan import Tracker
from kixbot.model.resource import Body, Ref
from kixbot.ops.observe import Observation, find

ARGO_ID: Final = "argocd.argoproj.io/tracking-id"
ARGO_MANAGERS: Final = ("argocd-controller", "argocd-application-controller")
ARGO_FINALIZER: Final = "resources-finalizer.argocd.argoproj.io"
INSTANCE: Final = "app.kubernetes.io/instance"

Tool = Literal["Argo CD", "Flux"]


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """What an object's marks name. Of Argo CD the namespace is not known where the mark says none ("")."""

    tool: Tool
    kind: str
    group: str
    namespace: str
    name: str


_FLUX: Final = (
    ("kustomize.toolkit.fluxcd.io", "Kustomization", "kustomization"),
    ("helm.toolkit.fluxcd.io", "HelmRelease", "helmrelease"),
)


def trackers(build: Build, seen: Observation, cluster: Cluster) -> tuple[Tracker, ...]:
    """Who keeps objects of the build, sorted. One request per tool and owner, none where nothing is marked."""
    found: dict[Owner, list[Ref]] = defaultdict(list)
    for resource in build.resources:
        live = seen.live.get(resource.ref)
        owner = None if live is None else owner_of(live)
        if owner is not None:
            found[owner].append(resource.ref)
    applications = _applications(cluster, seen) if any(owner.tool == "Argo CD" for owner in found) else ()
    told = [
        _argo(owner, refs, applications) if owner.tool == "Argo CD" else _flux(owner, refs, cluster, seen)
        for owner, refs in sorted(found.items())
    ]
    return tuple(one for one in told if one is not None)


def require_released(found: tuple[Tracker, ...]) -> None:
    """Raises RefusedError naming the first that still keeps objects, with the commands that release them."""
    if found:
        first = found[0]
        more = f" and {len(first.refs) - 1} more" if len(first.refs) > 1 else ""
        does = f", which {' and '.join(first.does)}" if first.does else ""
        raise RefusedError(
            f"{first.refs[0].plain}{more}: kept by {first.tool} ({first.owner}){does}",
            hint="; ".join(command for one in found for command in one.commands),
        )


def owner_of(live: Body) -> Owner | None:
    """What the marks of an object name, None without any."""
    metadata = live.get("metadata") or {}
    labels, annotations = metadata.get("labels") or {}, metadata.get("annotations") or {}
    for group, kind, _ in _FLUX:
        name = labels.get(f"{group}/name")
        if name:
            namespace = str(labels.get(f"{group}/namespace") or metadata.get("namespace") or "")
            return Owner("Flux", kind, group, namespace, str(name))
    application = str(annotations.get(ARGO_ID) or "").partition(":")[0]
    managed = {entry.get("manager") for entry in metadata.get("managedFields") or ()} & set(ARGO_MANAGERS)
    if not application and managed:
        application = str(labels.get(INSTANCE) or "")
    if not application:
        return None
    namespace, underscore, name = application.partition("_")
    return Owner("Argo CD", "Application", "argoproj.io", namespace if underscore else "", name or namespace)


def _applications(cluster: Cluster, seen: Observation) -> tuple[Body, ...]:
    kind = seen.discovery.by_group.get(("argoproj.io", "Application"))
    if kind is None:
        return ()
    try:
        return cluster.listing(kind).items
    except (ForbiddenError, KindNotServedError):
        return ()


def _argo(owner: Owner, refs: list[Ref], applications: tuple[Body, ...]) -> Tracker | None:
    named = [
        body
        for body in applications
        if body["metadata"]["name"] == owner.name
        and owner.namespace in ("", str(body["metadata"].get("namespace") or ""))
    ]
    if not named:
        return None
    metadata = named[0]["metadata"]
    automated: Any = ((named[0].get("spec") or {}).get("syncPolicy") or {}).get("automated")
    cascades = ARGO_FINALIZER in (metadata.get("finalizers") or ())
    if automated is None and not cascades:
        return None
    policy: Mapping[str, Any] = automated or {}
    does = [
        *(["syncs by itself"] if automated is not None else []),
        *(["heals itself"] if policy.get("selfHeal") else []),
        *(["prunes"] if policy.get("prune") else []),
        *(["deletes them with the Application"] if cascades else []),
    ]
    namespace, name = str(metadata.get("namespace") or ""), str(metadata["name"])
    patch = '{"metadata":{"finalizers":null},"spec":{"syncPolicy":{"automated":null}}}'
    command = f"kubectl -n {shlex.quote(namespace)} patch applications.argoproj.io {shlex.quote(name)}"
    return Tracker(
        tool="Argo CD",
        owner=f"Application {namespace}/{name}",
        refs=tuple(refs),
        does=tuple(does),
        commands=(f"{command} --type merge -p '{patch}'",),
    )


def _flux(owner: Owner, refs: list[Ref], cluster: Cluster, seen: Observation) -> Tracker | None:
    kind = seen.discovery.by_group.get((owner.group, owner.kind))
    if kind is None:
        return None
    try:
        body = find(cluster, kind, Ref(owner.kind, owner.group, owner.namespace, owner.name))
    except ForbiddenError:
        body = {}
    if body is None or (body.get("spec") or {}).get("suspend") is True:
        return None
    short = next(word for _, name, word in _FLUX if name == owner.kind)
    does = ["reconciles them", *(["prunes"] if (body.get("spec") or {}).get("prune") else [])]
    return Tracker(
        tool="Flux",
        owner=f"{owner.kind} {owner.namespace}/{owner.name}",
        refs=tuple(refs),
        does=tuple(does),
        commands=(f"flux suspend {short} {shlex.quote(owner.name)} -n {shlex.quote(owner.namespace)}",),
    )
