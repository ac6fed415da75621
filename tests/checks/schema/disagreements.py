"""Where kix and the API server judge an object differently, and why. Each stands in the decision page, too."""

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Objects of the corpus whose title matches, who alone refuses them, and why that is right."""

    titles: re.Pattern[str]
    refused_by: Literal["kix", "the API server"]
    why: str


def _kix(titles: str, why: str) -> Disagreement:
    return Disagreement(titles=re.compile(titles), refused_by="kix", why=why)


def _server(titles: str, why: str) -> Disagreement:
    return Disagreement(titles=re.compile(titles), refused_by="the API server", why=why)


DISAGREEMENTS = (
    _kix(
        r"(requests|limits|capacity|hard|default|defaultRequest|max|min|maxLimitRequestRatio|podFixed)\.\S+ as"
        r"|(sizeLimit|divisor|averageValue|value) as",
        "The API server reads a quantity with a space before it, and `-` as 0. Nobody means either.",
    ),
    _kix(
        r"^(?!Pod/).*\.image as ' ",
        "An image with a space before it is refused in a pod, and so every pod of this template would be.",
    ),
    _kix(
        r"^CronJob/.*jobTemplate\.metadata\.labels\.",
        "Labels of a Job template are not looked at until the first Job is made, which is then refused.",
    ),
    _kix(
        r"^HorizontalPodAutoscaler/.*selector\.matchLabels\.",
        "The selector of an external metric is not looked at when it is written; it can match nothing.",
    ),
    _kix(r"nodePort as '?(-1|65536)", "A dry run allocates no node port; the write that follows refuses this one."),
    _kix(r"protocol as ''", "An empty protocol reads as TCP, and the port is then there twice."),
    _kix(
        r"^LimitRange/.*type as 'a/b'",
        "For a type that Kubernetes does not know, no limits are looked at; none would ever be held to.",
    ),
    _server(
        r"^(ValidatingAdmissionPolicy|ValidatingWebhookConfiguration)/.*(expression|variables)",
        "CEL of admission policies is not compiled here: its types depend on the kinds it is matched with.",
    ),
    _server(
        r"^Pod/.*(priorityClassName|serviceAccountName) as",
        "That what is named exists is the matter of the rules `ref/priority-class` and `ref/service-account`.",
    ),
    _server(
        r"^PriorityLevelConfiguration/.*queues as '?6553[56]",
        "The bits of entropy of a shuffle-sharding hand are not counted.",
    ),
)
