"""Plans: what counts as a change, how it is grouped, and the hash of what was reviewed."""

from dataclasses import replace
from typing import Any

from hypothesis import given, strategies as st

from kixbot.diff.planner import pack, plan, reviewed_hash
from kixbot.model.build import Build, Package
from kixbot.model.plan import Plan, ResourceChange
from kixbot.model.resource import Location, Ref, Resource
from tests.output.plans import after, before, build, closed, deployment, resource


def loose(kind: str, name: str, namespace: str = "shop", **labels: str) -> Resource:
    metadata = {"labels": {f"app.kubernetes.io/{key}": value for key, value in labels.items()}}
    return resource("v1", kind, name, namespace, None, metadata=metadata)


def plain(*resources: Resource) -> Build:
    return build(*resources, marked=False)


def shown(found: Plan) -> list[str]:
    return [
        f"{package.action} {package.id} {package.old_version} {package.new_version}: "
        + ", ".join(f"{change.action} {change.ref.short} {change.reason}" for change in package.resources)
        for package in found.packages
    ]


def test_a_build_against_itself_is_no_change() -> None:
    found = plan(before(), before())
    assert found.packages == ()
    assert found.unchanged == 11
    assert found.old_activation == found.new_activation


def test_what_refers_to_a_change_is_affected_and_nothing_else() -> None:
    assert shown(plan(before(), after())) == [
        (
            "changed monitoring/grafana 11.2.0 11.2.0: changed Deployment/grafana@monitoring content, "
            "changed PackageInstance/grafana@monitoring dependency"
        ),
        (
            "added shop/valkey None 8.0.2: added ConfigMap/valkey@shop content, added Service/valkey@shop content, "
            "added StatefulSet/valkey@shop content, added PackageInstance/valkey@shop content"
        ),
        (
            "changed shop/web 1.4.2 1.5.0: changed Deployment/web@shop content, "
            "changed HorizontalPodAutoscaler/web@shop dependency, changed PackageInstance/web@shop dependency"
        ),
    ]


def test_packages_of_which_only_hashes_move_stand_last_in_their_namespace() -> None:
    db, changed = (deployment("db", "shop", image) for image in ("a:1", "a:2"))
    api = replace(deployment("api", "shop", "b:1"), hard=(db.ref,))
    assert shown(plan(build(db, api), build(changed, api))) == [
        "changed shop/db None None: changed Deployment/db@shop content",
        "changed shop/api None None: changed Deployment/api@shop dependency",
    ]


def test_the_content_of_a_package_instance_is_never_a_change_of_its_own() -> None:
    old = resource("kix.run/v1alpha1", "PackageInstance", "web", "shop", "shop/web", spec={"version": "1"})
    new = resource("kix.run/v1alpha1", "PackageInstance", "web", "shop", "shop/web", spec={"version": "2"})
    found = plan(build(old), build(new))
    assert [change for package in found.packages for change in package.resources] == [
        ResourceChange(ref=old.ref, action="changed", reason="dependency")
    ]
    assert found.hash == plan(build(old), build(old)).hash


def test_loose_objects_go_by_instance_label_else_by_where_they_come_from() -> None:
    old = plain(
        loose("ConfigMap", "a", instance="web", version="1"),
        loose("Secret", "b", instance="web", version="1"),
        loose("ConfigMap", "c"),
        loose("Namespace", "shop", ""),
    )
    assert shown(plan(old, plain())) == [
        "removed (cluster)/(manifests) None None: removed Namespace/shop content",
        "removed shop/(manifests) None None: removed ConfigMap/c@shop content",
        "removed shop/web 1 None: removed Secret/b@shop content, removed ConfigMap/a@shop content",
    ]


def test_loose_objects_of_a_definition_are_resources_where_nix_wrote_them() -> None:
    from_nix = replace(loose("ConfigMap", "a"), origin=Location(file="clusters/shop.nix", line=3))
    from_yaml = replace(loose("ConfigMap", "b"), origin=Location(file="manifests/b.yaml", line=1))
    assert [package.id for package in plan(None, build(from_nix, from_yaml)).packages] == [
        "shop/(manifests)",
        "shop/(resources)",
    ]


def test_a_version_is_shown_only_where_the_labels_agree() -> None:
    one, other = loose("ConfigMap", "a", instance="web", version="1"), loose("Secret", "b", instance="web", version="2")
    assert plan(None, plain(one, other)).packages[0].new_version is None
    package = Package(id="shop/web", namespace="shop", name="web", package="web", version="9")
    assert plan(None, build(replace(one, package="shop/web"), packages=(package,))).packages[0].new_version == "9"


def test_a_resource_that_moves_to_another_package_is_shown_under_the_new_one() -> None:
    old, new = deployment("web", "shop", "a:1"), deployment("web", "shop", "a:2")
    moved = replace(new, package="shop/front")
    assert shown(plan(build(old), build(moved))) == [
        "changed shop/front None None: changed Deployment/web@shop content"
    ]


def test_secret_values_are_a_change_though_no_name_moves() -> None:
    old, new = (build(resource("v1", "Secret", "db", "shop", None, data={"p": value})) for value in ("YQ==", "Yg=="))
    found = plan(old, new)
    assert found.same_name_secrets
    assert found.old_activation == found.new_activation
    assert "YQ==" not in repr(found)


def test_fields_left_to_others_and_generated_keys_are_changes() -> None:
    old = deployment("web", "shop", "a:1")
    ceded = plan(build(old), build(replace(old, cede=("spec.replicas",)))).packages[0].resources[0]
    assert [(change.path, change.old, change.new) for change in ceded.changes] == [  # type: ignore[union-attr]
        ("ownership.cede", [], ["spec.replicas"])
    ]
    secret = resource("v1", "Secret", "db", "shop", None)
    one, two = (replace(secret, generated=keys) for keys in (("data.a", "data.b.c"), ("data.a", "data.d")))
    generated = plan(build(one), build(two)).packages[0].resources[0]
    assert [(change.path, change.action) for change in generated.changes] == [  # type: ignore[union-attr]
        ('$.data."b.c"', "removed"),
        ("$.data.d", "added"),
    ]
    assert not plan(build(old), build(replace(old, cede=("spec.replicas",)))).same_name_secrets


def test_a_record_stands_in_for_the_build_before() -> None:
    new = build(*closed("web", "shop", deployment("web", "shop", "a:1")), loose("ConfigMap", "a", instance="front"))
    gone = Ref("Service", "", "shop", "old")
    changes = [
        ResourceChange(ref=new.resources[0].ref, action="changed"),
        ResourceChange(ref=gone, action="removed"),
    ]
    recorded = {one.ref: one.package for one in new.resources} | {gone: "shop/api"}
    packages, unchanged = pack(changes, old=None, new=new, recorded=recorded)
    assert [(package.id, package.action) for package in packages] == [
        ("shop/api", "removed"),
        ("shop/front", "changed"),
    ]
    assert unchanged == 1


def test_the_reviewed_hash_is_of_content_changes_and_of_nothing_else() -> None:
    extra = deployment("extra", "shop", "x:1")
    one = plan(build(deployment("web", "shop", "a:1")), build(deployment("web", "shop", "a:2")))
    beside = plan(build(deployment("web", "shop", "a:1"), extra), build(deployment("web", "shop", "a:2"), extra))
    other = plan(build(deployment("web", "shop", "a:1")), build(deployment("web", "shop", "a:3")))
    assert one.hash == beside.hash
    assert one.hash != other.hash
    user = replace(extra, hard=(Ref("Deployment", "apps", "shop", "web"),))
    affected = plan(build(deployment("web", "shop", "a:1"), user), build(deployment("web", "shop", "a:2"), user))
    assert affected.hash == one.hash


def test_the_reviewed_hash_tells_added_and_removed_objects_apart() -> None:
    web = deployment("web", "shop", "a:1")
    hashes = {
        plan(build(), build(web)).hash,
        plan(build(web), build()).hash,
        plan(build(), build(deployment("web", "shop", "a:2"))).hash,
        plan(build(), build()).hash,
    }
    assert len(hashes) == 4


def test_the_reviewed_hash_holds_no_secret_value() -> None:
    values = [
        build(resource("v1", "Secret", "db", "shop", None, data={"p": value})) for value in ("YQ==", "Yg==", "Yw==")
    ]
    assert plan(build(), values[0]).hash == plan(build(), values[1]).hash
    assert plan(values[0], values[1]).hash == plan(values[0], values[2]).hash
    assert plan(values[0], values[1]).hash != plan(values[0], values[0]).hash


SPECS: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.sampled_from(["a", "b", "args"]), st.integers(0, 3) | st.lists(st.integers(0, 3), max_size=3), max_size=3
)
MEMBERS = st.dictionaries(st.sampled_from(["one", "two", "three"]), SPECS, max_size=3)


def members(specs: dict[str, dict[str, Any]]) -> Build:
    return plain(*(resource("apps/v1", "Deployment", name, "shop", None, spec=spec) for name, spec in specs.items()))


@given(MEMBERS, MEMBERS)
def test_a_plan_names_exactly_what_differs(old: dict[str, dict[str, Any]], new: dict[str, dict[str, Any]]) -> None:
    found = plan(members(old), members(new))
    changes = {change.ref.name: change.action for package in found.packages for change in package.resources}
    assert changes == {
        name: "added" if name not in old else "removed" if name not in new else "changed"
        for name in old.keys() | new.keys()
        if old.get(name) != new.get(name)
    }
    assert found.hash == reviewed_hash(
        [change for package in found.packages for change in package.resources], old=members(old), new=members(new)
    )
