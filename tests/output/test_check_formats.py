"""`kix check` in the formats of forges and CI: whole outputs, their schemas, hostile text."""

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import jsonschema
import pytest

from kixbot.errors import SourceError
from kixbot.model.finding import Finding, Report, Severity, State, Suppressed
from kixbot.model.resource import Location, Ref
from kixbot.ops.check import unbuilt
from kixbot.output import check_github, check_gitlab, check_junit, check_sarif
from tests.builds import CLOSED, build_of, lean_run as run
from tests.output.test_check_output import CLEAN, HOSTILE, everything, failing_eval, finding, report

# The constraints of the schema that OASIS publishes for SARIF 2.1.0 (rtm.5), without its descriptions.
SARIF = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text(encoding="utf-8"))


def clean() -> Report:
    return run(build_of(CLEAN, facts=CLOSED))


def broken() -> Report:
    return unbuilt(SourceError("broken YAML", file="shop.yaml", line=3), cluster=None)


def states() -> Report:
    """One finding of each kind that a baseline knows, and a suppressed one."""
    return report(
        finding(state=State.NEW, fingerprint="1" * 32),
        finding(state=State.UNCHANGED, fingerprint="2" * 32),
        fixed=(finding(state=State.FIXED, fingerprint="3" * 32),),
        suppressed=(Suppressed(finding=finding(fingerprint="4" * 32), reason="vendor\nimage"),),
        failing=("gov/image-no-tag",),
    )


MAKERS = [everything, failing_eval, clean, broken, states, lambda: report(HOSTILE)]


def test_the_everyday_mistakes_as_sarif(golden: Callable[[str, str], None]) -> None:
    golden("check.sarif", check_sarif.text(everything()))


def test_the_everyday_mistakes_as_junit(golden: Callable[[str, str], None]) -> None:
    golden("check.junit.xml", check_junit.text(everything()))


def test_the_everyday_mistakes_as_code_quality(golden: Callable[[str, str], None]) -> None:
    golden("check.gitlab.json", check_gitlab.text(everything()))


def test_the_everyday_mistakes_as_annotations(golden: Callable[[str, str], None]) -> None:
    golden("check.github.txt", check_github.text(everything()))


@pytest.mark.parametrize("make", MAKERS)
def test_sarif_keeps_to_the_published_schema(make: Callable[[], Report]) -> None:
    validator = jsonschema.Draft4Validator(SARIF)
    validator.validate(check_sarif.document(make()))


def test_the_published_schema_refuses_what_it_does_not_know() -> None:
    document = check_sarif.document(everything())
    document["runs"][0]["results"][0]["severity"] = "bad"
    assert not jsonschema.Draft4Validator(SARIF).is_valid(document)


def test_sarif_tells_states_and_suppressions() -> None:
    results = check_sarif.document(states())["runs"][0]["results"]
    assert [(one.get("baselineState"), one.get("suppressions")) for one in results] == [
        ("new", None),
        ("unchanged", None),
        (None, [{"kind": "external", "justification": "vendor\\nimage"}]),
        ("absent", None),
    ]


def test_sarif_fingerprints_stay_when_lines_move() -> None:
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop}\nspec: {containers: [{name: a, image: a}]}\n"
    )

    def prints(source: str, file: str) -> list[str]:
        results = check_sarif.document(run(build_of(source, file=file)))["runs"][0]["results"]
        return sorted(one["partialFingerprints"]["kix/v1"] for one in results)

    assert prints(text, "a.yaml") == prints(f"# moved\n\n{text}", "moved/b.yaml")


def test_every_result_has_a_place_that_a_forge_takes() -> None:
    nowhere = finding(ref=None, location=None)
    odd = finding(location=Location(file="./a b:c#d?.yaml"))
    results = check_sarif.document(report(nowhere, odd))["runs"][0]["results"]
    assert [one["locations"][0]["physicalLocation"] for one in results] == [
        {"artifactLocation": {"uri": "kix.toml"}, "region": {"startLine": 1}},
        {"artifactLocation": {"uri": "a%20b%3Ac%23d%3F.yaml"}, "region": {"startLine": 1}},
    ]


def test_a_message_makes_no_link() -> None:
    shown = check_sarif.document(report(finding(message="see [here](https://evil.example) and [web]", hint=None)))
    assert shown["runs"][0]["results"][0]["message"]["text"] == r"see \[here\](https://evil.example) and [web]"


def test_sarif_keeps_to_the_number_of_results_that_is_read() -> None:
    one = finding()
    assert len(check_sarif.document(report(*[one] * 25_001))["runs"][0]["results"]) == 25_000


@pytest.mark.parametrize("make", MAKERS)
def test_junit_counts_what_it_holds(make: Callable[[], Report]) -> None:
    root = ET.fromstring(check_junit.text(make()))
    for node in (root, *root.iter("testsuite")):
        cases = [*node.iter("testcase")]
        counted = {
            "tests": len(cases),
            "failures": sum(case.find("failure") is not None for case in cases),
            "skipped": sum(case.find("skipped") is not None for case in cases),
            "errors": 0,
        }
        assert {key: int(node.attrib[key]) for key in counted} == counted


def failures(of: Report) -> list[str]:
    root = ET.fromstring(check_junit.text(of))
    return [case.attrib["name"] for case in root.iter("testcase") if case.find("failure") is not None]


def test_junit_is_red_exactly_where_the_check_fails() -> None:
    assert failures(clean()) == []
    assert failures(report(finding(), finding(severity=Severity.INFO))) == []
    assert failures(report(finding(), failing=("gov/image-no-tag",))) == ["scorecard", "gov/image-no-tag"]
    assert failures(failing_eval()) == ["eval", "schema/assertion"]
    assert failures(broken()) == ["eval", "schema/source"]
    assert failures(states()) == ["scorecard", "gov/image-no-tag"]


def test_junit_holds_no_character_that_xml_refuses() -> None:
    odd = finding(message="a\x00\ufffe\uffff\ud800]]><failure>", ref=Ref("Pod", "", "a", '"<&'))
    root = ET.fromstring(check_junit.text(report(odd)))
    (remark,) = (case.findtext("system-out") for case in root.iter("testcase") if case.attrib["name"].startswith("gov"))
    assert remark == "warning: a\\x00\ufffd\ufffd\\ud800]]><failure>\nhint: name one"


@pytest.mark.parametrize("make", MAKERS)
def test_code_quality_is_what_gitlab_reads(make: Callable[[], Report]) -> None:
    items = json.loads(check_gitlab.text(make()))
    assert len({item["fingerprint"] for item in items}) == len(items)
    for item in items:
        assert set(item) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert item["severity"] in {"info", "minor", "major", "critical", "blocker"}
        assert not item["location"]["path"].startswith(("/", "./"))
        assert item["location"]["lines"]["begin"] >= 1


def test_annotations_escape_what_the_runner_reads() -> None:
    odd = finding(
        message="100% sure\n::error::evil",
        hint=None,
        ref=Ref("Pod", "", "a", "b"),
        location=Location(file="a,b:c%\n.yaml", line=7),
    )
    assert check_github.text(report(odd)).partition("\n")[0] == (
        "::warning file=a%2Cb%3Ac%25\\n.yaml,line=7,title=gov/image-no-tag Pod/b@a::100%25 sure%0A::error::evil"
    )


def test_ten_annotations_at_most_worst_and_newest_first() -> None:
    def one(severity: Severity, state: State | None = None) -> Finding:
        return finding(severity=severity, message=severity.value, hint=None, state=state)

    many = [one(Severity.INFO)] * 4 + [one(Severity.WARNING, State.UNCHANGED)] + [one(Severity.WARNING)] * 5
    text = check_github.text(report(*many, one(Severity.ERROR), one(Severity.ERROR)))
    commands = [line.partition(" ")[0] for line in text.split("\n") if line.startswith("::")]
    assert commands == ["::error"] * 2 + ["::warning"] * 6 + ["::notice"] * 2
    assert "2 more findings are not annotated" in text
    assert text.endswith("| scorecard | fail | 2 errors, 6 warnings, 4 info (0 new, 1 unchanged, 0 fixed) |\n")


@pytest.mark.parametrize(
    "render", [check_sarif.text, check_junit.text, check_gitlab.text, check_github.text], ids=lambda one: one.__module__
)
def test_no_format_holds_a_secret_or_steers_a_terminal(render: Callable[[Report], str]) -> None:
    assert "hunter2" not in render(everything())
    shown = render(report(HOSTILE))
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}
    assert not [line for line in shown.split("\n") if line.lstrip().startswith("::error::")]
