"""A plan as text, word for word."""

from hypothesis import given, strategies as st

from kixbot.diff.planner import plan
from kixbot.model.plan import (
    Added,
    Changed,
    FieldChange,
    PackageChange,
    Plan,
    Removed,
    Reordered,
    ResourceChange,
    SecretChanged,
)
from kixbot.model.resource import Ref
from kixbot.output.plan_text import text
from tests.output.plans import after, before, build, resource


def changed(*fields: FieldChange) -> Plan:
    """A plan in which one ConfigMap changes."""
    ref = Ref("ConfigMap", "", "shop", "web")
    change = ResourceChange(ref=ref, action="changed", changes=fields)
    package = PackageChange(id="shop/web", namespace="shop", name="web", action="changed", resources=(change,))
    return Plan(cluster="shop", old_activation="shop-a", new_activation="shop-b", packages=(package,))


def fields(*found: FieldChange) -> list[str]:
    """The lines of the fields alone."""
    return [line.removeprefix(" " * 10) for line in text(changed(*found)).splitlines() if line.startswith(" " * 10)]


def test_the_shops_change_reads_as_in_the_manual() -> None:
    old, new = before(), after()
    assert old.activation is not None
    assert new.activation is not None
    assert (
        text(plan(old, new))
        == f"""\
12 packages: 9 unchanged, 2 changed, 1 added, 0 removed

monitoring
  ~ grafana 11.2.0 (1 changed, 1 dep-affected)
      ~ Deployment/grafana@monitoring
          ~ $.spec.replicas:
              old: 1
              new: 2
      ~ PackageInstance/grafana@monitoring (via dependency)
shop
  + valkey 8.0.2 (4 resources)
  ~ web 1.4.2 -> 1.5.0 (1 changed, 2 dep-affected)
      ~ Deployment/web@shop
          ~ $.spec.template.spec.containers[web].image:
              old: "ghcr.io/acme/web:1.4.2"
              new: "ghcr.io/acme/web:1.5.0"
      ~ HorizontalPodAutoscaler/web@shop (via dependency)
      ~ PackageInstance/web@shop (via dependency)

Activation: {old.activation.name} -> {new.activation.name}
"""
    )


def test_no_change_says_so() -> None:
    old = before()
    assert old.activation is not None
    assert text(plan(old, before())) == (
        f"11 packages: 11 unchanged, 0 changed, 0 added, 0 removed\n\nActivation: {old.activation.name} (unchanged)\n"
    )


def test_equal_names_with_other_secret_values_say_so() -> None:
    old, new = (
        build(resource("v1", "Secret", "db", "shop", "shop/db", data={"password": value})) for value in ("YQ==", "Yg==")
    )
    assert old.activation is not None
    assert (
        text(plan(old, new))
        == f"""\
1 package: 0 unchanged, 1 changed, 0 added, 0 removed

shop
  ~ db (1 changed)
      ~ Secret/db@shop
          ~ $.data.password:
              old: (secret)
              new: (changed)

Activation: {old.activation.name} (unchanged name: only Secret values differ)
"""
    )


def test_a_first_plan_adds_everything() -> None:
    new = build(resource("v1", "ConfigMap", "a", "shop", "shop/a"), resource("v1", "Namespace", "shop", "", None))
    assert new.activation is not None
    assert (
        text(plan(None, new))
        == f"""\
2 packages: 0 unchanged, 0 changed, 2 added, 0 removed

(cluster)
  + (resources) (1 resource)
shop
  + a (1 resource)

Activation: (none) -> {new.activation.name}
"""
    )


def test_every_form_of_a_field_has_its_lines() -> None:
    assert fields(
        Added(path="$.a", new={"z": 1, "b": [True, None]}),
        Removed(path="$.b", old="x"),
        Changed(path="$.c", old=1, new="1"),
        Reordered(path="$.d", old=("A", "B"), new=("B", "A")),
        SecretChanged(path="$.e", action="added"),
        SecretChanged(path="$.f", action="removed"),
    ) == [
        "+ $.a:",
        '    new: {"b":[true,null],"z":1}',
        "- $.b:",
        '    old: "x"',
        "~ $.c:",
        "    old: 1",
        '    new: "1"',
        "~ $.d:",
        "    old: order [A,B]",
        "    new: order [B,A]",
        "+ $.e:",
        "    new: (secret)",
        "- $.f:",
        "    old: (secret)",
    ]


def test_a_string_of_several_lines_is_a_hunk_with_three_lines_around() -> None:
    old = "\n".join(f"line {at}" for at in range(1, 12)) + "\n"
    assert fields(Changed(path='$.data."app.conf"', old=old, new=old.replace("line 6", "line six"))) == [
        '~ $.data."app.conf":',
        "    @@ -3,7 +3,7 @@",
        "     line 3",
        "     line 4",
        "     line 5",
        "    -line 6",
        "    +line six",
        "     line 7",
        "     line 8",
        "     line 9",
    ]


def test_a_newline_that_comes_at_the_end_is_seen() -> None:
    assert fields(Changed(path="$.a", old="a\nb", new="a\nb\n")) == [
        "~ $.a:",
        "    @@ -1,2 +1,3 @@",
        "     a",
        "     b",
        "    +",
    ]


def test_long_values_and_lines_are_cut_with_their_length() -> None:
    assert fields(
        Changed(path="$.a", old="x" * 198, new="x" * 199), Changed(path="$.b", old="a\n", new=f"{'y' * 300}\n")
    ) == [
        "~ $.a:",
        f'    old: "{"x" * 198}"',
        f'    new: "{"x" * 199}… (201 characters)',
        "~ $.b:",
        "    @@ -1 +1 @@",
        "    -a",
        f"    +{'y' * 199}… (301 characters)",
    ]


def test_adopted_and_not_simulated_resources_say_why() -> None:
    ref = Ref("ConfigMap", "", "shop", "web")
    changes = (
        ResourceChange(ref=ref, action="adopted", note="managed by kubectl"),
        ResourceChange(ref=ref, action="changed", simulated=False, note="CRD y is made by this deploy"),
        ResourceChange(ref=ref, action="added", simulated=False),
        ResourceChange(ref=ref, action="recreated"),
    )
    package = PackageChange(id="shop/web", namespace="shop", name="web", action="changed", resources=changes)
    shown = text(Plan(cluster="shop", old_activation="a", new_activation="b", packages=(package,)))
    assert shown.splitlines()[3:8] == [
        "  ~ web (3 changed, 1 added)",
        "      ~ ConfigMap/web@shop (adopted: managed by kubectl)",
        "      ~ ConfigMap/web@shop (not simulated: CRD y is made by this deploy)",
        "      + ConfigMap/web@shop (not simulated)",
        "      ~ ConfigMap/web@shop (recreated)",
    ]


def test_the_group_is_named_only_where_two_groups_of_a_kind_occur() -> None:
    refs = Ref("Cluster", "postgresql.cnpg.io", "shop", "db"), Ref("Cluster", "cluster.x-k8s.io", "shop", "a")
    changes = tuple(ResourceChange(ref=ref, action="changed", reason="dependency") for ref in refs)
    package = PackageChange(id="shop/web", namespace="shop", name="web", action="changed", resources=changes)
    shown = text(Plan(cluster="shop", old_activation="a", new_activation="b", packages=(package,)))
    assert shown.splitlines()[3:6] == [
        "  ~ web (2 dep-affected)",
        "      ~ Cluster.postgresql.cnpg.io/db@shop (via dependency)",
        "      ~ Cluster.cluster.x-k8s.io/a@shop (via dependency)",
    ]


@given(st.text(), st.text(), st.text())
def test_no_hostile_string_reaches_the_terminal_raw(name: str, old: str, new: str) -> None:
    ref = Ref("ConfigMap", "", name, name)
    change = ResourceChange(
        ref=ref, action="changed", changes=(Changed(path=f"$.{name}", old=old, new=new),), note=name
    )
    package = PackageChange(
        id=name, namespace=name, name=name, action="changed", old_version=old, new_version=new, resources=(change,)
    )
    shown = text(Plan(cluster=name, old_activation=old, new_activation=new, packages=(package,)))
    unsafe = [
        char
        for char in shown
        if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160 or char in "\u202e\u2066\u2028")
    ]
    assert unsafe == []
