"""schema/not-a-string: a boolean or a number where Kubernetes takes only text, mostly for want of quotes."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Container, Pods
from kixbot.checks.shape import at, keyed, mapping
from kixbot.model.finding import Severity
from kixbot.model.path import index, member
from kixbot.model.resource import Resource

Field = tuple[str, object]


def _find(context: Context) -> Iterator[Hit]:
    for resource in context.resources:
        for path, value in _fields(resource):
            yield from _judge(resource, path, value)
    for pods in context.pods:
        for path, value in _pod_fields(pods):
            yield from _judge(pods.resource, path, value)


def _judge(resource: Resource, path: str, value: object) -> Iterator[Hit]:
    if isinstance(value, bool | int | float):
        kind = "boolean" if isinstance(value, bool) else "number"
        yield Hit(
            resource=resource,
            path=path,
            message=f"{resource.ref.plain} has a {kind} where a string belongs",
            hint="quote it",
        )


def _fields(resource: Resource) -> Iterator[Field]:
    metadata = mapping(resource.manifest.get("metadata"))
    for field in ("name", "namespace"):
        yield f"$.metadata.{field}", metadata.get(field)
    for field in ("labels", "annotations"):
        yield from _entries(f"$.metadata.{field}", metadata.get(field))
    yield from _entries("$.spec.selector.matchLabels", at(resource.manifest, "spec", "selector").get("matchLabels"))
    match resource.ref.group, resource.ref.kind:
        case "", "ConfigMap" | "Secret":
            yield from _entries("$.data", resource.manifest.get("data"))
        case "", "Service":
            yield from _entries("$.spec.selector", at(resource.manifest, "spec").get("selector"))
        case "networking.k8s.io", "NetworkPolicy":
            selector = at(resource.manifest, "spec", "podSelector")
            yield from _entries("$.spec.podSelector.matchLabels", selector.get("matchLabels"))


def _pod_fields(pods: Pods) -> Iterator[Field]:
    if pods.path != "$":
        template = pods.resource.manifest
        for key in pods.path.removeprefix("$.").split("."):
            template = mapping(template.get(key))
        for field in ("labels", "annotations"):
            yield from _entries(f"{pods.path}.metadata.{field}", at(template, "metadata").get(field))
    yield from _entries(f"{pods.spec_path}.nodeSelector", pods.spec.get("nodeSelector"))
    for container in pods.containers:
        yield from _container_fields(container)


def _container_fields(container: Container) -> Iterator[Field]:
    for field in ("name", "image", "workingDir"):
        yield f"{container.path}.{field}", container.body.get(field)
    for field in ("command", "args"):
        words = container.body.get(field)
        for number, word in enumerate(words if isinstance(words, list | tuple) else ()):
            yield index(f"{container.path}.{field}", number), word
    for path, entry in keyed(container.path, container.body, "env"):
        yield f"{path}.name", entry.get("name")
        yield f"{path}.value", entry.get("value")


def _entries(path: str, values: object) -> Iterator[Field]:
    entries: Mapping[str, Any] = mapping(values)
    for key, value in entries.items():
        yield member(path, key), value


CHECK = Check(
    id="schema/not-a-string",
    severity=Severity.ERROR,
    title="a boolean or a number stands where Kubernetes takes a string",
    rationale=(
        "Names, labels, annotations, environment values, arguments and ConfigMap values are strings, and the API "
        "server refuses anything else. kix never converts them: nobody can say what was meant. In manifests, where "
        "YAML reads `yes`, `n`, `8080` and `1e3` as booleans and numbers, such a name, label or value does not build."
    ),
    example=Example(
        good='env = [ { name = "DEBUG"; value = "true"; } ];\n',
        bad='env = [ { name = "DEBUG"; value = true; } ];\n',
        language="nix",
    ),
    find=_find,
)
