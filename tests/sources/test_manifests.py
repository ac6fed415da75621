"""Plain manifests: what they become, and what is refused with a place and a hint."""

import json
from typing import Any

import pytest

from kixbot.errors import ExitCode, SourceError
from kixbot.model.build import ClusterFacts, Evaluated, SourceInfo, Suppression
from kixbot.model.resource import Location, Ref
from kixbot.sources.manifests import File, Loose, evaluate, load

WEB = """apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: shop
"""


def loaded(text: str, name: str = "app.yaml") -> Any:
    return load([File(name=name, data=text.encode())])


def ids(text: str, name: str = "app.yaml") -> list[str]:
    return [resource.ref.id for resource in loaded(text, name).resources]


def refusal(text: str | bytes, name: str = "app.yaml") -> tuple[str | None, int | None, str, str | None]:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(SourceError) as caught:
        load([File(name=name, data=data)])
    assert caught.value.exit_code == ExitCode.SOURCE
    return caught.value.file, caught.value.line, caught.value.message, caught.value.hint


def whole(text: str, **settings: Any) -> Evaluated:
    loose = Loose(cluster=ClusterFacts(name="shop"), source=SourceInfo(kind="manifests", path="app"), **settings)
    return evaluate([File(name="app.yaml", data=text.encode())], loose)


def test_several_documents_are_several_resources_with_their_lines() -> None:
    text = f"{WEB}---\n# a comment\n\napiVersion: v1\nkind: Service\nmetadata: {{name: web}}\n"
    found = loaded(text).resources
    assert [(one.ref.id, one.origin) for one in found] == [
        ("Deployment/web@shop", Location(file="app.yaml", line=1)),
        ("Service/web@default", Location(file="app.yaml", line=9)),
    ]


def test_lists_are_flattened_and_typed_lists_lend_their_kind() -> None:
    text = """apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: a}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: b}
"""
    found = loaded(text).resources
    assert [(one.ref.id, one.place("$.metadata.name")) for one in found] == [
        ("ConfigMap/a@default", Location(file="app.yaml", line=6)),
        ("ConfigMap/b@default", Location(file="app.yaml", line=10)),
    ]


def test_json_is_read_whatever_the_file_is_called() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    for text in (
        json.dumps(body),
        json.dumps([body]),
        json.dumps({"apiVersion": "v1", "kind": "List", "items": [body]}),
    ):
        assert ids(text, "-") == ids(text, "app.json") == ["ConfigMap/a@default"]


def test_flow_style_yaml_that_opens_like_json_is_read() -> None:
    assert ids("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}") == ["ConfigMap/a@default"]


def test_cluster_scoped_kinds_have_no_namespace() -> None:
    text = """apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: a, namespace: ignored}
---
apiVersion: example.com/v1
kind: Zone
metadata: {name: z}
---
apiVersion: example.com/v1
kind: Thing
metadata: {name: t}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: zones.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Zone}}
"""
    found = loaded(text).resources
    assert [one.ref.id for one in found] == [
        "ClusterRole/a",
        "Zone.example.com/z",
        "Thing.example.com/t@default",
        "CustomResourceDefinition/zones.example.com",
    ]
    assert "namespace" not in found[0].manifest["metadata"]
    assert found[2].manifest["metadata"]["namespace"] == "default"


def test_settings_give_namespace_and_ceded_paths() -> None:
    text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
    (found,) = whole(text, namespace="shop", cede={"Deployment/web@shop": ("spec.replicas",)}).resources
    assert (found.ref, found.cede) == (Ref("Deployment", "apps", "shop", "web"), ("spec.replicas",))


def test_steering_annotations_are_read_and_gone() -> None:
    text = f"""{WEB}  annotations:
    kix.run/cede: |
      spec.replicas
      spec.template.spec.containers[web].image
    kix.run/ignore: "rel/no-probe: a batch of one"
"""
    found = whole(text)
    (web,) = found.resources
    assert web.cede == ("spec.replicas", "spec.template.spec.containers[web].image")
    assert "annotations" not in web.manifest["metadata"]
    assert found.scorecard.ignore == (
        Suppression(rule="rel/no-probe", resource="Deployment/web@shop", reason="a batch of one"),
    )


def test_a_manifest_is_normalised() -> None:
    text = """apiVersion: v1
kind: Secret
metadata: {name: db, creationTimestamp: null}
stringData: {pass: hi}
status: {x: 1}
"""
    (found,) = loaded(text).resources
    assert found.manifest == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "db", "namespace": "default"},
        "data": {"pass": "aGk="},
    }


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("apiVersion: v1\nmetadata: {name: a}\n", 1, "manifest without kind", "add `kind:`, or keep files that are no manifests elsewhere"),
        ("kind: ConfigMap\nmetadata: {name: a}\n", 1, "manifest without apiVersion", "add `apiVersion:`, for example `apiVersion: v1`"),
        ("apiVersion: v1\nkind: ConfigMap\n", 1, "ConfigMap without metadata", "add `metadata:` with a name"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", 3, "ConfigMap without metadata.name", "give it a name"),
        ("just text\n", 1, "a manifest is a map, this is text", "check indentation and quotes"),
        ("---\n- 1\n", 2, "a manifest is a map, this is a number", "check indentation and quotes"),
        ("apiVersion: v1\nkind: a b\nmetadata: {name: a}\n", 2, "kind 'a b' is no kind of Kubernetes", "add `kind:`, or keep files that are no manifests elsewhere"),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a/b}\n", 3, "ConfigMap name 'a/b' is no name", None),
        ("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: A_b}\n", 3, "ConfigMap/a: namespace 'A_b' is no name", None),
        (f"{WEB}spec: [\n", 7, "broken YAML: while parsing a flow node, did not find expected node content", None),
    ],
)  # fmt: skip
def test_what_is_no_manifest_is_said_with_its_place(text: str, line: int, message: str, hint: str | None) -> None:
    assert refusal(text) == ("app.yaml", line, message, hint)


@pytest.mark.parametrize(
    ("field", "line", "path", "meaning"),
    [
        ("metadata: {name: on}", 3, "$.metadata.name", "the boolean true"),
        ("metadata: {name: 1}", 3, "$.metadata.name", "a number"),
        ("metadata: {name: a, namespace: n}", 3, "$.metadata.namespace", "the boolean false"),
        ("metadata: {name: a, namespace: }", 3, "$.metadata.namespace", "null"),
        ("metadata: {name: a, labels: {b: 1.10}}", 3, "$.metadata.labels.b", "a number"),
        ("metadata:\n  name: a\n  annotations:\n    c.d/e: yes", 6, '$.metadata.annotations."c.d/e"', "the boolean true"),
        ("metadata: {name: a}\nspec:\n  selector: {matchLabels: {b: no}}", 5, "$.spec.selector.matchLabels.b", "the boolean false"),
        ("metadata: {name: a}\nspec:\n  template:\n    metadata: {labels: {b: 1}}", 6, "$.spec.template.metadata.labels.b", "a number"),
        ("metadata: {name: a}\nspec:\n  containers:\n  - name: x\n    env:\n    - {name: A, value: 1}", 8, "$.spec.containers[0].env[0].value", "a number"),
        ("metadata: {name: a}\nspec:\n  containers:\n  - name: x\n    env:\n    - name: A\n      value:", 9, "$.spec.containers[0].env[0].value", "null"),
        ("metadata: {name: a}\nspec:\n  nodeSelector: {gpu: true}", 5, "$.spec.nodeSelector.gpu", "the boolean true"),
        ("metadata: {name: a}\nsubjects:\n- {kind: Group, name: 1}", 5, "$.subjects[0].name", "a number"),
    ],
)  # fmt: skip
def test_an_unquoted_name_label_or_value_is_never_guessed(field: str, line: int, path: str, meaning: str) -> None:
    file, found, message, hint = refusal(f"apiVersion: v1\nkind: Thing\n{field}\n")
    assert (file, found, hint) == ("app.yaml", line, "quote it")
    assert message.endswith(f": {path} reads as {meaning}")


def test_several_unquoted_values_are_said_at_once() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {"
        + ", ".join(f"k{at}: {at}" for at in range(7))
        + "}\n"
    )
    message = refusal(text)[2]
    assert message.splitlines() == [
        *[f"ConfigMap/a: $.data.k{at} reads as a number" for at in range(5)],
        "and 2 more",
    ]


def test_schemas_and_custom_fields_may_hold_any_name() -> None:
    text = """apiVersion: example.com/v1
kind: Thing
metadata: {name: a}
spec: {name: 1, labels: {x: true}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a}
spec: {versions: [{name: v1, schema: {openAPIV3Schema: {properties: {name: {default: 1}}, name: 1}}}]}
"""
    assert ids(text) == ["Thing.example.com/a@default", "CustomResourceDefinition/a"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metadata: {name: a, labels: {kix.run/x: v}}", "kix.run/x belongs to kix"),
        ("metadata: {name: a, annotations: {kix.run/identity-hash: v}}", "kix.run/identity-hash belongs to kix"),
        ("metadata: {name: a, labels: {cluster.kix.run/shop: v}}", "cluster.kix.run/shop belongs to kix"),
        ("metadata: {name: a, labels: {kix.run/cede: v}}", "kix.run/cede is an annotation, not a label"),
        ("metadata: {name: a}\nspec: {template: {metadata: {labels: {kix.run/x: v}}}}", "kix.run/x belongs to kix"),
        (
            "metadata: {name: a}\nspec: {volumeClaimTemplates: [{metadata: {labels: {kix.run/x: v}}}]}",
            "kix.run/x belongs to kix",
        ),
        (
            "metadata: {name: a}\nspec: {volumes: [{ephemeral: {volumeClaimTemplate: {metadata: {labels: {kix.run/x: v}}}}}]}",
            "kix.run/x belongs to kix",
        ),
    ],
)
def test_keys_that_belong_to_kix_do_not_build(text: str, message: str) -> None:
    found = refusal(f"apiVersion: v1\nkind: ConfigMap\n{text}\n")
    assert found[2:] == (
        f"ConfigMap/a: {message}",
        "only the annotations kix.run/cede and kix.run/ignore may be written",
    )


@pytest.mark.parametrize("kind", ["Activation", "PackageInstance", "Other"])
def test_objects_of_kix_s_own_group_do_not_build(kind: str) -> None:
    text = f"apiVersion: kix.run/v1alpha1\nkind: {kind}\nmetadata: {{name: a}}\n"
    assert refusal(text)[2] == f"{kind}/a: objects of group kix.run are made by kix alone"


def test_a_suppression_needs_a_reason() -> None:
    found = refusal(f"{WEB}  annotations: {{kix.run/ignore: rel/no-probe}}\n")
    assert found[2:] == (
        "Deployment/web@shop: kix.run/ignore: 'rel/no-probe' gives no reason",
        "write RULE: REASON, one a line",
    )


def test_a_ceded_path_must_be_one() -> None:
    found = refusal(f"{WEB}  annotations: {{kix.run/cede: 'spec..x'}}\n")
    assert found[:2] == ("app.yaml", 6)
    assert found[2].startswith("Deployment/web: kix.run/cede: ")


def test_a_generated_name_is_an_assertion_and_the_rest_goes_on() -> None:
    text = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{generateName: migrate-}}\n---\n{WEB}"
    found = loaded(text)
    assert [one.ref.id for one in found.resources] == ["Deployment/web@shop"]
    (said,) = found.assertions
    assert said.message == "Job with generateName 'migrate-' has no name: server-side apply needs one"
    assert (said.hint, said.origin) == ("write metadata.name", Location(file="app.yaml", line=1))


def test_files_without_any_object_do_not_build() -> None:
    with pytest.raises(SourceError) as caught:
        whole("# nothing here\n")
    assert caught.value.message == "app: no manifest found"


def test_bytes_that_are_no_text_are_refused_with_their_line() -> None:
    assert refusal(b"a: 1\nb: \xff\n") == ("app.yaml", 2, "not UTF-8: byte 0xff", "save the file as UTF-8")


def test_secret_values_stand_in_no_message() -> None:
    message = refusal("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {pin: 4711}\n")[2]
    assert "4711" not in message


def test_the_node_selector_of_a_device_is_an_object() -> None:
    text = """apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: a}
spec:
  driver: gpu.example.com
  pool: {name: a, generation: 1, resourceSliceCount: 1}
  nodeSelector: {nodeSelectorTerms: [{matchExpressions: [{key: zone, operator: In, values: [a]}]}]}
"""
    assert ids(text) == ["ResourceSlice/a"]
