"""A plan as Markdown for people: counts, package lists, the activation, and the details folded per package.

Every name and value is untrusted: names stand as code, details in a fence longer than any run of backticks inside.
"""

from collections.abc import Iterator

from kixbot.model.drift import ResourceDrift
from kixbot.model.plan import PackageChange, Plan
from kixbot.output import drift_text
from kixbot.output.deploy_text import waves_text
from kixbot.output.markup import Text, code, fence, html_code, version
from kixbot.output.plan_text import resource_lines
from kixbot.output.plan_values import count, parts, plan_line, refs_of, resources_line
from kixbot.output.ref_names import short_names


def markdown(plan: Plan) -> str:
    """What `kix diff -o markdown` prints."""
    return _render(plan, "kix diff", waves=False)


def plan_markdown(plan: Plan) -> str:
    """What `kix plan -o markdown` prints: the same with the waves."""
    return _render(plan, "kix plan", waves=True)


def _render(plan: Plan, title: str, *, waves: bool) -> str:
    changed = [package for package in plan.packages if package.action == "changed"]
    blocks = ["\n".join([f"## {title}", plan_line(plan), resources_line(plan)])]
    for heading, action in (("Added", "added"), ("Changed", "changed"), ("Removed", "removed")):
        lines = [_line(package) for package in plan.packages if package.action == action]
        if lines:
            blocks.append("\n".join([f"**{heading} packages**", *lines]))
    if plan.drift.resources:
        blocks.append("\n".join(["**Drift**", *map(_drift_line, plan.drift.resources)]))
    if plan.conflicts:
        blocks.append(f"**Conflicts**\n\n{fence(chr(10).join(_conflicts(plan)))}")
    if waves and (text := waves_text(plan.waves)):
        blocks.append(f"**Waves**\n\n{fence(text)}")
    blocks.append(_activation(plan))
    blocks += [_details(package, plan) for package in changed]
    blocks += _drift_details(plan)
    return "\n\n".join(blocks) + "\n"


def _line(package: PackageChange) -> str:
    return f"- {code(package.id)}{_versions(package)} ({parts(package)})"


def _versions(package: PackageChange) -> str:
    old, new = package.old_version, package.new_version
    if old and new and old != new:
        return f" {version(old)} → {version(new)}"
    return f" {version(new or old or '')}" if new or old else ""


def _activation(plan: Plan) -> str:
    old, new = plan.old_activation, plan.new_activation
    if old != new or new is None:
        return f"Activation: {_name(old)} to {_name(new)}"
    if plan.same_name_secrets:
        return f"Activation: {_name(new)} (unchanged name: only Secret values differ)"
    return f"Activation: {_name(new)} (unchanged{' name' if plan.packages else ''})"


def _name(activation: str | None) -> Text:
    return code(activation) if activation is not None else Text("(none)")


def _details(package: PackageChange, plan: Plan) -> str:
    name = short_names(refs_of(plan))
    lines = [line for change in package.resources for line in resource_lines(change, name)]
    summary = f"{html_code(package.id)} ({parts(package)})"
    return f"<details><summary>{summary}</summary>\n\n{fence(chr(10).join(lines))}\n\n</details>"


def _drift_line(drift: ResourceDrift) -> str:
    what = drift_text.state(drift) or count(len(drift.fields), "field")
    return f"- {code(drift.ref.short)} ({what})"


def _drift_details(plan: Plan) -> Iterator[str]:
    name = short_names(refs_of(plan))
    for title, lines in (
        ("Drift", list(drift_text.section(plan.drift, name))),
        ("Added by hand", list(drift_text.additions(plan.drift, name))),
    ):
        if lines:
            yield f"<details><summary>{title}</summary>\n\n{fence(chr(10).join(lines))}\n\n</details>"


def _conflicts(plan: Plan) -> Iterator[str]:
    name = short_names(refs_of(plan))
    for conflict in plan.conflicts:
        holder = ", ".join(filter(None, (conflict.manager, conflict.subresource)))
        left = "; left to it" if conflict.verdict == "ceded" else ""
        yield f"{name(conflict.ref)} {conflict.path} is held by {holder}{left}"
