"""Every rule has a good and a bad example, and they are what they say."""

import re

import pytest

from kixbot.checks.base import GROUPS, Check
from kixbot.checks.registry import CHECKS, find_check
from kixbot.checks.report import run
from tests.builds import CLOSED, build_of

FIXED_IDS = {
    "schema/quantity", "schema/duplicate-map-key", "schema/duplicate-env", "ref/pdb-selects-nothing", "ref/target-port",
    "ref/service-selects-nothing", "ref/secret-key", "ref/priority-class", "ref/load-balancer-provider",
    "sel/job-in-service", "sel/service-selects-only-jobs", "gov/image-no-tag", "sec/secret-literal", "sec/root-image",
    "ref/config-map-key", "ref/probe-port", "schema/quantity-unit", "sec/automount-token",
}  # fmt: skip


def rules_of(text: str) -> set[str]:
    report = run(build_of(text, facts=CLOSED))
    return {finding.rule for finding in (*report.eval_messages, *report.findings)}


@pytest.mark.parametrize(
    "check", [check for check in CHECKS if check.example.language == "yaml"], ids=lambda check: check.id
)
def test_a_rule_speaks_of_its_bad_example_and_not_of_its_good_one(check: Check) -> None:
    assert check.id in rules_of(check.example.bad)
    assert check.id not in rules_of(check.example.good)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.id)
def test_a_rule_says_what_and_why(check: Check) -> None:
    group, _, name = check.id.partition("/")
    assert group in GROUPS
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)
    assert check.title[0].islower()
    assert not check.title.endswith(".")
    assert check.rationale.endswith(".")
    assert check.example.good != check.example.bad


def test_ids_are_unique_and_can_be_looked_up() -> None:
    assert len({check.id for check in CHECKS}) == len(CHECKS)
    assert all(find_check(check.id) is check for check in CHECKS)
    assert find_check("ref/nothing") is None


def test_the_ids_that_others_rely_on_are_there() -> None:
    assert {check.id for check in CHECKS} >= FIXED_IDS
