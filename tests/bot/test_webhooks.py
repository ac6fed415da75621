"""Every example payload that GitHub publishes ends in an event, and the ones that matter in the right one."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kixbot.bot.event_values import Ignored, MergeGroup, Push, Review
from kixbot.bot.events import read_event
from tests.parts.paths import NODE_MODULES

SHA = "c" * 40


def examples() -> Iterator[tuple[str, dict[str, Any]]]:
    file = NODE_MODULES.get("node_modules/@octokit/webhooks-examples/api.github.com/index.json")
    for entry in json.loads(file.read_text()):
        for payload in entry["examples"]:
            yield entry["name"], payload


def test_every_published_payload_is_read_or_ignored_with_a_sentence() -> None:
    seen: Counter[str] = Counter()
    for name, payload in examples():
        event = read_event({"GITHUB_EVENT_NAME": name, "GITHUB_SHA": SHA, "GITHUB_REF": "refs/heads/master"}, payload)
        seen[f"{name} {type(event).__name__}"] += 1
        if isinstance(event, Ignored):
            assert event.sentence.startswith(name)
        if isinstance(event, Review):
            assert event.head_sha == payload["pull_request"]["head"]["sha"] != SHA
            assert event.number == payload["number"]
        if isinstance(event, MergeGroup):
            assert event.head_sha == payload["merge_group"]["head_sha"]
        if isinstance(event, Push):
            assert event.sha == payload["after"]
    assert sum(seen.values()) > 200
    kinds = {key for key in seen if not key.endswith("Ignored")}
    assert {"pull_request Review", "merge_group MergeGroup"} <= kinds
    assert {key.partition(" ")[0] for key in kinds} <= {
        "pull_request", "merge_group", "push", "issue_comment", "schedule", "workflow_dispatch",
    }  # fmt: skip
