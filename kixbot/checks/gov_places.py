"""Rules about order: the default namespace, objects nobody uses, fields that have a newer name, images by tag alone."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import keyed, text
from kixbot.model.finding import Confidence, Severity
from kixbot.model.resource import Resource

_ALWAYS = frozenset({"kube-root-ca.crt"})


def _find_default(context: Context) -> Iterator[Hit]:
    there = [one for one in context.resources if one.ref.namespace == "default"]
    if there and context.pods_in("default"):
        many = f"{len(there)} resources are" if len(there) > 1 else f"{there[0].ref.plain} is"
        yield Hit(
            resource=there[0],
            path="$.metadata.namespace",
            message=f"{many} in namespace default",
            hint="give them a namespace of their own",
        )


def _find_unused(context: Context) -> Iterator[Hit]:
    used = {edge.target for edge in context.build.edges} | {made.target for made in context.build.dangling}
    words = frozenset(_words(context))
    for kind in ("ConfigMap", "Secret"):
        for resource in context.of_kind(kind):
            if not context.pods_in(resource.ref.namespace):
                continue  # whoever reads it is not in this build
            if resource.ref not in used and resource.ref.name not in words and not _is_for_others(resource):
                yield Hit(
                    resource=resource,
                    message=f"nothing in this cluster uses {resource.ref.plain}",
                    hint="remove it, or let what reads it by name say so",
                )


def _words(context: Context) -> Iterator[str]:
    """The words of arguments and variables, where programs are told which object they read."""
    for pods in context.pods:
        for container in pods.containers:
            values = [text(entry.get("value")) for _, entry in keyed("", container.body, "env")]
            for field in ("command", "args"):
                listed = container.body.get(field)
                values += [text(value) for value in listed] if isinstance(listed, list) else []
            for value in values:
                yield from value[:4096].replace("=", " ").replace(",", " ").replace("/", " ").split()


def _is_for_others(resource: Resource) -> bool:
    """Whether it is read by label or kind: by a sidecar, a control plane or a tool, not by name."""
    own = {key for key in resource.labels if not key.startswith(("app.kubernetes.io/", "helm.sh/"))} - {"app", "name"}
    typed = text(resource.manifest.get("type")) not in {"", "Opaque"}
    return bool(own) or typed or resource.ref.name in _ALWAYS or resource.ref.namespace.startswith("kube-")


def _find_account(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        if "serviceAccount" in pods.spec and "serviceAccountName" not in pods.spec:
            yield Hit(
                resource=pods.resource,
                path=f"{pods.spec_path}.serviceAccount",
                message=f"{pods.resource.ref.plain} names its account by serviceAccount, the old name of the field",
                hint="rename it to serviceAccountName",
            )


def _find_digest(context: Context) -> Iterator[Hit]:
    said = {use.reference for use in context.build.evaluated.pins_used if not use.pinned}
    for pods in context.pods:
        for container in pods.containers:
            image = text(container.body.get("image"))
            tag = image.rpartition("/")[2].partition(":")[2]
            if "@" not in image and tag not in {"", "latest"} and image not in said:
                yield Hit(
                    resource=pods.resource,
                    path=f"{container.path}.image",
                    message=f"{pods.resource.ref.plain} container '{container.name}' uses image {image}, whose tag may "
                    "be moved",
                    hint="name the digest too; kix pin keeps it up to date",
                )


_CONFIG = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: %s}\ndata: {workers: '4'}\n"
_POD = """\
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  %s
  containers: [{name: web, image: "ghcr.io/acme/web:1.5.0%s"}]
"""

_ALONE = (_POD % ("hostname: web", "")).removeprefix("---\n")

CHECKS: tuple[Check, ...] = (
    Check(
        id="gov/default-namespace",
        severity=Severity.WARNING,
        title="workloads lie in the namespace default",
        rationale=(
            "Whoever forgets to name a namespace lands there. Quotas, policies and rights are given by namespace, and "
            "what is mixed in one cannot be told apart."
        ),
        example=Example(good=_ALONE, bad=_ALONE.replace("namespace: shop", "namespace: default")),
        find=_find_default,
    ),
    Check(
        id="gov/unused-config",
        severity=Severity.INFO,
        confidence=Confidence.HINT,
        title="a ConfigMap or Secret that nothing uses",
        rationale=(
            "It was forgotten, or a name is misspelt somewhere. Objects with labels of their own are taken for what a "
            "sidecar or a tool looks for, and left alone."
        ),
        example=Example(
            good=_CONFIG % "shop" + _POD % ("volumes: [{name: config, configMap: {name: web}}]", ""),
            bad=_CONFIG % "shop" + _POD % ("hostname: web", ""),
        ),
        find=_find_unused,
        on=("ConfigMap", "Secret"),
    ),
    Check(
        id="gov/old-account-field",
        severity=Severity.INFO,
        title="a pod names its ServiceAccount by the old field",
        rationale="`serviceAccount` is an alias kept for old manifests; tools that read serviceAccountName miss it.",
        example=Example(
            good=(_POD % ("serviceAccountName: default", "")).removeprefix("---\n"),
            bad=(_POD % ("serviceAccount: default", "")).removeprefix("---\n"),
        ),
        find=_find_account,
    ),
    Check(
        id="gov/image-no-digest",
        severity=Severity.WARNING,
        title="an image is named by its tag alone",
        rationale=(
            "A tag can be moved by whoever may push: two pods of one workload may then run different code, and a "
            "rollback may bring back something else. A digest names the bytes."
        ),
        example=Example(
            good=(_POD % ("hostname: web", "@sha256:" + "1" * 64)).removeprefix("---\n"),
            bad=(_POD % ("hostname: web", "")).removeprefix("---\n"),
        ),
        find=_find_digest,
    ),
)
