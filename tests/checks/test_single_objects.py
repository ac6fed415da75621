"""Rules that need one object only: images, tokens, secrets, duplicates, sizes."""

from dataclasses import replace

import pytest

from kixbot.checks.report import run
from kixbot.model.build import Build, PinUse
from kixbot.model.finding import Finding, Severity
from kixbot.model.pin import Pin, Pins
from kixbot.model.resource import Resource
from tests.builds import build_of

DIGEST = "sha256:" + "a" * 64


def pod(spec: str = "", container: str = "", image: str = "web:1") -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  automountServiceAccountToken: false
  containers: [{{name: web, image: "{image}", {container}}}]
  {spec}
"""


def of_rule(build: Build, rule: str, pins: Pins | None = None) -> list[Finding]:
    return [finding for finding in run(build, pins=pins).findings if finding.rule == rule]


def edited(build: Build, **changes: object) -> Build:
    """The build with `changes` in its first resource."""
    first, *others = build.resources
    resources: tuple[Resource, ...] = (replace(first, **changes), *others)  # type: ignore[arg-type]  # by field name
    return replace(build, resources=resources)


@pytest.mark.parametrize(
    ("image", "fact"),
    [
        ("web", "which names neither a tag nor a digest"),
        ("registry:5000/team/app", "which names neither a tag nor a digest"),
        ("ghcr.io/acme/web:latest", "whose tag moves with every release"),
        ("ghcr.io/acme/web:", "which names neither a tag nor a digest"),
        ("registry:5000/team/app:1.5.0", None),
        (f"ghcr.io/acme/web@{DIGEST}", None),
        (f"ghcr.io/acme/web:latest@{DIGEST}", None),
    ],
)
def test_an_image_needs_a_tag_that_stays_or_a_digest(image: str, fact: str | None) -> None:
    found = of_rule(build_of(pod(image=image)), "gov/image-no-tag")
    messages = [f"Pod shop/web container 'web' uses image {image}, {fact}"] if fact else []
    assert [finding.message for finding in found] == messages


def test_a_default_image_without_a_pin_is_a_warning_once() -> None:
    build = build_of(pod())
    use = PinUse(key="web", reference="ghcr.io/acme/web:1.5.0", pinned=False)
    pinned = PinUse(key="db", reference=f"db:1@{DIGEST}", pinned=True)
    build = replace(build, evaluated=replace(build.evaluated, pins_used=(use, use, pinned)))
    (finding,) = of_rule(build, "gov/image-unpinned")
    assert finding.message == "image web is ghcr.io/acme/web:1.5.0, the default of its package, which no pin fixes"
    assert (finding.severity, finding.hint) == (Severity.WARNING, "kix pin add ghcr.io/acme/web:1.5.0 --key web")


def pins(user: str | int | None) -> Pins:
    return Pins(pins={"web": Pin(key="web", image="ghcr.io/acme/web", tag="1.5.0", digest=DIGEST, user=user)})


PINNED = f"ghcr.io/acme/web:1.5.0@{DIGEST}"


@pytest.mark.parametrize(
    ("user", "fault"),
    [
        ("root", "runs as root"),
        ("0", "runs as root"),
        ("0:101", "runs as root"),
        (0, "runs as root"),
        ("", "runs as root"),
        ("nginx", "names its user 'nginx', which cannot be told apart from root"),
        ("101", None),
        (101, None),
        ("101:101", None),
        (None, None),
    ],
)
def test_run_as_non_root_needs_an_image_whose_user_is_a_number(user: str | int | None, fault: str | None) -> None:
    build = build_of(pod("securityContext: {runAsNonRoot: true}", image=PINNED))
    found = of_rule(build, "sec/root-image", pins(user))
    messages = [
        (
            f"Pod shop/web container 'web' sets runAsNonRoot, and its image ghcr.io/acme/web:1.5.0 {fault}; "
            "the kubelet refuses to start it"
        )
    ]
    assert [finding.message for finding in found] == (messages if fault else [])


@pytest.mark.parametrize(
    ("shared", "own", "count"),
    [
        ("{runAsNonRoot: true}", "{}", 1),
        ("{}", "{runAsNonRoot: true}", 1),
        ("{runAsNonRoot: true}", "{runAsNonRoot: false}", 0),
        ("{runAsNonRoot: true, runAsUser: 101}", "{}", 0),
        ("{runAsNonRoot: true}", "{runAsUser: 101}", 0),
        ("{}", "{}", 0),
    ],
)
def test_a_containers_security_context_goes_before_its_pods(shared: str, own: str, count: int) -> None:
    build = build_of(pod(f"securityContext: {shared}", f"securityContext: {own}", PINNED))
    assert len(of_rule(build, "sec/root-image", pins("root"))) == count


ACCOUNT = """\
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: shop}
automountServiceAccountToken: %s
"""
BINDING = """\
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: web}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects: [{kind: ServiceAccount, name: web, namespace: shop}]
"""


@pytest.mark.parametrize(
    ("own", "rest", "count"),
    [
        ("", "", 1),
        ("automountServiceAccountToken: true", "", 1),
        ("automountServiceAccountToken: false", "", 0),
        ("serviceAccountName: web", ACCOUNT % "true", 1),
        ("serviceAccountName: web", ACCOUNT % "false", 0),
        # The pod's own setting goes before the account's, both ways.
        ("serviceAccountName: web\n  automountServiceAccountToken: true", ACCOUNT % "false", 1),
        ("serviceAccountName: web\n  automountServiceAccountToken: false", ACCOUNT % "true", 0),
        ("serviceAccountName: web", ACCOUNT % "true" + BINDING, 0),
    ],
)
def test_a_token_that_nobody_has_use_for(own: str, rest: str, count: int) -> None:
    text = pod().replace("automountServiceAccountToken: false", own or "hostname: web")
    assert len(of_rule(build_of(text + rest), "sec/automount-token")) == count


SECRET = (
    "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\nstringData: {password: hunter2, user: db}\n"
)


def test_a_secret_in_plain_manifests_is_a_warning_that_names_keys_and_no_value() -> None:
    (finding,) = of_rule(build_of(SECRET), "sec/secret-literal")
    assert finding.severity is Severity.WARNING
    assert finding.message == "Secret shop/db holds values in the source: password, user"
    assert "hunter2" not in str(finding)


def test_a_secret_in_a_definition_is_an_error() -> None:
    build = build_of(SECRET)
    source = replace(build.evaluated.source, kind="nix")
    (finding,) = of_rule(replace(build, evaluated=replace(build.evaluated, source=source)), "sec/secret-literal")
    assert finding.severity is Severity.ERROR
    assert str(finding.hint).startswith("declare keys with scope.mkSecret")


def test_keys_that_are_made_at_apply_are_no_literals() -> None:
    build = edited(build_of(SECRET), generated=("data.password", "data.user"))
    assert of_rule(build, "sec/secret-literal") == []


def test_a_secret_without_values_holds_none() -> None:
    assert (
        of_rule(build_of(SECRET.replace("hunter2", "''").replace("user: db", "user: ''")), "sec/secret-literal") == []
    )


def test_values_of_the_wrong_type_in_a_definition_are_named_by_path() -> None:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"debug": True}, "annotations": {"a.b/c": 1}},
        "spec": {
            "nodeSelector": {"zone": 3},
            "containers": [{"name": "web", "image": 5, "args": ["-p", 8080], "env": [{"name": "A", "value": 1.5}]}],
        },
    }
    found = of_rule(edited(build_of(pod()), manifest=manifest), "schema/not-a-string")
    assert [(finding.path, finding.message, finding.hint) for finding in found] == [
        (path, f"Pod shop/web has a {kind} where a string belongs", "quote it")
        for path, kind in (
            ('$.metadata.annotations."a.b/c"', "number"),
            ("$.metadata.labels.debug", "boolean"),
            ("$.spec.containers[web].args[1]", "number"),
            ("$.spec.containers[web].env[A].value", "number"),
            ("$.spec.containers[web].image", "number"),
            ("$.spec.nodeSelector.zone", "number"),
        )
    ]


def test_ports_are_told_apart_by_number_and_protocol_after_defaults() -> None:
    fine = pod("", "ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}]")
    assert of_rule(build_of(fine), "schema/duplicate-map-key") == []
    twice = pod("", "ports: [{containerPort: 53}, {containerPort: 53, protocol: TCP}]")
    (finding,) = of_rule(build_of(twice), "schema/duplicate-map-key")
    assert finding.message == (
        "Pod shop/web has 2 items with the key '53/TCP' in ports; items are told apart by containerPort and protocol"
    )
    assert finding.path == "$.spec.containers[web].ports"


def test_two_volumes_of_one_name_and_two_mounts_of_one_path() -> None:
    text = pod(
        "volumes: [{name: a, emptyDir: {}}, {name: a, emptyDir: {}}]",
        "volumeMounts: [{name: a, mountPath: /a}, {name: a, mountPath: /a}]",
    )
    found = of_rule(build_of(text), "schema/duplicate-map-key")
    assert [finding.path for finding in found] == ["$.spec.containers[web].volumeMounts", "$.spec.volumes"]


def config(**fields: object) -> Build:
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big, namespace: shop}\n"
    build = build_of(text)
    return edited(build, manifest={**build.resources[0].manifest, **fields})


def test_a_config_map_may_hold_one_mebibyte() -> None:
    assert of_rule(config(data={"a": "x" * 2**20}), "api/object-size") == []
    (finding,) = of_rule(config(data={"a": "x" * 2**21}), "api/object-size")
    assert finding.message == "ConfigMap shop/big has 2.0 MiB of values; the API server takes at most 1.0 MiB"
    assert finding.path == "$.data"


def test_binary_data_counts_as_what_it_decodes_to() -> None:
    assert of_rule(config(binaryData={"a": "AAAA" * (2**20 // 3)}), "api/object-size") == []
    assert len(of_rule(config(binaryData={"a": "AAAA" * (2**20 // 3 + 1)}), "api/object-size")) == 1


def test_annotations_may_hold_a_quarter_mebibyte() -> None:
    metadata = {"name": "big", "namespace": "shop", "annotations": {"a": "x" * 2**18}}
    (finding,) = of_rule(config(metadata=metadata), "api/object-size")
    assert finding.message == "ConfigMap shop/big has 256 KiB of annotations; the API server takes at most 256 KiB"
