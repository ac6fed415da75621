"""Names that an operator will create: which object of the build makes them appear, and with which keys."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kixbot.graph.walk import fields, list_at, map_at
from kixbot.model.resource import Ref, Resource


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """An object that is not in the build but will be there; `keys` of its data, None where they are not known."""

    ref: Ref
    keys: tuple[str, ...] | None = None


# https://cloudnative-pg.io/documentation/1.27/applications/
_CNPG_LOGIN = (
    "dbname", "fqdn-jdbc-uri", "fqdn-uri", "host", "jdbc-uri", "password", "pgpass", "port", "uri", "user", "username",
)  # fmt: skip
_TLS = ("tls.crt", "tls.key")
_ISSUER_ANNOTATIONS = ("cert-manager.io/issuer", "cert-manager.io/cluster-issuer")
# A claim of a StatefulSet is `<template>-<set>-<ordinal>`; more replicas than this are not listed.
_MOST_REPLICAS = 100


def created(resource: Resource) -> Iterator[Created]:
    """What operators will create for an object, in its namespace."""
    maker = _MAKERS.get(resource.ref.kind_group)
    if maker is not None:
        yield from maker(resource)


def _made(resource: Resource, kind: str, name: Any, keys: tuple[str, ...] | None = None) -> Iterator[Created]:
    if isinstance(name, str) and name:
        yield Created(ref=Ref(kind=kind, group="", namespace=resource.ref.namespace, name=name), keys=keys)


def _spec(resource: Resource) -> Mapping[str, Any]:
    return map_at(resource.manifest, "spec")


def _named(resource: Resource, kind: str, pattern: str, keys: tuple[str, ...] | None = None) -> Iterator[Created]:
    for field in fields(resource.manifest, pattern):
        yield from _made(resource, kind, field.value, keys)


def _cnpg_cluster(resource: Resource) -> Iterator[Created]:
    name = resource.ref.name
    disabled = list_at(resource.manifest, "spec", "managed", "services", "disabledDefaultServices")
    for suffix in ("rw", "ro", "r"):
        if suffix not in disabled:
            yield from _made(resource, "Service", f"{name}-{suffix}")
    yield from _named(resource, "Service", "spec.managed.services.additional[].serviceTemplate.metadata.name")
    if not list(fields(resource.manifest, "spec.bootstrap.initdb.secret.name")):
        yield from _made(resource, "Secret", f"{name}-app", _CNPG_LOGIN)
    if _spec(resource).get("enableSuperuserAccess") is True and "superuserSecret" not in _spec(resource):
        yield from _made(resource, "Secret", f"{name}-superuser", _CNPG_LOGIN)
    yield from _made(resource, "Secret", f"{name}-ca", ("ca.crt", "ca.key"))
    yield from _made(resource, "Secret", f"{name}-server", _TLS)
    yield from _made(resource, "Secret", f"{name}-replication", _TLS)
    yield from _made(resource, "ServiceAccount", name)


def _certificate(resource: Resource) -> Iterator[Created]:
    # Keystores add keys of their own.
    keys = None if "keystores" in _spec(resource) else ("ca.crt", *_TLS)
    yield from _named(resource, "Secret", "spec.secretName", keys)


def _external_secret(resource: Resource) -> Iterator[Created]:
    spec = _spec(resource)
    target = map_at(spec, "target")
    known = not spec.get("dataFrom") and "template" not in target
    listed = tuple(sorted(str(field.value) for field in fields(resource.manifest, "spec.data[].secretKey")))
    yield from _made(resource, "Secret", target.get("name") or resource.ref.name, listed if known else None)


def _sealed_secret(resource: Resource) -> Iterator[Created]:
    spec = _spec(resource)
    keys = map_at(spec, "encryptedData").keys() | map_at(spec, "template", "data").keys()
    names = [field.value for field in fields(resource.manifest, "spec.template.metadata.name")]
    yield from _made(resource, "Secret", next(iter(names), resource.ref.name), tuple(sorted(keys)))


def _issuer(resource: Resource) -> Iterator[Created]:
    yield from _named(resource, "Secret", "spec.acme.privateKeySecretRef.name", ("tls.key",))


def _issued(pattern: str) -> Callable[[Resource], Iterator[Created]]:
    """cert-manager makes a Certificate, and so the Secret, for an annotated Ingress or Gateway."""

    def made(resource: Resource) -> Iterator[Created]:
        if any(annotation in resource.annotations for annotation in _ISSUER_ANNOTATIONS):
            yield from _named(resource, "Secret", pattern, ("ca.crt", *_TLS))

    return made


def _stateful_set(resource: Resource) -> Iterator[Created]:
    replicas = _spec(resource).get("replicas", 1)
    count = min(replicas, _MOST_REPLICAS) if isinstance(replicas, int) else 1
    templates = {field.value for field in fields(resource.manifest, "spec.volumeClaimTemplates[].metadata.name")}
    for field in fields(resource.manifest, "spec.template.spec.volumes[].persistentVolumeClaim"):
        # The controller puts the claim of the template in the place of a volume of its name.
        if field.parent.get("name") in templates and isinstance(field.value, Mapping):
            yield from _made(resource, "PersistentVolumeClaim", field.value.get("claimName"))
    for field in fields(resource.manifest, "spec.volumeClaimTemplates[].metadata.name"):
        for ordinal in range(count):
            yield from _made(resource, "PersistentVolumeClaim", f"{field.value}-{resource.ref.name}-{ordinal}")


def _secret_provider_class(resource: Resource) -> Iterator[Created]:
    for field in fields(resource.manifest, "spec.secretObjects[]"):
        keys = tuple(sorted(str(key.value) for key in fields(field.value, "data[].key")))
        name = map_at(field.value).get("secretName")
        yield from _made(resource, "Secret", name, keys)


def _kafka(resource: Resource) -> Iterator[Created]:
    for suffix in ("kafka-bootstrap", "kafka-brokers"):
        yield from _made(resource, "Service", f"{resource.ref.name}-{suffix}")
    for suffix in ("cluster-ca-cert", "clients-ca-cert"):
        yield from _made(resource, "Secret", f"{resource.ref.name}-{suffix}")


def _same_name(kind: str) -> Callable[[Resource], Iterator[Created]]:
    return lambda resource: _made(resource, kind, resource.ref.name)


def _fixed(kind: str, name: str) -> Callable[[Resource], Iterator[Created]]:
    return lambda resource: _made(resource, kind, name)


_MAKERS: Mapping[str, Callable[[Resource], Iterator[Created]]] = {
    "Alertmanager.monitoring.coreos.com": _fixed("Service", "alertmanager-operated"),
    "Certificate.cert-manager.io": _certificate,
    "Cluster.postgresql.cnpg.io": _cnpg_cluster,
    "ExternalSecret.external-secrets.io": _external_secret,
    "Gateway.gateway.networking.k8s.io": _issued("spec.listeners[].tls.certificateRefs[].name"),
    "Ingress": _issued("spec.tls[].secretName"),
    "Issuer.cert-manager.io": _issuer,
    "Kafka.kafka.strimzi.io": _kafka,
    "KafkaUser.kafka.strimzi.io": _same_name("Secret"),
    "Pooler.postgresql.cnpg.io": _same_name("Service"),
    "Prometheus.monitoring.coreos.com": _fixed("Service", "prometheus-operated"),
    "SealedSecret.bitnami.com": _sealed_secret,
    "SecretProviderClass.secrets-store.csi.x-k8s.io": _secret_provider_class,
    "StatefulSet": _stateful_set,
    "VaultDynamicSecret.secrets.hashicorp.com": lambda one: _named(one, "Secret", "spec.destination.name"),
    "VaultStaticSecret.secrets.hashicorp.com": lambda one: _named(one, "Secret", "spec.destination.name"),
}
