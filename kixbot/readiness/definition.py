"""CustomResourceDefinition: Established and its names accepted."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, condition_is, conditions, failed, reason_of, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """`conditions` is null right after creation; Installing passes by itself, other reasons do not."""
    names = conditions(body).get("NamesAccepted", {})
    if names.get("status") == "False":
        return failed(reason_of(names))
    established = conditions(body).get("Established", {})
    if established.get("status") == "False" and established.get("reason") != "Installing":
        return failed(reason_of(established))
    both = condition_is(body, "Established") and condition_is(body, "NamesAccepted")
    return READY if both else waiting("not established yet")
