"""What holds for every build: the order of its documents and unrelated neighbours change no finding."""

import yaml
from hypothesis import given, settings, strategies as st

from kixbot.checks.registry import CHECKS
from kixbot.checks.report import run
from kixbot.model.finding import Finding
from tests.builds import CLOSED, build_of

DOCUMENTS = [
    document
    for check in CHECKS
    if check.example.language == "yaml" and check.id not in {"api/object-size", "api/duplicate-object"}
    for document in check.example.bad.split("---\n")
]
NEIGHBOUR = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: neighbour, namespace: elsewhere}
data: {a: "1"}
"""


def named(documents: list[str]) -> str:
    """One stream, in which each id stands once."""
    once = {}
    for document in documents:
        body = yaml.safe_load(document)
        once[body["kind"], body["metadata"]["name"], body["metadata"].get("namespace")] = document
    return "---\n".join(once.values())


def told(text: str) -> list[tuple[str, str, str]]:
    """The findings without their lines."""
    return [(one.rule, one.message, one.fingerprint) for one in run(build_of(text, facts=CLOSED)).findings]


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_order_of_documents_changes_nothing_but_which_of_equals_is_first(data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=8, unique=True))
    documents = named(chosen).split("---\n")
    shuffled = data.draw(st.permutations(documents))
    assert told("---\n".join(shuffled)) == told("---\n".join(documents))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=6, unique=True))
def test_a_neighbour_in_another_namespace_adds_at_most_its_own_findings(chosen: list[str]) -> None:
    text = named(chosen)

    def own(findings: tuple[Finding, ...]) -> set[str]:
        return {one.fingerprint for one in findings if one.rule != "ref/namespace"}

    alone = own(run(build_of(text, facts=CLOSED)).findings)
    beside = own(run(build_of(f"{text}---\n{NEIGHBOUR}", facts=CLOSED)).findings)
    assert beside == alone


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from(DOCUMENTS), min_size=1, max_size=6, unique=True))
def test_a_build_is_its_own_baseline(chosen: list[str]) -> None:
    build = build_of(named(chosen), facts=CLOSED)
    report = run(build)
    findings = (*report.findings, *report.followers)
    fingerprints = {one.fingerprint: one for one in findings}
    assert len(fingerprints) == len(findings)
    again = run(build, baseline=fingerprints, fail_on=("warning",))
    assert (again.fixed, again.failing) == ((), ())
