"""What is sent for a resource, what is left to others, and what is noted beside it."""

from typing import Any

import pytest

from kixbot.diff.ownership import render_path
from kixbot.model.resource import Ref, Resource
from kixbot.ops.desired import (
    body_of,
    bookkeeping,
    find_lead,
    has_plain_values,
    hash_of,
    leaves_left_out,
    paths_by_text,
    sent_body,
)

REF = Ref("Deployment", "apps", "shop", "web")


def resource(manifest: dict[str, Any], **more: Any) -> Resource:
    return Resource(ref=REF, api_version="apps/v1", manifest=manifest, **more)


def owned(manager: str, fields: dict[str, Any], operation: str = "Update") -> dict[str, Any]:
    return {"manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsV1": fields}


def live(*entries: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": "web", "uid": "u", "managedFields": list(entries), **metadata}}


def test_empty_rules_beside_an_aggregation_rule_are_not_sent() -> None:
    role = {"kind": "ClusterRole", "aggregationRule": {"clusterRoleSelectors": []}, "rules": []}
    assert "rules" not in body_of(resource(role))
    assert "rules" in body_of(resource({**role, "aggregationRule": None}))
    assert "rules" in body_of(resource({**role, "rules": [{"verbs": ["get"]}]}))


def test_values_of_a_generated_secret_are_never_sent_as_kix() -> None:
    secret = resource({"kind": "Secret", "apiVersion": "v1", "data": {"user": "YQ=="}}, generated=("user", "password"))
    assert body_of(secret) == {"kind": "Secret", "apiVersion": "v1", "type": "Opaque"}
    assert not has_plain_values(secret)


@pytest.mark.parametrize("data", [{"k": "YQ=="}, {"a": "", "k": "YQ=="}])
def test_a_secret_with_values_in_the_build_is_told(data: dict[str, str]) -> None:
    assert has_plain_values(resource({"kind": "Secret", "apiVersion": "v1", "data": data}))


def test_a_secret_without_values_and_other_kinds_are_not() -> None:
    assert not has_plain_values(resource({"kind": "Secret", "apiVersion": "v1", "data": {"k": ""}}))
    assert not has_plain_values(resource({"kind": "ConfigMap", "apiVersion": "v1", "data": {"k": "v"}}))


MANIFEST = {
    "spec": {
        "replicas": 3,
        "template": {"spec": {"containers": [{"name": "web", "image": "a:1"}, {"name": "proxy", "image": "b:1"}]}},
    }
}
SCALED = owned("kubectl", {"f:spec": {"f:replicas": {}}})
MINE = owned("kix", {"f:spec": {"f:replicas": {}}}, "Apply")


def test_a_ceded_leaf_is_left_out_only_while_another_manager_holds_it() -> None:
    ceding = resource(MANIFEST, cede=("spec.replicas",))
    assert leaves_left_out(ceding, None) == ()
    assert leaves_left_out(ceding, live(MINE)) == ()
    assert [render_path(path) for path in leaves_left_out(ceding, live(MINE, SCALED))] == [".spec.replicas"]
    assert leaves_left_out(resource(MANIFEST), live(MINE, SCALED)) == ()
    assert sent_body(ceding, leaves_left_out(ceding, live(SCALED)))["spec"] == {
        "template": MANIFEST["spec"]["template"]
    }


def test_a_ceded_item_of_a_list_is_matched_by_its_key() -> None:
    image: dict[str, Any] = {
        "f:containers": {'k:{"name":"web"}': {"f:image": {}}, 'k:{"name":"proxy"}': {"f:image": {}}}
    }
    holder = owned("updater", {"f:spec": {"f:template": {"f:spec": image}}})
    ceding = resource(MANIFEST, cede=("spec.template.spec.containers[web].image",))
    left = leaves_left_out(ceding, live(holder))
    assert [render_path(path) for path in left] == ['.spec.template.spec.containers[name="web"].image']
    containers = sent_body(ceding, left)["spec"]["template"]["spec"]["containers"]
    assert containers == [{"name": "web"}, {"name": "proxy", "image": "b:1"}]
    assert MANIFEST["spec"]["template"]["spec"]["containers"][0] == {"name": "web", "image": "a:1"}  # type: ignore[index]


def test_the_subtree_above_a_ceded_prefix_stays_with_what_only_kix_holds() -> None:
    manifest = {"spec": {"conversion": {"strategy": "Webhook", "webhook": {"path": "/a", "caBundle": "x"}}}}
    injector = owned("injector", {"f:spec": {"f:conversion": {"f:webhook": {"f:caBundle": {}}}}})
    ceding = resource(manifest, cede=("spec.conversion",))
    left = leaves_left_out(ceding, live(injector))
    assert sent_body(ceding, left) == {"spec": {"conversion": {"strategy": "Webhook", "webhook": {"path": "/a"}}}}


def test_a_conflicts_text_that_means_two_paths_names_neither() -> None:
    body = live(owned("other", {"f:spec": {"f:a": {"f:b": {}}, "f:a.b": {}, "f:c": {}}}))
    assert list(paths_by_text(body)) == [".spec.c"]


def test_a_hash_covers_ceded_paths_and_generated_keys() -> None:
    key = b"k" * 32
    plain = resource(MANIFEST)
    hashes = {
        hash_of(plain, key),
        hash_of(resource(MANIFEST, cede=("spec.replicas",)), key),
        hash_of(resource(MANIFEST, generated=("password",)), key),
    }
    assert len(hashes) == 3
    assert hash_of(plain, None) == hash_of(plain, key)


def test_a_secrets_hash_needs_the_key_and_covers_its_values() -> None:
    secrets = [resource({"kind": "Secret", "apiVersion": "v1", "data": {"k": value}}) for value in ("YQ==", "Yg==")]
    one, other = (hash_of(secret, b"k" * 32) for secret in secrets)
    assert one != other
    assert hash_of(secrets[0], b"another" * 5) != one
    assert hash_of(secrets[0], None) == hash_of(secrets[1], None)


def noted(body: dict[str, Any]) -> dict[str, Any]:
    found = bookkeeping(
        resource(MANIFEST, package="shop/web"),
        body,
        cluster="shop",
        activation="shop-1",
        identity="i",
        applied_hash="h",
    )
    metadata: dict[str, Any] = found["metadata"]
    return metadata


def test_bookkeeping_is_guarded_by_uid_and_says_which_record_wrote() -> None:
    assert noted(live()) == {
        "name": "web",
        "namespace": "shop",
        "uid": "u",
        "labels": {"cluster.kix.run/shop": "true"},
        "annotations": {
            "kix.run/identity-hash": "i",
            "kix.run/applied-hash": "h",
            "kix.run/activations": "shop=shop-1",
            "kix.run/package": "shop/web",
        },
    }


def test_bookkeeping_beside_a_lead_has_keys_of_its_own() -> None:
    shared = live(labels={"cluster.kix.run/blog": "true"}, annotations={"kix.run/activations": "blog=blog-1"})
    assert find_lead(shared, "shop") == "blog"
    assert find_lead(shared, "blog") is None
    assert sorted(noted(shared)["annotations"]) == [
        "shop.kix.run/activations",
        "shop.kix.run/applied-hash",
        "shop.kix.run/identity-hash",
        "shop.kix.run/package",
    ]
