"""A published OpenAPI description as a judge: every request and every response of a loopback server goes through it."""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

_ROOT = "urn:description"


class DescriptionError(AssertionError):
    """A message that the published description does not allow."""


class Description:
    """An OpenAPI 3.0 document. Parameters that may hold slashes are matched greedily, as the real servers do."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = document
        self._registry: Any = Registry().with_resource(_ROOT, DRAFT4.create_resource(document))
        self._paths = [
            (re.compile("^" + re.sub(r"\\{[^/]+?\\}", "(.+)", re.escape(path)) + "$"), path)
            for path in sorted(document["paths"], key=lambda path: (-path.count("/"), path.count("{")))
        ]

    def find(self, method: str, path: str) -> tuple[str, Mapping[str, Any]] | None:
        """The path template and operation of a request."""
        for pattern, template in self._paths:
            operations = self.document["paths"][template]
            if pattern.match(path) and method.lower() in operations:
                return template, operations[method.lower()]
        return None

    def example(self, method: str, template: str, status: str) -> Any:
        """The first published example of a response."""
        content = self.document["paths"][template][method]["responses"][status]["content"]["application/json"]
        found = next(iter(content["examples"].values()))
        return json.loads(json.dumps(self._resolve(found)["value"]))

    def check_request(self, method: str, template: str, query: str, body: Any) -> None:
        """Raises DescriptionError when query names or the body are not as published."""
        operation = self.document["paths"][template][method.lower()]
        declared = [self._resolve(item) for item in operation.get("parameters", ())]
        declared += [self._resolve(item) for item in self.document["paths"][template].get("parameters", ())]
        names = {item["name"] for item in declared if item["in"] == "query"}
        unknown = {name for name, _ in parse_qsl(query)} - names
        if unknown:
            raise DescriptionError(f"{method} {template}: no such query parameters: {sorted(unknown)}")
        content = self._resolve(operation.get("requestBody", {})).get("content", {}).get("application/json")
        if body is None:
            return
        if content is None:
            raise DescriptionError(f"{method} {template}: takes no body")
        allowed = content["schema"]
        self._validate(f"{method} {template}", allowed, body)
        # Servers ignore what they do not know, so a misspelt field would pass; hold the names here.
        known = self._property_names(allowed)
        if known and isinstance(body, Mapping) and set(body) - known:
            raise DescriptionError(f"{method} {template}: no such fields: {sorted(set(body) - known)}")

    def check_response(self, method: str, template: str, status: int, body: Any) -> None:
        """Raises DescriptionError when the status is not published or the body is not as published."""
        responses = self.document["paths"][template][method.lower()]["responses"]
        response = responses.get(str(status))
        if response is None:
            if status >= 400:  # any operation may be limited, unauthorised or broken
                return
            raise DescriptionError(f"{method} {template}: {status} is not published")
        content = self._resolve(response).get("content", {}).get("application/json")
        if content and status < 300:
            self._validate(f"{method} {template} {status}", content["schema"], body)

    def _validate(self, what: str, schema: Any, body: Any) -> None:
        absolute = json.loads(json.dumps(schema).replace('"#/', f'"{_ROOT}#/'))
        # The contents call's discriminator names a property that its array form cannot have; oneOf alone decides.
        absolute.pop("discriminator", None)
        errors = sorted(OAS30Validator(absolute, registry=self._registry).iter_errors(body), key=str)
        if errors:
            first = errors[0]
            raise DescriptionError(f"{what}: {'/'.join(map(str, first.absolute_path))}: {first.message[:400]}")

    def _property_names(self, schema: Any) -> set[str]:
        resolved = self._resolve(schema)
        names = set(resolved.get("properties", ()))
        for word in ("allOf", "anyOf", "oneOf"):
            for part in resolved.get(word, ()):
                names |= self._property_names(part)
        return names

    def _resolve(self, node: Any) -> Any:
        while isinstance(node, Mapping) and "$ref" in node:
            target: Any = self.document
            for step in node["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            node = target
        return node


@cache
def load(path: Path) -> Mapping[str, Any]:
    """The JSON document of a file, read once a process."""
    document: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def trim(document: Mapping[str, Any], operations: frozenset[tuple[str, str]]) -> Mapping[str, Any]:
    """The document with these (method, path) operations only; components stay."""
    paths: dict[str, Any] = {}
    for method, path in sorted(operations):
        item = document["paths"][path]
        paths.setdefault(path, {key: value for key, value in item.items() if key == "parameters"})[method] = item[
            method
        ]
    return {**document, "paths": paths}


def allow_null(document: Mapping[str, Any], fields: tuple[tuple[str, ...], ...]) -> Mapping[str, Any]:
    """The document with named fields (schema, then property names) also taking null."""
    schemas = {**document["components"]["schemas"]}
    for name, *steps in fields:
        schemas[name] = json.loads(json.dumps(schemas[name]))
        node = schemas[name]
        for step in steps[:-1]:
            node = node["properties"][step]
        inner = node["properties"][steps[-1]]
        node["properties"][steps[-1]] = {"anyOf": [inner, {"type": "object", "nullable": True, "maxProperties": 0}]}
    return {**document, "components": {**document["components"], "schemas": schemas}}
