"""Service: there at once; a load balancer has an address."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """LoadBalancer waits for an address, so on a cluster without a provider it ends with the wave's timeout."""
    if (body.get("spec") or {}).get("type") != "LoadBalancer":
        return READY
    ingress = ((body.get("status") or {}).get("loadBalancer") or {}).get("ingress")
    return READY if ingress else waiting("no load balancer address yet")
