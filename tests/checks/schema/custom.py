"""A CRD that uses all that CRDs can say, and custom resources of its kind."""

import json
from collections.abc import Iterator
from typing import Any

import yaml

from kixbot.checks.schema.crds import Crds
from kixbot.checks.schema.judge import tables
from kixbot.checks.schema.node import Fault
from kixbot.model.resource import Ref, Resource
from tests.checks.schema.objects import Body

GROUP = "schema-test.example.org"

DEFINITION: Body = yaml.safe_load(f"""\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: pools.{GROUP}}}
spec:
  group: {GROUP}
  scope: Namespaced
  names: {{kind: Pool, plural: pools, singular: pool}}
  versions:
    - {{name: v1beta1, served: false, storage: false, schema: {{openAPIV3Schema: {{type: object, x-kubernetes-preserve-unknown-fields: true}}}}}}
    - name: v1
      served: true
      storage: true
      subresources: {{status: {{}}}}
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            metadata: {{type: object, properties: {{name: {{type: string, maxLength: 20, pattern: "^[a-z]"}}}}}}
            status: {{type: object, properties: {{ready: {{type: boolean}}}}}}
            spec:
              type: object
              required: [size]
              properties:
                size: {{type: integer, format: int32, minimum: 1, maximum: 9}}
                ratio: {{type: number, minimum: 0, exclusiveMinimum: true}}
                even: {{type: integer, multipleOf: 2}}
                name: {{type: string, minLength: 2, maxLength: 5, pattern: "^[a-z]+$"}}
                mode: {{type: string, enum: [fast, slow], default: fast}}
                port: {{x-kubernetes-int-or-string: true, anyOf: [{{type: integer}}, {{type: string}}], pattern: "^[0-9]+$|%$"}}
                note: {{type: string, nullable: true}}
                enabled: {{type: boolean}}
                raw: {{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {{known: {{type: integer}}}}}}
                labels: {{type: object, maxProperties: 2, additionalProperties: {{type: string, minLength: 1}}}}
                any: {{x-kubernetes-preserve-unknown-fields: true}}
                since: {{type: string, format: date-time}}
                day: {{type: string, format: date}}
                id: {{type: string, format: uuid}}
                data: {{type: string, format: byte}}
                address: {{type: string, format: ipv4}}
                tags: {{type: array, maxItems: 3, x-kubernetes-list-type: set, items: {{type: string}}}}
                steps: {{type: array, minItems: 1, items: {{type: object, required: [run], properties: {{run: {{type: string}}, times: {{type: integer, default: 1}}}}}}}}
                nodes:
                  type: array
                  maxItems: 10
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [name, zone]
                  items:
                    type: object
                    required: [name]
                    properties: {{name: {{type: string}}, zone: {{type: string, default: a}}, weight: {{type: integer}}}}
                template: {{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}
                source:
                  type: object
                  properties: {{git: {{type: string}}, oci: {{type: string}}, both: {{type: boolean}}}}
                  oneOf: [{{required: [git]}}, {{required: [oci]}}]
                  not: {{properties: {{both: {{enum: [true]}}}}, required: [both]}}
                limits:
                  type: object
                  properties: {{min: {{type: integer, default: 1}}, max: {{type: integer}}}}
                  x-kubernetes-validations:
                    - {{rule: "!has(self.max) || self.min <= self.max", message: min must not exceed max}}
                    - {{rule: "!has(self.max) || self.max < 100", messageExpression: "self.max > 150 ? 'max is far too large' : 'max is too large'"}}
                    - {{rule: "self.min >= oldSelf.min || true"}}
              x-kubernetes-validations:
                - {{rule: "!has(self.name) || self.name.startsWith('a') || self.size > 1"}}
                - {{rule: "!has(self.tags) || self.tags.all(t, t.size() < 6)", message: tags are short}}
                - {{rule: "!has(self.address) || ip(self.address).family() == 4", message: "uses a function of Kubernetes' own"}}
""")


def pool(spec: str, name: str = "main", version: str = "v1", more: str = "") -> Body:
    """A custom resource with this spec."""
    body: Body = yaml.safe_load(
        f"apiVersion: {GROUP}/{version}\nkind: Pool\nmetadata: {{name: {name}, namespace: shop}}\nspec: {spec}\n{more}"
    )
    decoded: Body = json.loads(json.dumps(body, default=str))
    return decoded


def resource_of(body: Body) -> Resource:
    metadata: dict[str, Any] = body["metadata"]
    group, _, _ = body["apiVersion"].rpartition("/")
    ref = Ref(kind=body["kind"], group=group, namespace=metadata.get("namespace", ""), name=metadata["name"])
    return Resource(ref=ref, api_version=body["apiVersion"], manifest=body)


def faults_of(body: Body) -> Iterator[Fault]:
    """What kix says of a custom resource."""
    known = tables("1.34")
    return Crds((resource_of(DEFINITION),), known.type("meta.v1.ObjectMeta")).judge(resource_of(body))


VALID = (
    "{size: 1}",
    "{size: 9, ratio: 1.5, name: abc, mode: slow, port: 80, enabled: false}",
    "{size: 2, ratio: 1, port: '50%', note: null, raw: {any: [1, {b: c}], known: 3}, any: [1, x]}",
    "{size: 2, labels: {a: b, c: d}, since: '2030-01-31T12:00:00Z', day: '2030-01-31', data: aGVsbG8=, address: 192.0.2.1}",
    "{size: 2, id: 6ba7b810-9dad-11d1-80b4-00c04fd430c8, tags: [a, b], steps: [{run: x}, {run: y, times: 2}]}",
    "{size: 2, nodes: [{name: a}, {name: a, zone: b}, {name: b}]}",
    "{size: 2, template: {apiVersion: v1, kind: Pod, metadata: {name: x}, whatever: 1}}",
    "{size: 2, source: {git: x}, limits: {max: 3}}",
    "{size: 2, limits: {}, any: null, raw: {}}",
)
"""Specs that the API server takes."""

INVALID = {
    "{}": "schema/required",
    "{size: 0}": "schema/value",
    "{size: 10}": "schema/value",
    "{size: '1'}": "schema/type",
    "{size: 1.5}": "schema/type",
    "{size: 1, sise: 2}": "schema/unknown-field",
    "{size: 1, ratio: 0}": "schema/value",
    "{size: 1, even: 3}": "schema/value",
    "{size: 2, name: a}": "schema/value",
    "{size: 2, name: abcdef}": "schema/value",
    "{size: 2, name: AB}": "schema/value",
    "{size: 1, name: bcd}": "schema/cel",
    "{size: 1, mode: quick}": "schema/enum",
    "{size: 1, port: many}": "schema/value",
    "{size: 1, port: 1.5}": "schema/type",
    "{size: 1, port: true}": "schema/type",
    "{size: 1, enabled: 'yes'}": "schema/type",
    "{size: 1, raw: {known: x}}": "schema/type",
    "{size: 1, raw: []}": "schema/type",
    "{size: 1, labels: {a: ''}}": "schema/value",
    "{size: 1, labels: {a: 1}}": "schema/type",
    "{size: 1, labels: {a: b, c: d, e: f}}": "schema/value",
    "{size: 1, since: yesterday}": "schema/value",
    "{size: 1, day: 2030-13-01x}": "schema/value",
    "{size: 1, id: x}": "schema/value",
    "{size: 1, data: '!'}": "schema/value",
    "{size: 1, address: '::1'}": "schema/value",
    "{size: 1, tags: [a, a]}": "schema/duplicate-item",
    "{size: 1, tags: [a, b, c, d]}": "schema/value",
    "{size: 1, tags: [abcdefg]}": "schema/cel",
    "{size: 1, tags: a}": "schema/type",
    "{size: 1, steps: []}": "schema/value",
    "{size: 1, steps: [{}]}": "schema/required",
    "{size: 1, steps: [{run: x, tims: 1}]}": "schema/unknown-field",
    "{size: 1, nodes: [{name: a}, {name: a, zone: a}]}": "schema/duplicate-item",
    "{size: 1, nodes: [{zone: a}]}": "schema/required",
    "{size: 1, template: {kind: Pod, metadata: {name: x}}}": "schema/required",
    "{size: 1, source: {}}": "schema/value",
    "{size: 1, source: {git: a, oci: b}}": "schema/value",
    "{size: 1, source: {git: a, both: true}}": "schema/value",
    "{size: 1, limits: {min: 5, max: 2}}": "schema/cel",
    "{size: 1, limits: {max: 0}}": "schema/cel",
    "{size: 1, limits: {max: 200}}": "schema/cel",
    "[]": "schema/type",
}
"""Specs that the API server refuses, each with the rule by which kix does."""
