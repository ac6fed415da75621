"""Kubernetes quantities: what is one, and what it amounts to."""

from decimal import Decimal

import pytest
from hypothesis import given, strategies as st

from kixbot.checks.quantities import FACTORS, find_amount
from tests.builds import build_of, lean_run as run


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0", "0"),
        ("1", "1"),
        ("500m", "0.5"),
        ("1.5Gi", "1610612736"),
        ("1.", "1"),
        (".5", "0.5"),
        ("+1Ki", "1024"),
        ("-1", "-1"),
        ("1E", "1000000000000000000"),
        ("1E3", "1000"),
        ("1e-3", "0.001"),
        ("12k", "12000"),
        ("100n", "0.0000001"),
        (2, "2"),
        (0.5, "0.5"),
        (2e9, "2000000000"),
        (1e22, "10000000000000000000000"),
    ],
)
def test_what_a_quantity_amounts_to(written: object, value: str) -> None:
    amount = find_amount(written)
    assert amount is not None
    assert amount.value == Decimal(value)


@pytest.mark.parametrize(
    "written",
    ["", "m", "128mb", "1gb", "1 Gi", "1Ki ", "1ki", "1K", "0x10", "1e", "1e1.5", "1Gii", "٣", "1e9999999", "9" * 100,
     True, None, [], {}, float("nan"), float("inf")],
)  # fmt: skip
def test_what_is_no_quantity(written: object) -> None:
    assert find_amount(written) is None


@given(st.decimals(min_value=0, max_value=10**9, places=3), st.sampled_from(sorted(FACTORS)))
def test_a_decimal_with_any_suffix_is_a_quantity(number: Decimal, suffix: str) -> None:
    amount = find_amount(f"{number:f}{suffix}")
    assert amount is not None
    assert amount.value == number * FACTORS[suffix]


@given(st.one_of(st.text(), st.floats(), st.integers(), st.none(), st.booleans(), st.lists(st.integers())))
def test_any_value_is_read_or_refused(value: object) -> None:
    find_amount(value)


def findings(resources: str) -> list[tuple[str, str, str | None]]:
    text = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  automountServiceAccountToken: false
  containers: [{{name: web, image: "web:1", resources: {resources}}}]
"""
    return [(one.rule, one.message, one.hint) for one in run(build_of(text)).findings]


@pytest.mark.parametrize(
    ("resources", "message", "hint"),
    [
        (
            "{limits: {memory: 128mb}}",
            'Pod shop/web has "128mb" where a quantity belongs',
            'did you mean "128M"?',
        ),
        ("{limits: {memory: 1 GiB}}", 'Pod shop/web has "1 GiB" where a quantity belongs', 'did you mean "1Gi"?'),
        (
            "{limits: {cpu: many}}",
            'Pod shop/web has "many" where a quantity belongs',
            "a number with one of the suffixes Ki Mi Gi Ti Pi Ei n u m k M G T P E, such as 500m or 1.5Gi",
        ),
        ("{limits: {cpu: '-1'}}", 'Pod shop/web has the negative quantity "-1"', "write an amount of 0 or more"),
    ],
)
def test_an_unreadable_quantity_is_an_error_with_what_was_meant(resources: str, message: str, hint: str) -> None:
    assert findings(resources) == [("schema/quantity", message, hint)]


@pytest.mark.parametrize(
    ("resources", "message", "hint"),
    [
        (
            "{requests: {memory: 512m}}",
            'Pod shop/web asks for memory "512m", which counts in fractions of a byte',
            'did you mean "512Mi"?',
        ),
        (
            "{requests: {memory: 512}}",
            "Pod shop/web asks for memory 512, which is 512 bytes",
            'did you mean "512Mi"?',
        ),
        (
            "{requests: {cpu: 100Mi}}",
            'Pod shop/web asks for cpu "100Mi", which is 104857600 cores',
            'did you mean "100m", or is it memory?',
        ),
    ],
)
def test_an_unlikely_unit_is_a_warning(resources: str, message: str, hint: str) -> None:
    assert findings(resources) == [("schema/quantity-unit", message, hint)]


@pytest.mark.parametrize(
    "resources",
    [
        "{requests: {cpu: 0.5, memory: 1.5Gi}, limits: {cpu: 2, memory: 2e9}}",
        "{requests: {cpu: 100m, memory: 0, ephemeral-storage: 1G}, limits: {example.org/gpu: 1}}",
        "{}",
        "null",
    ],
)
def test_sound_quantities_are_left_alone(resources: str) -> None:
    assert findings(resources) == []


def test_quantities_are_found_in_every_kind_that_has_them() -> None:
    text = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {resources: {requests: {storage: 1gb}}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota}
spec: {hard: {requests.memory: 1gb, pods: "10"}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits}
spec: {limits: [{type: Container, max: {memory: 1gb}, maxLimitRequestRatio: {memory: "4"}}]}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {capacity: {storage: 1gb}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 1gb}}}}]
  template:
    spec:
      automountServiceAccountToken: false
      initContainers: [{name: init, image: "db:1", resources: {limits: {cpu: x}}}]
      containers: [{name: db, image: "db:1"}]
      volumes:
        - {name: scratch, emptyDir: {sizeLimit: 1gb}}
        - {name: more, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1gb}}}}}}
"""
    paths = [one.path for one in run(build_of(text)).findings if one.rule == "schema/quantity"]
    assert paths == [
        "$.spec.limits[0].max.memory",
        "$.spec.capacity.storage",
        "$.spec.resources.requests.storage",
        '$.spec.hard."requests.memory"',
        "$.spec.template.spec.initContainers[init].resources.limits.cpu",
        "$.spec.template.spec.volumes[more].ephemeral.volumeClaimTemplate.spec.resources.requests.storage",
        "$.spec.template.spec.volumes[scratch].emptyDir.sizeLimit",
        "$.spec.volumeClaimTemplates[0].spec.resources.requests.storage",
    ]
