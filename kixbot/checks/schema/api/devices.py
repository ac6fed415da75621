"""Devices that pods claim, in each version of their API, and other kinds that controllers write more than people do."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import (
    Fields,
    Judges,
    between,
    exactly_one,
    has,
    merged,
    named,
    needs,
    one_of,
    table,
    unique,
    unless_empty,
)
from kixbot.checks.schema.faults import UNIQUE, dotted, not_allowed
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.shape import mappings

_VERSIONS = ("v1", "v1beta2", "v1beta1")


def _claim(value: Any, at: Raw) -> Iterator[Fault]:
    """Constraints and settings speak of requests of the same claim, or of one of their alternatives."""
    known = set()
    for request in mappings(value.get("requests")):
        known.add(request.get("name"))
        known |= {f"{request.get('name')}/{one.get('name')}" for one in mappings(request.get("firstAvailable"))}
    for field in ("constraints", "config"):
        for place, item in enumerate(mappings(value.get(field))):
            for number, name in enumerate(item.get("requests") or ()):
                if name not in known:
                    yield not_allowed(name, sorted(map(str, known)), (*at, field, place, "requests", number))


def _each_once(value: Any, at: Raw) -> Iterator[Fault]:
    if len(set(value)) < len(value):
        yield Fault(rule=UNIQUE, at=at, text=f"has one value twice in {dotted(at)}", hint="write each once")


_REQUEST: Fields = {
    "": needs("deviceClassName"),
    "deviceClassName": named(names.dns_subdomain),
    "allocationMode": unless_empty(one_of("ExactCount", "All")),
    "count": between(0),
}

_CLAIMS: Mapping[str, Fields] = {
    "DeviceSelector": {"": needs("cel")},
    "DeviceClassConfiguration": {"": needs("opaque")},
    "DeviceClaimConfiguration": {"": needs("opaque"), "requests": _each_once},
    "OpaqueDeviceConfiguration": {"": (needs("driver"), has("parameters")), "driver": named(names.csi_driver)},
    "DeviceClaim": {"": _claim, "requests": unique("name")},
    "DeviceConstraint": {"": exactly_one("matchAttribute", "distinctAttribute"), "requests": _each_once},
    "ExactDeviceRequest": _REQUEST,
    "DeviceSubRequest": {**_REQUEST, "name": named(names.dns_label)},
}
_NEWER_REQUEST: Fields = {
    "": (needs("name"), exactly_one("exactly", "firstAvailable")),
    "name": named(names.dns_label),
}
_OTHERS: Mapping[str, Fields] = {
    "storage.v1.VolumeAttributesClass": {
        "": needs("driverName", "parameters"),
        "driverName": named(names.qualified_folded),
    },
    "networking.v1.ServiceCIDR": {"": needs("spec")},
    "networking.v1.ServiceCIDRSpec": {"": needs("cidrs")},
    "networking.v1.IPAddress": {"": needs("spec")},
    "networking.v1.IPAddressSpec": {"": needs("parentRef")},
    "networking.v1.ParentReference": {"": needs("resource", "name")},
    "apps.v1.ControllerRevision": {"": has("data"), "revision": between(0)},
    "storage.v1.VolumeAttachmentSpec": {"attacher": named(names.csi_driver), "nodeName": named(names.dns_subdomain)},
    "storage.v1.VolumeAttachmentSource": {"": exactly_one("persistentVolumeName", "inlineVolumeSpec")},
    "storage.v1.CSINodeDriver": {"": needs("name", "nodeID"), "name": named(names.csi_driver)},
    "storage.v1.CSIStorageCapacity": {"storageClassName": named(names.dns_subdomain)},
    "events.v1.Event": {"": needs("eventTime", "action", "reason", "reportingController", "reportingInstance")},
}

JUDGES: Judges = merged(
    *(table({f"resource.{version}.{name}": rules for name, rules in _CLAIMS.items()}) for version in _VERSIONS),
    *(table({f"resource.{version}.DeviceRequest": _NEWER_REQUEST}) for version in ("v1", "v1beta2")),
    table(_OTHERS),
)
