"""`kix build -o json`: a build as a versioned document, `docs/schemas/build.json` its schema."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kixbot.identity import without_values
from kixbot.model.build import Assertion, Build, ClusterFacts, CollectedFault, EdgeKind, External, Package
from kixbot.model.resource import Location, Ref, Resource

SCHEMA = 1


def text(build: Build) -> str:
    """The document as JSON; equal builds give equal bytes. Secret values are left out."""
    return json.dumps(document(build), ensure_ascii=False, indent=2) + "\n"


def document(build: Build) -> dict[str, Any]:
    """The document: cluster, packages, resources by id, what was noticed, the activation."""
    evaluated = build.evaluated
    return {
        "schema": SCHEMA,
        "cluster": _cluster(build.cluster) if build.cluster.name else None,
        "source": {
            "kind": evaluated.source.kind,
            "path": evaluated.source.path,
            "commit": evaluated.source.commit,
            "branch": evaluated.source.branch,
            "remote": evaluated.source.remote,
            "clean": evaluated.source.clean,
        },
        "activation": {"name": build.activation.name, "path": build.activation.path} if build.activation else None,
        "packages": [_package(package) for package in sorted(evaluated.packages, key=lambda package: package.id)],
        "resources": _resources(build),
        "assertions": [_assertion(assertion) for assertion in evaluated.assertions],
        "faults": [_fault(fault) for fault in evaluated.faults],
        "externals": [_external(external) for external in evaluated.externals],
        "scorecard": {
            "fail": list(evaluated.scorecard.fail),
            "ignore": [
                {"rule": entry.rule, "resource": entry.resource, "reason": entry.reason, "until": entry.until}
                for entry in evaluated.scorecard.ignore
            ],
        },
        "pins": [{"key": pin.key, "reference": pin.reference, "pinned": pin.pinned} for pin in evaluated.pins_used],
        "cycles": [_ids(cycle) for cycle in build.cycles],
        "duplicates": sorted({first.ref.id for first, _ in build.duplicates}),
    }


def _resources(build: Build) -> list[dict[str, Any]]:
    targets: dict[tuple[Ref, EdgeKind], set[Ref]] = {}
    for edge in build.edges:
        targets.setdefault((edge.source, edge.kind), set()).add(edge.target)

    def row(resource: Resource) -> dict[str, Any]:
        identity = build.identities.get(resource.ref)
        return {
            "id": resource.ref.id,
            "package": resource.package,
            "path": identity.path if identity else None,
            "identity": identity.hash if identity else None,
            "manifest": without_values(resource.manifest),
            **{kind.value: _ids(sorted(targets.get((resource.ref, kind), ()))) for kind in EdgeKind},
            "cede": list(resource.cede),
            "after": _ids(resource.after),
            "ready": resource.ready,
            "generated": list(resource.generated),
            "origin": _location(resource.origin),
        }

    return [row(resource) for resource in build.resources]


def _cluster(facts: ClusterFacts) -> dict[str, Any]:
    return {
        "name": facts.name,
        "flavor": facts.flavor,
        "kubernetesVersion": facts.kubernetes_version,
        "availability": facts.availability,
        "zones": list(facts.zones),
        "nodes": facts.nodes,
        "roles": {
            role: {"kind": binding.kind, "provider": binding.provider} for role, binding in sorted(facts.roles.items())
        },
        "storageClasses": list(facts.storage_classes),
        "ingressClasses": list(facts.ingress_classes),
        "priorityClasses": list(facts.priority_classes),
        "runtimeClasses": list(facts.runtime_classes),
    }


def _package(package: Package) -> dict[str, Any]:
    return {
        "id": package.id,
        "package": package.package,
        "version": package.version,
        "provides": list(package.provides),
        "dependsOn": list(package.depends_on),
        "added": package.added,
        "origin": _location(package.origin),
    }


def _assertion(assertion: Assertion) -> dict[str, Any]:
    return {
        "message": assertion.message,
        "package": assertion.package,
        "resource": assertion.ref.id if assertion.ref else None,
        "hint": assertion.hint,
        "origin": _location(assertion.origin),
    }


def _fault(fault: CollectedFault) -> dict[str, Any]:
    return {
        "rule": fault.rule,
        "message": fault.message,
        "resource": fault.ref.id if fault.ref else None,
        "path": fault.path or None,
        "hint": fault.hint,
    }


def _external(external: External) -> dict[str, Any]:
    return {
        "kind": external.kind,
        "group": external.group,
        "name": external.name,
        "namespace": external.namespace,
        "keys": None if external.keys is None else list(external.keys),
        "verify": external.verify,
        "origin": _location(external.origin),
    }


def _ids(refs: Iterable[Ref]) -> list[str]:
    return [ref.id for ref in refs]


def _location(location: Location | None) -> Mapping[str, Any] | None:
    return {"file": location.file, "line": location.line} if location else None
