"""What a deploy looks like to people: its waves, its progress, why it stopped. Lines of text, escaped."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, assert_never

from kixbot.model.plan import Conflict, Plan, Wave
from kixbot.model.resource import Ref
from kixbot.ops.events import (
    Applied,
    Conflicted,
    Event,
    Failed,
    Finished,
    Installed,
    Kept,
    Planned,
    Pruned,
    Ready,
    Recorded,
    Waiting,
    Warned,
    WaveStarted,
)
from kixbot.output.terminal import escape

Namer = Callable[[Ref], str]
VALUE_CHARACTERS = 200


def wave_names(refs: Iterable[Ref]) -> Namer:
    """`Kind/name`; `@namespace` only where two would read alike, the group only where that does not help."""
    everything = tuple(refs)
    plain = Counter(f"{ref.kind}/{ref.name}" for ref in everything)
    placed = Counter(ref.short for ref in everything)

    def name(ref: Ref) -> str:
        text = f"{ref.kind}/{ref.name}"
        if plain[text] > 1:
            text = ref.short if placed[ref.short] <= 1 else ref.id
        return escape(text)

    return name


def waves_text(waves: Iterable[Wave]) -> str:
    """`wave 1 Secret/db ConfigMap/web`, a line a wave. Wave 0 only when it holds more than Namespaces and CRDs."""
    everything = tuple(waves)
    name = wave_names(ref for wave in everything for ref in wave.refs)
    lines = []
    for number, entries in groupby(everything, key=lambda wave: wave.number):
        refs = [ref for wave in entries for ref in wave.refs if ref.group != "kix.run"]
        if number == 0 and all(ref.kind in ("Namespace", "CustomResourceDefinition") for ref in refs):
            continue
        if refs:
            lines.append(f"wave {number} {' '.join(name(ref) for ref in refs)}")
    return "\n".join(lines)


def conflict_text(conflict: Conflict) -> str:
    """`$.spec.replicas: live 5 (kubectl, scale), wanted 3`."""
    beside = f", {conflict.subresource}" if conflict.subresource else ""
    live, desired = _value(conflict.live), _value(conflict.desired)
    return f"{escape(conflict.path)}: live {live} ({escape(conflict.manager)}{beside}), wanted {desired}"


def _value(value: Any) -> str:
    text = escape(json.dumps(value, sort_keys=True, ensure_ascii=False))
    return text if len(text) <= VALUE_CHARACTERS else f"{text[:VALUE_CHARACTERS]}… ({len(text)} characters)"


def plan_text(plan: Plan) -> str:
    """What a deploy would do beside the diff: waves, conflicts, adoptions, what left the build. "" when nothing."""
    blocks = [waves_text(plan.waves)]
    changes = [change for package in plan.packages for change in package.resources]
    name = wave_names(change.ref for change in changes)
    refused = [one for one in plan.conflicts if one.verdict == "conflict"]
    ceded = [one for one in plan.conflicts if one.verdict == "ceded"]
    blocks.append(
        _block(
            "Conflicts (a deploy stops at these)", [f"{escape(one.ref.short)} {conflict_text(one)}" for one in refused]
        )
    )
    blocks.append(
        _block("Ceded (left to their managers)", [f"{escape(one.ref.short)} {conflict_text(one)}" for one in ceded])
    )
    blocks.append(_block("Kept by other tools: a deploy refuses until they let go", _kept(plan)))
    adopted = [change for change in changes if change.action == "adopted"]
    blocks.append(_block("Adopted (exist already)", [f"{name(one.ref)} ({escape(one.note or '')})" for one in adopted]))
    blind: dict[str, list[str]] = {}
    for change in changes:
        if not change.simulated:
            blind.setdefault(_reason(change.note), []).append(name(change.ref))
    blocks.append(_block("Not simulated", [f"{reason}: {' '.join(names)}" for reason, names in sorted(blind.items())]))
    gone = [f"{escape(one.ref.short)}: {escape(one.kept or 'deleted with --prune')}" for one in plan.prune]
    blocks.append(_block("Left the build", gone))
    return "\n\n".join(block for block in blocks if block)


def _kept(plan: Plan) -> list[str]:
    lines: list[str] = []
    for one in plan.trackers:
        does = f" ({', '.join(one.does)})" if one.does else ""
        lines.append(f"{one.tool}, {escape(one.owner)}{does}: {' '.join(escape(ref.short) for ref in one.refs)}")
        lines += [f"  {escape(command)}" for command in one.commands]
    return lines


def _reason(note: str | None) -> str:
    return escape((note or "").removeprefix("not simulated: "))


def _block(title: str, lines: list[str]) -> str:
    return "\n".join([f"{title}:", *(f"  {line}" for line in lines)]) if lines else ""


class Progress:
    """Turns events into lines. `plan` names every object of the deploy, so that names are short and stay the same."""

    def __init__(self, plan: Plan) -> None:
        refs = [ref for wave in plan.waves for ref in wave.refs]
        self._name = wave_names(refs)

    def lines(self, event: Event) -> list[str]:
        """The lines of one event, none where there is nothing to say."""
        match event:
            case Planned() | Finished():
                return []
            case Installed(name=name):
                return [f"installed CustomResourceDefinition/{escape(name)}"]
            case Recorded(activation=activation, phase=phase):
                return [f"{escape(activation)} {phase.value}"]
            case WaveStarted(wave=number):
                return [f"wave {number}"]
            case Applied(ref=ref, action=action, left_out=left_out):
                left = f" (left to others: {', '.join(escape(path) for path in left_out)})" if left_out else ""
                return [f"  {self._name(ref)} {action}{left}"]
            case Waiting(ref=ref, reason=reason):
                return [f"  {self._name(ref)} waits: {escape(reason)}"]
            case Ready(ref=ref, note=note):
                return [f"  {self._name(ref)} ready{f' ({escape(note)})' if note else ''}"]
            case Pruned(ref=ref):
                return [f"  {escape(ref.short)} deleted"]
            case Kept(ref=ref, why=why):
                return [f"  {escape(ref.short)} kept: {escape(why)}"]
            case Warned(message=message):
                return [f"warning: {escape(message)}"]
            case Failed():
                return self._failed(event)
            case Conflicted(ref=ref, conflicts=conflicts):
                return [
                    f"✗ {self._name(ref)}: fields belong to other managers",
                    *(f"    {conflict_text(one)}" for one in conflicts),
                ]
            case _:
                assert_never(event)

    def _failed(self, failed: Failed) -> list[str]:
        lines = [f"✗ {self._name(failed.ref)}: {escape(failed.reason)}"]
        for title, text in (("pod", failed.pod), ("log", failed.log), ("event", failed.event)):
            if text:
                lines.append(f"    {title}: {escape(text)}")
        if failed.not_started:
            names = " ".join(self._name(ref) for ref in failed.not_started)
            lines.append(f"    not started: {names}")
        return lines
