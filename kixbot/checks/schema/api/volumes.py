"""Volumes of pods and of the cluster, and claims to them."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.quantities import find_amount
from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.containers import VOLUME_FIELDS, field_path
from kixbot.checks.schema.api.resources import amount, resource_field
from kixbot.checks.schema.api.rule import (
    Judges,
    between,
    conflict,
    each,
    exactly_one,
    named,
    needs,
    one_of,
    reads,
    table,
    unique,
    unless_empty,
)
from kixbot.checks.schema.faults import UNIQUE, dotted, missing
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown
from kixbot.checks.shape import mapping, mappings

SOURCES = (
    "configMap", "secret", "emptyDir", "persistentVolumeClaim", "projected", "hostPath", "downwardAPI", "csi",
    "ephemeral", "image", "nfs", "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc",
    "flexVolume", "flocker", "gcePersistentDisk", "gitRepo", "glusterfs", "iscsi", "photonPersistentDisk",
    "portworxVolume", "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
)  # fmt: skip
_PERSISTENT = (
    "csi", "hostPath", "local", "nfs", "awsElasticBlockStore", "azureDisk", "azureFile", "cephfs", "cinder", "fc",
    "flexVolume", "flocker", "gcePersistentDisk", "glusterfs", "iscsi", "photonPersistentDisk", "portworxVolume",
    "quobyte", "rbd", "scaleIO", "storageos", "vsphereVolume",
)  # fmt: skip
_MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
FILE_MODE = between(0, 0o777)


def _source(value: Any, at: Raw) -> Iterator[Fault]:
    """A volume without any source is an empty folder."""
    yield from exactly_one(*SOURCES, optional=True)(value, at)


def _downward_item(value: Any, at: Raw) -> Iterator[Fault]:
    yield from field_path(VOLUME_FIELDS, value.get("fieldRef"), (*at, "fieldRef"))
    if isinstance(resource := value.get("resourceFieldRef"), dict) and not resource.get("containerName"):
        yield missing("containerName", (*at, "resourceFieldRef"))
    yield from resource_field(value.get("resourceFieldRef"), (*at, "resourceFieldRef"))


def _projected(value: Any, at: Raw) -> Iterator[Fault]:
    """No two sources may write one file."""
    seen: set[str] = set()
    for place, source in enumerate(mappings(value.get("sources"))):
        paths: list[Any] = []
        for kind in ("configMap", "secret", "downwardAPI"):
            paths += [item.get("path") for item in mappings(mapping(source.get(kind)).get("items"))]
        for path in paths:
            if isinstance(path, str) and path:
                if path in seen:
                    yield Fault(
                        rule=UNIQUE,
                        at=(*at, "sources", place),
                        text=f"writes the file {shown(path)} twice, in {dotted(at)}",
                        hint="take another path",
                    )
                seen.add(path)


def claim(value: Any, at: Raw) -> Iterator[Fault]:
    """The spec of a PersistentVolumeClaim."""
    yield from needs("accessModes")(value, at)
    modes = value.get("accessModes")
    if isinstance(modes, list) and "ReadWriteOncePod" in modes and len(set(modes)) > 1:
        yield conflict(
            (*at, "accessModes"),
            f"has ReadWriteOncePod with other modes in {dotted(at)}",
            "keep ReadWriteOncePod alone",
        )
    requests = mapping(mapping(value.get("resources")).get("requests"))
    source = mapping(value.get("dataSource"))
    if source.get("kind") and not source.get("name"):
        yield missing("name", (*at, "dataSource"))
    yield from _more_than_nothing(requests, (*at, "resources", "requests"))


def _more_than_nothing(amounts: Mapping[str, Any], at: Raw) -> Iterator[Fault]:
    size = find_amount(amounts.get("storage"))
    if amounts.get("storage") is None:
        yield missing("storage", at)
    elif size is not None and size.value <= 0:
        yield Fault(
            rule="api/range",
            at=(*at, "storage"),
            text=f"has {amounts['storage']} of storage in {dotted(at)}, which must be more than 0",
            hint="write an amount such as 1Gi",
        )


def _volume(value: Any, at: Raw) -> Iterator[Fault]:
    yield from exactly_one(*_PERSISTENT)(value, at)
    yield from needs("accessModes", "capacity")(value, at)
    capacity = value.get("capacity")
    if isinstance(capacity, dict) and capacity and set(capacity) != {"storage"}:
        yield conflict(
            (*at, "capacity"), f"has {', '.join(sorted(capacity))} in {dotted(at)}.capacity", "write storage"
        )
    if mapping(capacity).get("storage") is not None:
        yield from _more_than_nothing(mapping(capacity), (*at, "capacity"))
    if mapping(value.get("hostPath")).get("path") == "/" and value.get("persistentVolumeReclaimPolicy") == "Recycle":
        yield conflict((*at, "persistentVolumeReclaimPolicy"), "would recycle the root of a node", "write Retain")
    if value.get("local") is not None and not mapping(value.get("nodeAffinity")).get("required"):
        yield missing("nodeAffinity", at)


def _secret_name(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(reference := value.get("nodePublishSecretRef"), dict) and not reference.get("name"):
        yield missing("name", (*at, "nodePublishSecretRef"))
    elif reference:
        yield from named(names.dns_subdomain)(reference["name"], (*at, "nodePublishSecretRef", "name"))


def _each_once(value: Any, at: Raw) -> Iterator[Fault]:
    if len(set(value)) < len(value):
        yield Fault(rule=UNIQUE, at=at, text=f"has one value twice in {dotted(at)}", hint="write each once")


def _distinct(value: Any, at: Raw) -> Iterator[Fault]:
    for place, item in enumerate(value):
        if item in value[:place]:
            yield Fault(rule=UNIQUE, at=(*at, place), text=f"has one item twice in {dotted(at)}", hint="keep one")


def _items(value: Any, at: Raw) -> Iterator[Fault]:
    yield from needs("key", "path")(value, at)


JUDGES: Judges = table(
    {
        "core.v1.Volume": {"": (needs("name"), _source), "name": named(names.dns_label)},
        "core.v1.ConfigMapVolumeSource": {"": needs("name"), "defaultMode": FILE_MODE},
        "core.v1.SecretVolumeSource": {"": needs("secretName"), "defaultMode": FILE_MODE},
        "core.v1.KeyToPath": {"": _items, "path": reads(names.file_path), "mode": FILE_MODE},
        "core.v1.DownwardAPIVolumeSource": {"defaultMode": FILE_MODE},
        "core.v1.DownwardAPIVolumeFile": {
            "": (needs("path"), exactly_one("fieldRef", "resourceFieldRef"), _downward_item),
            "path": reads(names.file_path),
            "mode": FILE_MODE,
        },
        "core.v1.ProjectedVolumeSource": {"": _projected, "defaultMode": FILE_MODE},
        "core.v1.VolumeProjection": {
            "": exactly_one(
                "configMap",
                "secret",
                "downwardAPI",
                "serviceAccountToken",
                "clusterTrustBundle",
                "podCertificate",
                optional=True,
            )
        },
        "core.v1.ConfigMapProjection": {"": needs("name")},
        "core.v1.SecretProjection": {"": needs("name")},
        "core.v1.ServiceAccountTokenProjection": {
            "": needs("path"),
            "path": reads(names.file_path),
            "expirationSeconds": between(600, 2**32),
        },
        "core.v1.PersistentVolumeClaimVolumeSource": {"": needs("claimName")},
        "core.v1.EphemeralVolumeSource": {"": needs("volumeClaimTemplate")},
        "core.v1.HostPathVolumeSource": {
            "": needs("path"),
            "path": reads(names.no_backsteps),
            "type": one_of(
                "", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice"
            ),
        },
        "core.v1.NFSVolumeSource": {"": needs("server", "path"), "path": unless_empty(reads(names.absolute_path))},
        "core.v1.CSIVolumeSource": {"": (needs("driver"), _secret_name), "driver": named(names.csi_driver)},
        "core.v1.EmptyDirVolumeSource": {"sizeLimit": amount},
        "core.v1.CSIPersistentVolumeSource": {
            "": needs("driver", "volumeHandle"),
            "driver": named(names.csi_driver),
        },
        "core.v1.PersistentVolumeClaim": {"": needs("spec")},
        "core.v1.PersistentVolumeClaimTemplate": {"": needs("spec")},
        "core.v1.PersistentVolume": {"": needs("spec")},
        "core.v1.VolumeNodeAffinity": {"": needs("required")},
        "core.v1.PersistentVolumeClaimSpec": {
            "": claim,
            "accessModes": each(one_of(*_MODES)),
            "storageClassName": unless_empty(named(names.dns_subdomain)),
        },
        "core.v1.PersistentVolumeSpec": {
            "": _volume,
            "accessModes": each(one_of(*_MODES)),
            "storageClassName": unless_empty(named(names.dns_subdomain)),
            "persistentVolumeReclaimPolicy": unless_empty(one_of("Retain", "Delete", "Recycle")),
        },
        "storage.v1.StorageClass": {
            "": needs("provisioner"),
            "provisioner": named(lambda text: names.qualified(text.lower())),
            "reclaimPolicy": unless_empty(one_of("Delete", "Retain")),
            "allowedTopologies": _distinct,
        },
        "core.v1.TopologySelectorLabelRequirement": {
            "": needs("key", "values"),
            "key": named(names.qualified),
            "values": _each_once,
        },
        "core.v1.TopologySelectorTerm": {"": needs("matchLabelExpressions"), "matchLabelExpressions": unique("key")},
        "storage.v1.TokenRequest": {"expirationSeconds": between(600, 2**32)},
        "storage.v1.CSIDriverSpec": {
            "fsGroupPolicy": one_of("File", "None", "ReadWriteOnceWithFSType"),
            "tokenRequests": unique("audience"),
            "volumeLifecycleModes": each(one_of("Persistent", "Ephemeral")),
        },
    }
)
