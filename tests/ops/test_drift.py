"""Drift: exactly what somebody else changed, and nothing where nobody did. On the embedded cluster and a real one."""

from dataclasses import replace

import pytest

from kixbot.errors import ClusterError
from kixbot.ops.drift import find_drift
from tests.ops.deploys import config_map
from tests.ops.worlds import BLUE, World, embedded, real
from tests.parts.access import Access

DEPLOYMENT = ("apps/v1", "Deployment", "web")
CONFIG_MAP = ("v1", "ConfigMap", "web")
ENV = "env: [{name: A, value: a}, {name: B, value: b}], envFrom"


def test_what_was_just_deployed_has_not_drifted_and_the_answer_has_a_known_cost(world: World) -> None:
    world.deploy()
    before = world.cluster.requests.copy()
    assert world.told(world.build()) == []
    cost = dict(world.cluster.requests - before)
    # Discovery, the Lease, the key and the namespace; the records, their one part, and four kinds.
    assert cost == {"discovery": 2, "get": 3, "list": 6}


def test_a_changed_field_is_told_with_both_values_its_manager_and_the_time(world: World) -> None:
    world.deploy()
    world.patch(*CONFIG_MAP, {"data": {"colour": "red"}})
    before = world.cluster.requests.copy()
    assert world.told(world.build()) == [
        "Drift: 1 resource changed outside kix",
        "  ! ConfigMap/web@shop",
        "      ! $.data.colour:",
        '          applied: "blue"',
        '          live: "red" (kubectl-edit, TIME)',
    ]
    assert dict(world.cluster.requests - before) == {"discovery": 2, "get": 3, "list": 6}


def test_without_a_build_of_the_recorded_content_the_old_value_is_not_available(world: World) -> None:
    world.deploy()
    world.patch(*CONFIG_MAP, {"data": {"colour": "red"}})
    other = world.build(BLUE.replace("blue", "green"))
    for builds in ((), (other,)):
        assert world.told(*builds)[2:4] == ["      ! $.data.colour:", "          applied: old value not available"]
    assert world.told(other, world.build())[3] == '          applied: "blue"'


def test_kubectl_scale_is_told_with_its_subresource(world: World) -> None:
    world.deploy()
    if world.is_real:
        world.patch(*DEPLOYMENT, {"spec": {"replicas": 5}}, by="kubectl", subresource="scale")
    else:
        # The embedded cluster serves no scale; a write of that subresource is noted alike.
        world.patch(*DEPLOYMENT, {"spec": {"replicas": 5}}, by="kubectl")
    assert [line for line in world.told(world.build()) if "live" in line] in (
        ["          live: 5 (kubectl, scale)"],
        ["          live: 5 (kubectl, scale, TIME)"],
        ["          live: 5 (kubectl, TIME)"],
    )
    field = world.drift(world.build()).resources[0].fields[0]
    assert (field.path, field.subresource) == ("$.spec.replicas", "scale" if world.is_real else None)


def test_a_removed_field_has_no_author(world: World) -> None:
    world.deploy(BLUE.replace("{colour: blue}", "{colour: blue, size: large}"))
    world.patch(*CONFIG_MAP, {"data": {"size": None}})
    assert world.told() == [
        "Drift: 1 resource changed outside kix",
        "  ! ConfigMap/web@shop",
        "      ! $.data.size:",
        "          applied: old value not available",
        "          live: removed; manager not recorded",
    ]


def test_a_value_that_was_changed_back_is_only_an_ownership_that_is_lost(world: World) -> None:
    world.deploy()
    world.patch(*CONFIG_MAP, {"data": {"colour": "red"}})
    world.patch(*CONFIG_MAP, {"data": {"colour": "blue"}})
    for builds in ((), (world.build(),)):
        assert world.told(*builds)[-1] == (
            '          live: "blue" (kubectl-edit, TIME), the same value; kix does not hold it any more'
        )


def test_a_forced_apply_of_somebody_else_takes_the_field(world: World) -> None:
    world.deploy()
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"colour": "red"}}
    world.apply(body, by="argocd-controller", force=True)
    assert world.told(world.build()) == [
        "Drift: 1 resource changed outside kix",
        "  ! ConfigMap/web@shop",
        "      ! $.data.colour:",
        '          applied: "blue"',
        '          live: "red" (argocd-controller, TIME)',
    ]


def test_a_reset_of_managed_fields_is_drift_though_every_value_is_as_applied(
    control_plane: Access, kube_prefix: str
) -> None:
    with real(control_plane, kube_prefix) as world:
        world.deploy()
        world.patch(*CONFIG_MAP, {"metadata": {"managedFields": [{}]}})
        told = world.told(world.build())
    assert told == [
        "Drift: 1 resource changed outside kix",
        "  ! ConfigMap/web@shop (kix holds no field of it any more)",
    ]


def test_an_object_that_was_deleted_will_be_created(world: World) -> None:
    world.deploy()
    world.delete(*CONFIG_MAP)
    before = world.cluster.requests.copy()
    assert world.told(world.build()) == [
        "Drift: 1 resource changed outside kix",
        "  ! ConfigMap/web@shop (deleted; will be created)",
    ]
    assert dict(world.cluster.requests - before) == {"discovery": 2, "get": 4, "list": 6}


def test_an_object_made_anew_by_hand_is_another_one(world: World) -> None:
    world.deploy()
    world.delete(*CONFIG_MAP)
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}, "data": {"colour": "blue"}}
    world.apply(body, by="kubectl")
    assert world.told(world.build()) == [
        "Drift: 1 resource changed outside kix",
        "  ! ConfigMap/web@shop (deleted and made anew outside kix)",
    ]


def test_what_people_add_is_shown_apart_and_is_no_drift(world: World) -> None:
    world.deploy()
    ports = [{"port": 80, "protocol": "TCP"}, {"port": 9999, "protocol": "TCP", "name": "debug"}]
    first = world.live("v1", "Service", "web")["spec"]["ports"][0]
    world.patch("v1", "Service", "web", {"spec": {"ports": [{**first, "name": "http"}, ports[1]]}})
    world.patch(*CONFIG_MAP, {"data": {"extra": "1"}, "metadata": {"labels": {"team": "shop"}}})
    drift = world.drift(world.build())
    assert drift.resources == ()
    shown = {(one.ref.kind, field.path, field.manager) for one in drift.additions for field in one.fields}
    assert {
        ("ConfigMap", "$.data.extra", "kubectl-edit"),
        ("ConfigMap", "$.metadata.labels.team", "kubectl-edit"),
        ("Service", "$.spec.ports[9999/TCP]", "kubectl-edit"),
    } <= shown


def test_what_controllers_add_is_neither_drift_nor_an_addition(world: World) -> None:
    world.deploy()
    world.patch(*DEPLOYMENT, {"metadata": {"annotations": {"controller.test/seen": "1"}}}, by="some-controller")
    assert world.told(world.build()) == []


def test_ceded_fields_are_silent_also_from_a_record_alone(world: World) -> None:
    text = BLUE.replace(
        "metadata: {name: web, namespace: shop}\nspec:\n  replicas: 2",
        "metadata: {name: web, namespace: shop, annotations: {kix.run/cede: spec.replicas}}\nspec:\n  replicas: 2",
    )
    assert text != BLUE
    world.deploy(text)
    for number in range(3, 7):
        subresource = "scale" if world.is_real else ""
        world.patch(*DEPLOYMENT, {"spec": {"replicas": number}}, by="kube-controller-manager", subresource=subresource)
        assert world.told() == []
    world.deploy(text)
    assert world.told() == []


def test_reordered_variables_are_drift_though_no_field_changed_hands(world: World) -> None:
    text = BLUE.replace("envFrom", ENV)
    world.deploy(text)
    live = world.live(*DEPLOYMENT)
    containers = live["spec"]["template"]["spec"]["containers"]
    containers[0]["env"].reverse()
    world.patch(*DEPLOYMENT, {"spec": {"template": {"spec": {"containers": containers}}}})
    assert world.told(world.build(text)) == [
        "Drift: 1 resource changed outside kix",
        "  ! Deployment/web@shop",
        "      ! $.spec.template.spec.containers[web].env:",
        "          applied: order [A,B]",
        "          live: order [B,A] (manager not recorded)",
    ]
    assert world.told()[3:] == [
        "          applied: old value not available",
        "          live: order [B,A] (manager not recorded)",
    ]


def test_what_others_add_below_an_empty_map_is_no_value_of_ours(world: World) -> None:
    text = BLUE.replace("envFrom", "resources: {}, envFrom")
    world.deploy(text)
    container = {"name": "web", "resources": {"limits": {"cpu": "1"}}}
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }
    world.apply(body, by="vpa")
    assert world.told() == []
    assert world.told(world.build(text)) == []


def test_nulls_of_a_manifest_are_no_fields(world: World) -> None:
    text = BLUE.replace("replicas: 2", "replicas: 2\n  minReadySeconds: null\n  revisionHistoryLimit: null")
    world.deploy(text)
    world.patch(*DEPLOYMENT, {"metadata": {"annotations": {"x": "y"}}}, by="controller")
    assert world.told(world.build(text)) == []


def test_an_atomic_list_drifts_as_a_whole(world: World) -> None:
    role = (
        "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: shop}\n"
        "rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n"
    )
    world.deploy(BLUE + role)
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]
    world.patch("rbac.authorization.k8s.io/v1", "Role", "r", {"rules": rules})
    assert world.told(world.build(BLUE + role)) == [
        "Drift: 1 resource changed outside kix",
        "  ! Role/r@shop",
        "      ! $.rules:",
        '          applied: [{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]',
        '          live: [{"apiGroups":[""],"resources":["pods"],"verbs":["get","list"]}] (kubectl-edit, TIME)',
    ]


def test_a_label_of_ours_removed_by_hand_is_drift_and_kixs_own_label_is_put_back_silently(world: World) -> None:
    text = BLUE.replace(
        "kind: ConfigMap\nmetadata: {name: web, namespace: shop}",
        "kind: ConfigMap\nmetadata: {name: web, namespace: shop, labels: {app: web}}",
    )
    world.deploy(text)
    own = f"cluster.kix.run/{world.name}"
    world.patch(*CONFIG_MAP, {"metadata": {"labels": {own: None}}})
    assert world.told(world.build(text)) == []
    world.deploy(text)
    assert own in world.live(*CONFIG_MAP)["metadata"]["labels"]
    world.patch(*CONFIG_MAP, {"metadata": {"labels": {"app": None}}})
    assert world.told(world.build(text)) == [
        "Drift: 1 resource changed outside kix",
        "  ! ConfigMap/web@shop",
        "      ! $.metadata.labels.app:",
        '          applied: "web"',
        "          live: removed; manager not recorded",
    ]


def test_rewriting_the_bookkeeping_does_not_make_drift_the_baseline(world: World) -> None:
    world.deploy()
    own = f"cluster.kix.run/{world.name}"
    world.patch(*CONFIG_MAP, {"metadata": {"labels": {own: None}}, "data": {"colour": "red"}})
    told = world.told(world.build())
    assert told[-1] == '          live: "red" (kubectl-edit, TIME)'
    world.deploy()
    assert own in world.live(*CONFIG_MAP)["metadata"]["labels"]
    assert world.told(world.build()) == told


def test_secret_values_are_told_as_changed_and_nothing_more(world: World) -> None:
    secret = (
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {token: canary-1, k: v}\n"
    )
    world.deploy(BLUE + secret, allow_plain_secrets=True)
    world.patch("v1", "Secret", "s", {"data": {"token": "Y2FuYXJ5LTI=", "more": "Y2FuYXJ5LTM="}})
    for builds in ((), (world.build(BLUE + secret),)):
        assert world.told(*builds) == [
            "Drift: 1 resource changed outside kix",
            "  ! Secret/s@shop",
            "      ! $.data.token:",
            "          applied: (secret)",
            "          live: (changed) (kubectl-edit, TIME)",
            "Added by hand: fields of 1 resource that kix does not hold",
            "  + Secret/s@shop",
            "      + $.data.more:",
            "          live: (secret) (kubectl-edit, TIME)",
        ]


def test_a_completed_job_that_its_time_to_live_removed_is_current(world: World) -> None:
    job = (
        "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, namespace: shop}\n"
        "spec:\n  ttlSecondsAfterFinished: 3600\n  template:\n    metadata: {labels: {app: migrate}}\n"
        "    spec: {restartPolicy: Never, containers: [{name: m, image: 'registry.test/m:1'}]}\n"
    )
    world.deploy(BLUE + job, timeout=60)
    world.delete("batch/v1", "Job", "migrate")
    assert world.told(world.build(BLUE + job)) == []
    lines = world.deploy(BLUE + job)
    assert not any("migrate" in line for line in lines)


def test_what_left_the_build_and_was_deleted_by_hand_is_no_drift(world: World) -> None:
    world.deploy(BLUE + config_map("old"))
    world.deploy()
    world.delete("v1", "ConfigMap", "old")
    assert world.told(world.build()) == []


@pytest.mark.parametrize("owned", ["{", "[]", '"x"', '{"f:data": 1}'])
def test_a_damaged_row_is_one_clear_error(owned: str) -> None:
    world = embedded()
    world.deploy()
    world.patch(*CONFIG_MAP, {"data": {"colour": "red"}})
    seen = world.observe()
    rows = {ref: tuple(replace(row, owned=owned, cede=("a[",)) for row in found) for ref, found in seen.rows.items()}
    with pytest.raises(ClusterError, match="ConfigMap shop/web: its row in the record is damaged"):
        find_drift(replace(seen, rows=rows))


def test_a_plan_shows_drift_before_the_activation_and_does_not_count_it_as_a_change(world: World) -> None:
    world.deploy()
    world.patch(*CONFIG_MAP, {"data": {"colour": "red"}})
    world.deploy()
    plan = world.deploys.plan
    assert plan.packages == ()
    assert [one.ref.short for one in plan.drift.resources] == [f"ConfigMap/web@{world.name}"]
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "red"}
