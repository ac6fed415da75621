"""What the comment says, and that hostile values stay text in it."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from kixbot.model.finding import Finding, Report, Severity, State
from kixbot.model.plan import Added, Changed, PackageChange, Plan, Removed, Reordered, ResourceChange, SecretChanged
from kixbot.model.resource import Location, Ref
from kixbot.output.budget import utf16_units
from kixbot.output.comment import render_comment, render_summary
from kixbot.output.marker import find_marker
from kixbot.output.review_values import ClusterReview, Review, Risk, RiskKind
from tests.output.rendered import ALLOWED, Page, outside_fences
from tests.output.reviews import ERROR, WARNING, WEB, package, ref, review, shop, unbuilt

LIMIT = 65_536


def comment(shown: Review, limit: int = LIMIT) -> str:
    return render_comment(shown, limit=limit, measure=utf16_units)


def test_the_comment_of_a_plain_change(golden: Callable[[str, str], None]) -> None:
    golden("comment.md", comment(review(shop(WARNING))))


def test_the_comment_of_two_clusters_that_fail(golden: Callable[[str, str], None]) -> None:
    edge = unbuilt("edge", "syntax error, unexpected '}'", hint="mend the definition", file="clusters/edge.nix")
    risks = (Risk(kind=RiskKind.SETTINGS, verb="changes settings in", subject="kix.toml"),)
    golden("comment_failing.md", comment(review(shop(ERROR, WARNING, passed=False), edge, label="prod", risks=risks)))


def test_nothing_changes_is_said_in_the_first_line() -> None:
    plan = Plan(cluster="shop", old_activation="shop-1", new_activation="shop-1", unchanged=12)
    report = Report(cluster="shop", activation="shop-1", manifests=37)
    text = comment(review(ClusterReview(name="shop", passed=True, report=report, plan=plan)))
    assert text.split("\n")[1] == "### ✅ kix says yes: nothing changes"
    assert "Activation: `shop-1` (unchanged)" in text


def test_a_change_of_secret_values_alone_is_told_without_a_value() -> None:
    plan = Plan(cluster="shop", old_activation="shop-1", new_activation="shop-1", same_name_secrets=True)
    report = Report(cluster="shop", activation="shop-1", manifests=37)
    text = comment(review(ClusterReview(name="shop", passed=True, report=report, plan=plan)))
    assert text.split("\n")[1] == "### ✅ kix says yes: Secret values change in `shop`"
    assert "Activation: `shop-1` (unchanged name: only Secret values differ)" in text


def test_every_kind_of_field_change_has_its_lines() -> None:
    change = ResourceChange(
        ref=WEB,
        action="changed",
        note="not simulated: CRD y is made by this deploy",
        changes=(
            Added(path="$.a", new={"k": 1}),
            Removed(path="$.b", old=[True, None]),
            Changed(path="$.c", old="a\nb\nc\nd\ne\n", new="a\nb\nX\nd\ne\n"),
            Changed(path="$.d", old="x" * 300, new="y"),
            Reordered(path="$.e", old=("A", "B"), new=("B", "A")),
            SecretChanged(path="$.data.password", action="changed"),
        ),
    )
    plan = Plan(cluster="shop", old_activation="a", new_activation="b", packages=(package("web", change),))
    text = comment(review(replace(shop(), plan=plan)))
    expected = f"""```diff
@@ $.a @@
+ {{"k":1}}
@@ $.b @@
- [true,null]
@@ $.c @@
@@ -1,6 +1,6 @@
  a
  b
- c
+ X
  d
  e
  \n@@ $.d @@
- "{"x" * 199}… (302 characters)
+ "y"
@@ $.e @@
- order [A,B]
+ order [B,A]
@@ $.data.password @@
! secret value changed
! not simulated: CRD y is made by this deploy
```"""
    assert expected in text


def test_an_added_resource_is_shown_as_its_manifest() -> None:
    new = ref("ConfigMap", "new")
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "new"}, "data": {"a": "x\ny\n"}}
    plan = Plan(
        cluster="shop", old_activation="a", new_activation="b",
        packages=(package("web", ResourceChange(ref=new, action="added")),),
    )  # fmt: skip
    text = comment(review(replace(shop(), plan=plan, added={new: manifest})))
    assert "```diff\n+ apiVersion: v1\n+ kind: ConfigMap\n+ metadata:\n+   name: new\n+ data:\n+   a: |" in text


def test_the_summary_is_the_comment_without_its_marker() -> None:
    shown = review(shop(WARNING))
    assert render_summary(shown, limit=1024 * 1024) == comment(shown).split("\n", 1)[1]


HOSTILE = [
    "@acme/everyone", "#12", "acme/shop#12", "https://evil.example/x", "www.evil.example", "a@evil.example",
    "</details></details><h1>gone</h1>", "<script>alert(1)</script>", "<!-- x -->", "-->", "```\n</details>\n# big",
    "````", "~~~", "`", "``", "|", "a | b", "\\|", "$x$ and $y$", "$`a`$", "![x](https://evil.example/x.png)",
    "[x](javascript:alert(1))", "**bold**", "_em_", "/close", "\n/merge\n", "/kix deploy", "\n\n# heading", "- item",
    "::error::x", "##[error]x", "EOF\noutcome=success", "\u202egnp.exe", "\u2066x\u2069", "\x1b[31mred", "\x07", "\r\n",
    "&lt;b&gt;", "&#64;acme", "a" * 5000, "🎉" * 400, "\ud800", "", " ", "{{ 7 * 7 }}", "{% raw %}", "<details>", "</pre>",
    "<pre>", "</code>", "\t", "%0A", "![]", "==x==", ":smile:", "GH-12", "deadbeef" * 5, "~strike~", "[[wiki]]",
    "|a@evil.example", "|mailto:a@evil.example|", "|www.evil.example|http://evil.example",
]  # fmt: skip


def hostile(text: str) -> Review:
    """A review in which every value that is not ours is `text`."""
    bad = Ref(kind=text or "K", group="", namespace=text, name=text)
    finding = Finding(
        rule=text, severity=Severity.ERROR, message=text, ref=bad, path=text, hint=text, package=text,
        location=Location(file=text, line=1), state=State.NEW,
    )  # fmt: skip
    fields = (
        Added(path=text, new=text), Removed(path=text, old={text: [text]}), Changed(path=text, old=text, new=text + "\n" + text),
        Changed(path=text, old=f"{text}\n{text}\n1", new=f"{text}\n{text}\n2"),
        Reordered(path=text, old=(text, "b"), new=("b", text)), SecretChanged(path=text, action="added"),
    )  # fmt: skip
    changes = (
        ResourceChange(ref=bad, action="changed", changes=fields, note=text),
        ResourceChange(ref=bad, action="changed", reason="dependency"),
    )
    made = ResourceChange(ref=replace(bad, kind="Made"), action="added")
    plan = Plan(
        cluster=text, old_activation=text, new_activation=text + "x", hash=text,
        packages=(
            PackageChange(
                id=text, namespace=text, name=text, action="changed", old_version=text, new_version=text + "1",
                resources=changes,
            ),
            PackageChange(id=text + "2", namespace=text, name=text, action="added", new_version=text, resources=(made,)),
        ),
    )  # fmt: skip
    risk = Risk(kind=RiskKind.IMAGE, verb="moves image", subject=text, values=(text, text), ref=bad)
    good = ClusterReview(
        name=text or "shop", passed=False, report=Report(cluster=text, activation=text, manifests=1, findings=(finding,)),
        plan=plan, risks=(risk,), added={made.ref: {"kind": "Made", text: [text, {text: text}]}},
    )  # fmt: skip
    broken = unbuilt("edge", text, hint=text, file=text)
    return review(good, broken, label="prod", risks=(risk,))


def check_harmless(text: str) -> None:
    page = Page(text)
    assert page.tags <= ALLOWED
    assert page.balanced
    assert page.links == ["https://github.com/acme/shop/actions/runs/4711"]
    assert len(page.comments) == 1
    assert find_marker(text) is not None
    outside = page.outside
    for sign in ("@", "$", "evil", "javascript", "{{", "::", "##[", "/merge", "/close", "🎉", "deadbeef", "#12"):
        assert sign not in outside
    assert not [line for line in outside_fences(text) if line.lstrip().startswith("/")]
    assert not any(character in text for character in "\x1b\x07\r\u202e\u2066\u2069\ud800")
    assert page.text.rstrip().endswith("run")
    assert "kix 0." in outside


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_value_stays_text_wherever_it_stands(text: str) -> None:
    check_harmless(comment(hostile(text)))


@settings(max_examples=50, deadline=None)
@given(parts=st.lists(st.sampled_from(HOSTILE) | st.text(max_size=30), max_size=5), limit=st.integers(4000, 12_000))
def test_no_mixture_of_hostile_values_breaks_out_at_any_budget(parts: list[str], limit: int) -> None:
    text = comment(hostile("".join(parts)), limit)
    assert utf16_units(text) <= limit
    page = Page(text)
    assert page.balanced
    assert page.tags <= ALLOWED
    assert "kix 0." in page.outside
