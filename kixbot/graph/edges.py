"""The one table of fields that point elsewhere, and the edges of a build.

A new kind of reference is a row here and a row in its test. Hard rows name one object; soft edges are selectors
(`selectors`); order-only edges (`order`) are Namespaces, CRDs, webhooks and service names in strings.
In a path `{a,b}` stands for either field.
"""

import re
from collections.abc import Iterator, Mapping

from kixbot.graph.finder import Finder
from kixbot.graph.rows import POD, Kind, Row, Scope
from kixbot.graph.world import World
from kixbot.model.build import DanglingReference, Edge, EdgeKind, Evaluated

_GATEWAY = "gateway.networking.k8s.io"
_CERT = "cert-manager.io"
_CNPG = "postgresql.cnpg.io"
_PROM = "monitoring.coreos.com"
_SECRETS = "external-secrets.io"
_STORAGE = "storage.k8s.io"
_SNAPSHOT = "snapshot.storage.k8s.io"
_RESOURCE = "resource.k8s.io"

SECRET, CONFIG_MAP, SERVICE = Kind("Secret"), Kind("ConfigMap"), Kind("Service")
ACCOUNT, CLAIM, VOLUME = Kind("ServiceAccount"), Kind("PersistentVolumeClaim"), Kind("PersistentVolume")
STORAGE_CLASS, DEPLOYMENT = Kind("StorageClass", _STORAGE), Kind("Deployment", "apps")
INGRESS_CLASS, PRIORITY = Kind("IngressClass", "networking.k8s.io"), Kind("PriorityClass", "scheduling.k8s.io")
ISSUER, DATABASE = Kind("Issuer", _CERT), Kind("Cluster", _CNPG)


def _own(source: str, target: Kind, *paths: str, lenient: bool = False) -> Iterator[Row]:
    """Rows whose names mean an object in the namespace of who names it."""
    for path in _each(paths):
        yield Row(source=source, path=path, target=target, lenient=lenient)


def _cluster(source: str, target: Kind, *paths: str, lenient: bool = False) -> Iterator[Row]:
    """Rows whose names mean a cluster-scoped object."""
    for path in _each(paths):
        yield Row(source=source, path=path, target=target, scope=Scope.CLUSTER, lenient=lenient)


def _beside(
    source: str, target: Kind, *paths: str, edge: EdgeKind = EdgeKind.HARD, lenient: bool = False
) -> Iterator[Row]:
    """Rows whose names may have a namespace beside them."""
    for path in _each(paths):
        yield Row(source=source, path=path, target=target, scope=Scope.BESIDE, edge=edge, lenient=lenient)


def _typed(source: str, default: Kind, *paths: str, lenient: bool = False) -> Iterator[Row]:
    """Rows that hold a map with a name and maybe kind, group and namespace."""
    for path in _each(paths):
        yield Row(source=source, path=path, target=default, scope=Scope.BESIDE, typed=True, lenient=lenient)


def _each(paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        found = re.search(r"\{([^}]*)\}", path)
        if found is None:
            yield path
        else:
            yield from _each(tuple(path[: found.start()] + one + path[found.end() :] for one in found[1].split(",")))


def _pod_rows() -> Iterator[Row]:
    containers = "{containers,initContainers,ephemeralContainers}[]"
    yield from _own(POD, SECRET, f"{containers}.env[].valueFrom.secretKeyRef.name")
    yield from _own(POD, SECRET, f"{containers}.envFrom[].secretRef.name")
    yield from _own(POD, CONFIG_MAP, f"{containers}.env[].valueFrom.configMapKeyRef.name")
    yield from _own(POD, CONFIG_MAP, f"{containers}.envFrom[].configMapRef.name")
    yield from _own(POD, SECRET, "volumes[].{secret,azureFile}.secretName", "imagePullSecrets[].name")
    yield from _own(POD, SECRET, "volumes[].{cephfs,cinder,flexVolume,iscsi,rbd,scaleIO,storageos}.secretRef.name")
    yield from _own(POD, SECRET, "volumes[].projected.sources[].secret.name", "volumes[].csi.nodePublishSecretRef.name")
    yield from _own(POD, CONFIG_MAP, "volumes[].configMap.name", "volumes[].projected.sources[].configMap.name")
    provider = Kind("SecretProviderClass", "secrets-store.csi.x-k8s.io")
    yield from _own(POD, provider, "volumes[].csi.volumeAttributes.secretProviderClass")
    yield from _cluster(POD, Kind("CSIDriver", _STORAGE), "volumes[].csi.driver", lenient=True)
    yield from _own(POD, CLAIM, "volumes[].persistentVolumeClaim.claimName")
    yield from _claim_rows(POD, "volumes[].ephemeral.volumeClaimTemplate.spec")
    yield from _own(POD, ACCOUNT, "{serviceAccountName,serviceAccount}")
    yield from _cluster(POD, PRIORITY, "priorityClassName")
    yield from _cluster(POD, Kind("RuntimeClass", "node.k8s.io"), "runtimeClassName")
    yield from _own(POD, Kind("ResourceClaim", _RESOURCE), "resourceClaims[].resourceClaimName")
    yield from _own(POD, Kind("ResourceClaimTemplate", _RESOURCE), "resourceClaims[].resourceClaimTemplateName")


def _claim_rows(source: str, at: str) -> Iterator[Row]:
    yield from _cluster(source, STORAGE_CLASS, f"{at}.storageClassName")
    yield from _cluster(source, VOLUME, f"{at}.volumeName", lenient=True)
    yield from _cluster(source, Kind("VolumeAttributesClass", _STORAGE), f"{at}.volumeAttributesClassName")
    yield from _typed(source, CLAIM, f"{at}.{{dataSource,dataSourceRef}}")


def _built_in_rows() -> Iterator[Row]:
    yield from _own("StatefulSet", SERVICE, "spec.serviceName")
    yield from _claim_rows("StatefulSet", "spec.volumeClaimTemplates[].spec")
    yield from _claim_rows("PersistentVolumeClaim", "spec")
    yield from _cluster("PersistentVolume", STORAGE_CLASS, "spec.storageClassName", lenient=True)
    yield from _beside("PersistentVolume", CLAIM, "spec.claimRef.name", lenient=True)
    secrets = "{controllerExpand,controllerPublish,nodeExpand,nodePublish,nodeStage}SecretRef"
    yield from _beside("PersistentVolume", SECRET, f"spec.csi.{secrets}.name")
    yield from _own("ServiceAccount", SECRET, "{secrets,imagePullSecrets}[].name")
    yield from _own("Secret", ACCOUNT, 'metadata.annotations."kubernetes.io/service-account.name"')
    yield from _own("EndpointSlice", SERVICE, 'metadata.labels."kubernetes.io/service-name"')
    for binding in ("RoleBinding", "ClusterRoleBinding"):
        yield from _typed(binding, Kind("Role", "rbac.authorization.k8s.io"), "roleRef")
        yield from _typed(binding, ACCOUNT, "subjects[]")
    scaler = "HorizontalPodAutoscaler"
    yield from _typed(scaler, DEPLOYMENT, "spec.scaleTargetRef", "spec.metrics[].object.describedObject")
    backends = "{defaultBackend,rules[].http.paths[].backend}"
    yield from _own("Ingress", SERVICE, f"spec.{backends}.service.name")
    yield from _typed("Ingress", SERVICE, f"spec.{backends}.resource")
    yield from _own("Ingress", SECRET, "spec.tls[].secretName")
    yield from _cluster("Ingress", INGRESS_CLASS, "spec.ingressClassName")
    yield from _typed("IngressClass", CONFIG_MAP, "spec.parameters", lenient=True)
    yield from _beside("APIService", SERVICE, "spec.service.name")
    for configuration in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        yield from _beside(configuration, SERVICE, "webhooks[].clientConfig.service.name", edge=EdgeKind.ORDER)
    # What a CRD refers to never orders: its conversion webhook comes up after it.
    conversion = "spec.conversion.webhook.clientConfig.service.name"
    yield from _beside("CustomResourceDefinition", SERVICE, conversion, edge=EdgeKind.SOFT)
    for policy in ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy"):
        yield from _cluster(f"{policy}Binding", Kind(policy, "admissionregistration.k8s.io"), "spec.policyName")
    level = Kind("PriorityLevelConfiguration", "flowcontrol.apiserver.k8s.io")
    yield from _cluster("FlowSchema", level, "spec.priorityLevelConfiguration.name")
    device = Kind("DeviceClass", _RESOURCE)
    for claim, at in (("ResourceClaim", "spec"), ("ResourceClaimTemplate", "spec.spec")):
        classes = (
            f"{at}.devices.requests[].{{deviceClassName,exactly.deviceClassName,firstAvailable[].deviceClassName}}"
        )
        yield from _cluster(claim, device, classes, lenient=True)


def _gateway_rows() -> Iterator[Row]:
    yield from _cluster(f"Gateway.{_GATEWAY}", Kind("GatewayClass", _GATEWAY), "spec.gatewayClassName")
    yield from _typed(f"Gateway.{_GATEWAY}", SECRET, "spec.listeners[].tls.certificateRefs[]")
    yield from _typed(f"GatewayClass.{_GATEWAY}", CONFIG_MAP, "spec.parametersRef", lenient=True)
    yield from _typed(f"BackendTLSPolicy.{_GATEWAY}", SERVICE, "spec.targetRefs[]")
    yield from _typed(f"BackendTLSPolicy.{_GATEWAY}", CONFIG_MAP, "spec.validation.caCertificateRefs[]")
    for route in ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"):
        source = f"{route}.{_GATEWAY}"
        yield from _typed(source, Kind("Gateway", _GATEWAY), "spec.parentRefs[]")
        yield from _typed(source, SERVICE, "spec.rules[].backendRefs[]")
        filters = "spec.rules[].{filters[],backendRefs[].filters[]}"
        yield from _typed(source, SERVICE, f"{filters}.requestMirror.backendRef")
        yield from _typed(source, SERVICE, f"{filters}.extensionRef")


def _certificate_rows() -> Iterator[Row]:
    for source in (f"Certificate.{_CERT}", f"CertificateRequest.{_CERT}"):
        yield from _typed(source, ISSUER, "spec.issuerRef")
    issuer = f"Issuer.{_CERT}"
    yield from _own(issuer, SECRET, "spec.ca.secretName", "spec.acme.externalAccountBinding.keySecretRef.name")
    yield from _own(issuer, SECRET, "spec.vault.auth.{tokenSecretRef,appRole.secretRef}.name")
    dns = "spec.acme.solvers[].dns01"
    yield from _own(issuer, SECRET, f"{dns}.cloudflare.{{apiTokenSecretRef,apiKeySecretRef}}.name")
    yield from _own(issuer, SECRET, f"{dns}.digitalocean.tokenSecretRef.name")
    yield from _own(issuer, SECRET, f"{dns}.route53.{{accessKeyIDSecretRef,secretAccessKeySecretRef}}.name")
    yield from _own(issuer, SECRET, f"{dns}.cloudDNS.serviceAccountSecretRef.name")
    yield from _own(issuer, SECRET, f"{dns}.azureDNS.clientSecretSecretRef.name")
    yield from _own(issuer, SECRET, f"{dns}.rfc2136.tsigSecretSecretRef.name")
    http = "spec.acme.solvers[].http01"
    for source in (issuer, f"ClusterIssuer.{_CERT}"):
        yield from _cluster(source, INGRESS_CLASS, f"{http}.ingress.ingressClassName")
        yield from _typed(source, Kind("Gateway", _GATEWAY), f"{http}.gatewayHTTPRoute.parentRefs[]")
    for source in ("Ingress", f"Gateway.{_GATEWAY}"):
        yield from _own(source, ISSUER, f'metadata.annotations."{_CERT}/issuer"')
        yield from _cluster(source, Kind("ClusterIssuer", _CERT), f'metadata.annotations."{_CERT}/cluster-issuer"')


def _database_rows() -> Iterator[Row]:
    cluster = f"Cluster.{_CNPG}"
    yield from _own(cluster, SECRET, "spec.bootstrap.{initdb,recovery,pg_basebackup}.secret.name")
    yield from _own(cluster, SECRET, "spec.superuserSecret.name")
    yield from _own(cluster, SECRET, "spec.bootstrap.initdb.postInitApplicationSQLRefs.secretRefs[].name")
    yield from _own(cluster, CONFIG_MAP, "spec.bootstrap.initdb.postInitApplicationSQLRefs.configMapRefs[].name")
    yield from _own(cluster, SECRET, "spec.managed.roles[].passwordSecret.name", "spec.imagePullSecrets[].name")
    certificates = "{serverCASecret,serverTLSSecret,clientCASecret,replicationTLSSecret}"
    yield from _own(cluster, SECRET, f"spec.certificates.{certificates}")
    store = "spec.{backup,externalClusters[]}.barmanObjectStore"
    amazon = "{accessKeyId,secretAccessKey,region,sessionToken}"
    azure = "{connectionString,storageAccount,storageKey,storageSasToken}"
    yield from _own(cluster, SECRET, f"{store}.s3Credentials.{amazon}.name", f"{store}.azureCredentials.{azure}.name")
    yield from _own(cluster, SECRET, f"{store}.googleCredentials.applicationCredentials.name")
    yield from _own(cluster, SECRET, "spec.externalClusters[].{password,sslKey,sslCert,sslRootCert}.name")
    yield from _own(cluster, SECRET, "spec.monitoring.customQueriesSecret[].name")
    yield from _own(cluster, CONFIG_MAP, "spec.monitoring.customQueriesConfigMap[].name")
    yield from _cluster(cluster, STORAGE_CLASS, "spec.{storage,walStorage}.storageClass")
    yield from _cluster(cluster, PRIORITY, "spec.priorityClassName")
    yield from _typed(cluster, Kind("ImageCatalog", _CNPG), "spec.imageCatalogRef")
    for kind in ("Backup", "Database", "Pooler", "Publication", "ScheduledBackup", "Subscription"):
        yield from _own(f"{kind}.{_CNPG}", DATABASE, "spec.cluster.name")


def _other_rows() -> Iterator[Row]:
    yield from _typed("VerticalPodAutoscaler.autoscaling.k8s.io", DEPLOYMENT, "spec.targetRef")
    yield from _typed("ScaledObject.keda.sh", DEPLOYMENT, "spec.scaleTargetRef")
    for kind in ("ScaledObject.keda.sh", "ScaledJob.keda.sh"):
        yield from _typed(kind, Kind("TriggerAuthentication", "keda.sh"), "spec.triggers[].authenticationRef")
    yield from _own("TriggerAuthentication.keda.sh", SECRET, "spec.secretTargetRef[].name")
    external, store = f"ExternalSecret.{_SECRETS}", Kind("SecretStore", _SECRETS)
    yield from _typed(external, store, "spec.secretStoreRef", "spec.{data,dataFrom}[].sourceRef.storeRef")
    provider = "spec.provider.{vault.auth.tokenSecretRef,aws.auth.secretRef.accessKeyIDSecretRef}"
    yield from _own(f"SecretStore.{_SECRETS}", SECRET, f"{provider}.name")
    yield from _own(f"SecretStore.{_SECRETS}", SECRET, "spec.provider.aws.auth.secretRef.secretAccessKeySecretRef.name")
    for kind, at in (("ServiceMonitor", "spec.endpoints[]"), ("PodMonitor", "spec.podMetricsEndpoints[]")):
        login = "{basicAuth.username,basicAuth.password,authorization.credentials,bearerTokenSecret}"
        yield from _own(f"{kind}.{_PROM}", SECRET, f"{at}.{login}.name")
        yield from _own(f"{kind}.{_PROM}", SECRET, f"{at}.tlsConfig.{{ca.secret,cert.secret,keySecret}}.name")
        yield from _own(f"{kind}.{_PROM}", CONFIG_MAP, f"{at}.tlsConfig.{{ca.configMap,cert.configMap}}.name")
    for kind in ("Prometheus", "Alertmanager", "ThanosRuler"):
        yield from _own(f"{kind}.{_PROM}", ACCOUNT, "spec.serviceAccountName")
    yield from _typed("Rollout.argoproj.io", DEPLOYMENT, "spec.workloadRef")
    yield from _own("Rollout.argoproj.io", SERVICE, "spec.strategy.blueGreen.{activeService,previewService}")
    yield from _own("Rollout.argoproj.io", SERVICE, "spec.strategy.canary.{stableService,canaryService}")
    yield from _typed("IngressRoute.traefik.io", SERVICE, "spec.routes[].services[]")
    yield from _typed("IngressRoute.traefik.io", Kind("Middleware", "traefik.io"), "spec.routes[].middlewares[]")
    yield from _own("IngressRoute.traefik.io", SECRET, "spec.tls.secretName")
    snapshot = f"VolumeSnapshot.{_SNAPSHOT}"
    yield from _own(snapshot, CLAIM, "spec.source.persistentVolumeClaimName")
    yield from _cluster(snapshot, Kind("VolumeSnapshotClass", _SNAPSHOT), "spec.volumeSnapshotClassName", lenient=True)


TABLE: tuple[Row, ...] = (
    *_pod_rows(),
    *_built_in_rows(),
    *_gateway_rows(),
    *_certificate_rows(),
    *_database_rows(),
    *_other_rows(),
)

_BY_SOURCE: Mapping[str, tuple[Row, ...]] = {
    source: tuple(row for row in TABLE if row.source == source) for source in {row.source for row in TABLE}
}


def find(evaluated: Evaluated) -> tuple[tuple[Edge, ...], tuple[DanglingReference, ...]]:
    """The edges of an evaluated source and its references to objects that are nowhere, both sorted.

    A name that an operator will create is an edge to the object that makes it. References to itself and to what
    exists outside are no edges. Where references came as markers those are the hard and soft edges, and what the
    table finds besides is a name written literally: order-only.
    """
    world = World(evaluated)
    finder = Finder(world, _BY_SOURCE, marked=evaluated.marked)
    for resource in evaluated.resources:
        finder.visit(resource)
    return tuple(sorted(finder.edges.values())), tuple(sorted(finder.dangling))
