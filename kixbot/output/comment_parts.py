"""The parts of a review's comment that always stand: verdict, blast radius, checks, findings, package lists."""

import re
from dataclasses import dataclass

from kixbot import __version__
from kixbot.model.finding import Severity
from kixbot.model.plan import PackageChange, Plan
from kixbot.output import check_table
from kixbot.output.check_text import block
from kixbot.output.markup import Text, code, count, fence, html_code, version
from kixbot.output.plan_values import parts, plan_line, resources_line
from kixbot.output.ref_names import short_names
from kixbot.output.review_values import ClusterReview, Review

_URL = re.compile(r"https?://[0-9A-Za-z.:\[\]-]+(/[0-9A-Za-z._~/%+=?&#-]*)?")
_NAMES = 3
_FINDING_LINES = 20
_FINDING_WIDTH = 500
# Details of a row that need no code markup: no address, no markup, no mention.
_HARMLESS = re.compile(r"(?!.*(//|www\.))[0-9A-Za-z ,;:()./-]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caps:
    """How many of each are listed; the rest is counted."""

    risks: int
    findings: int
    packages: int
    clusters: int

    def of_clusters(self, review: Review) -> tuple[ClusterReview, ...]:
        """The clusters that are shown: failing ones first where not all can be."""
        if len(review.clusters) <= self.clusters:
            return review.clusters
        return tuple(sorted(review.clusters, key=lambda cluster: cluster.passed)[: self.clusters])


def verdict(review: Review) -> Text:
    """The first line: yes or no, and why."""
    label = f" ({code(review.label)})" if review.label else ""
    failing = [cluster for cluster in review.clusters if not cluster.passed]
    if failing:
        return Text(f"❌ kix{label} says no: {_names([_failure(cluster) for cluster in failing], 'cluster')}")
    changing = [cluster for cluster in review.clusters if cluster.plan and _changes(cluster.plan)]
    if not changing:
        return Text(f"✅ kix{label} says yes: nothing changes")
    texts = [_packages(cluster.plan, cluster.name) for cluster in changing if cluster.plan]
    return Text(f"✅ kix{label} says yes: {_names(texts, 'cluster')}")


def _names(texts: list[str], one: str) -> str:
    more = f" and {count(len(texts) - _NAMES, f'more {one}')}" if len(texts) > _NAMES else ""
    return ", ".join(texts[:_NAMES]) + more


def _failure(cluster: ClusterReview) -> str:
    name = code(cluster.name, 63)
    if not cluster.report.scorecard_ran:
        return f"{name} does not build"
    if cluster.report.eval_messages:
        return f"{name} does not evaluate"
    errors = cluster.count(Severity.ERROR)
    return f"{name} has {count(errors, 'error')}" if errors else f"{name} does not pass"


def _changes(plan: Plan) -> bool:
    return bool(plan.packages or plan.same_name_secrets)


def _packages(plan: Plan, name: str) -> str:
    total = len(plan.packages)
    if not total:
        return f"Secret values change in {code(name, 63)}"
    return f"{count(total, 'package')} {'changes' if total == 1 else 'change'} in {code(name, 63)}"


def risk_lines(review: Review, caps: Caps) -> tuple[list[dict[str, object]], int]:
    """The blast radius, gravest first, and how many more there are."""
    several = len(review.clusters) > 1
    found = [(risk, "") for risk in review.risks]
    found += [(risk, cluster.name) for cluster in review.clusters for risk in cluster.risks]
    found.sort(key=lambda pair: (pair[0].kind, pair[1], pair[0].subject, pair[0].values))
    shown: list[dict[str, object]] = [
        {"cluster": name if several else None, "risk": risk} for risk, name in found[: caps.risks]
    ]
    return shown, len(found) - len(shown)


def rows(cluster: ClusterReview) -> list[dict[str, object]]:
    """The rows of `kix check`: eval and scorecard."""
    marks = {"pass": "✅ ", "fail": "❌ ", "not run": ""}
    return [
        {
            "cluster": cluster.name,
            "tool": row.tool,
            "result": marks[row.result] + row.result,
            "details": Text(row.details) if _HARMLESS.fullmatch(row.details) else code(row.details),
        }
        for row in check_table.rows(cluster.report)
    ]


def finding_blocks(cluster: ClusterReview, caps: Caps) -> list[dict[str, object]]:
    """What failed evaluation, errors and new warnings of a cluster as one block of text."""
    found = cluster.shown
    shown = found[: caps.findings]
    if not shown:
        return []
    name = short_names(finding.ref for finding in shown if finding.ref)
    lines = [line for finding in shown for line in _cut(block(finding, name).rstrip("\n"))]
    problems = len(cluster.report.eval_messages)
    errors = sum(finding.severity is Severity.ERROR for finding in found) - problems
    warnings = len(found) - errors - problems
    numbers = ((problems, "problem"), (errors, "error"), (warnings, "new warning"))
    title = ", ".join(count(number, one) for number, one in numbers if number)
    text = fence("\n".join(lines))
    return [{"cluster": cluster.name, "title": Text(title), "text": text, "more": len(found) - len(shown)}]


def _cut(text: str) -> list[str]:
    lines = text.split("\n")
    kept = [line if len(line) <= _FINDING_WIDTH else line[: _FINDING_WIDTH - 1] + "…" for line in lines]
    return kept if len(kept) <= _FINDING_LINES else [*kept[: _FINDING_LINES - 1], "…"]


def cluster_parts(cluster: ClusterReview, caps: Caps) -> dict[str, object]:
    """Plan and resources lines, package lists and the activation, as `kix diff -o markdown` prints them."""
    plan = cluster.plan
    assert plan is not None
    return {
        "name": cluster.name,
        "plan_line": Text(plan_line(plan)),
        "resources_line": Text(resources_line(plan)),
        "groups": [
            group
            for title, action in (("Added", "added"), ("Changed", "changed"), ("Removed", "removed"))
            for group in _group(plan, title, action, caps.packages)
        ],
        "activation": _activation(plan),
    }


def _group(plan: Plan, title: str, action: str, most: int) -> list[dict[str, object]]:
    packages = [package for package in plan.packages if package.action == action]
    if not packages:
        return []
    shown = [{"id": package.id, "rest": Text(_rest(package))} for package in packages[:most]]
    return [{"title": f"{title} packages", "packages": shown, "more": len(packages) - len(shown)}]


def _rest(package: PackageChange) -> str:
    versions = [version(text) for text in (package.old_version, package.new_version) if text]
    if len(versions) == 2 and versions[0] == versions[1]:
        versions = versions[:1]
    return (" " + " → ".join(versions) if versions else "") + f" ({parts(package)})"


def _activation(plan: Plan) -> Text:
    old, new = (code(name) if name else "none" for name in (plan.old_activation, plan.new_activation))
    if plan.same_name_secrets:
        return Text(f"Activation: {new} (unchanged name: only Secret values differ)")
    if old == new:
        return Text(f"Activation: {new} (unchanged)")
    return Text(f"Activation: {old} to {new}")


def fold(package: PackageChange, texts: tuple[str, ...]) -> Text:
    """A package's details, folded; open only by the reader."""
    inner = "\n".join(texts)
    return Text(f"<details><summary>{html_code(package.id)} ({parts(package)})</summary>\n\n{inner}\n</details>")


def footer(review: Review) -> Text:
    """Which commits were compared, by what, in which run."""
    parts = [f"kix {__version__}", f"{code(review.head_sha[:12])} against {code(review.base_sha[:12])}"]
    return Text(" · ".join((*parts, link(review.run.url))).removesuffix(" · "))


def link(url: str | None) -> Text:
    """A link to the run, empty where it has no address that can stand in Markdown."""
    return Text(f"[run]({url})" if url and _URL.fullmatch(url) else "")
