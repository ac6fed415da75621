"""What operators will create, and with which keys."""

import pytest

from kixbot.graph.creators import created
from tests.graph.objects import resources

LOGIN = "dbname,fqdn-jdbc-uri,fqdn-uri,host,jdbc-uri,password,pgpass,port,uri,user,username"


@pytest.mark.parametrize(
    ("manifest", "names"),
    [
        (
            "{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: db}}",
            [
                "Service/db-rw -",
                "Service/db-ro -",
                "Service/db-r -",
                f"Secret/db-app {LOGIN}",
                "Secret/db-ca ca.crt,ca.key",
                "Secret/db-server tls.crt,tls.key",
                "Secret/db-replication tls.crt,tls.key",
                "ServiceAccount/db -",
            ],
        ),
        (
            """{apiVersion: postgresql.cnpg.io/v1, kind: Cluster, metadata: {name: db}, spec: {
                enableSuperuserAccess: true, bootstrap: {initdb: {secret: {name: own}}},
                managed: {services: {disabledDefaultServices: [ro, r],
                  additional: [{serviceTemplate: {metadata: {name: db-lb}}}]}}}}""",
            [
                "Service/db-rw -",
                "Service/db-lb -",
                f"Secret/db-superuser {LOGIN}",
                "Secret/db-ca ca.crt,ca.key",
                "Secret/db-server tls.crt,tls.key",
                "Secret/db-replication tls.crt,tls.key",
                "ServiceAccount/db -",
            ],
        ),
        ("{apiVersion: postgresql.cnpg.io/v1, kind: Pooler, metadata: {name: pool}}", ["Service/pool -"]),
        (
            "{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a}, spec: {secretName: tls}}",
            ["Secret/tls ca.crt,tls.crt,tls.key"],
        ),
        (
            """{apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: a},
                spec: {secretName: tls, keystores: {jks: {create: true}}}}""",
            ["Secret/tls -"],
        ),
        (
            """{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: a},
                spec: {acme: {privateKeySecretRef: {name: account}}}}""",
            ["Secret/account tls.key"],
        ),
        (
            """{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a},
                spec: {data: [{secretKey: y}, {secretKey: x}]}}""",
            ["Secret/a x,y"],
        ),
        (
            """{apiVersion: external-secrets.io/v1, kind: ExternalSecret, metadata: {name: a},
                spec: {target: {name: b}, dataFrom: [{extract: {key: k}}]}}""",
            ["Secret/b -"],
        ),
        (
            """{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: a},
                spec: {encryptedData: {p: x}, template: {metadata: {name: b}, data: {q: y}}}}""",
            ["Secret/b p,q"],
        ),
        (
            """{apiVersion: secrets-store.csi.x-k8s.io/v1, kind: SecretProviderClass, metadata: {name: a},
                spec: {secretObjects: [{secretName: s, data: [{key: k}]}, {data: []}, text]}}""",
            ["Secret/s k"],
        ),
        (
            "{apiVersion: kafka.strimzi.io/v1beta2, kind: Kafka, metadata: {name: k}}",
            [
                "Service/k-kafka-bootstrap -",
                "Service/k-kafka-brokers -",
                "Secret/k-cluster-ca-cert -",
                "Secret/k-clients-ca-cert -",
            ],
        ),
        ("{apiVersion: kafka.strimzi.io/v1beta2, kind: KafkaUser, metadata: {name: u}}", ["Secret/u -"]),
        (
            "{apiVersion: monitoring.coreos.com/v1, kind: Prometheus, metadata: {name: p}}",
            ["Service/prometheus-operated -"],
        ),
        (
            """{apiVersion: secrets.hashicorp.com/v1beta1, kind: VaultStaticSecret, metadata: {name: v},
                spec: {destination: {name: s, create: true}}}""",
            ["Secret/s -"],
        ),
        (
            """{apiVersion: secrets.hashicorp.com/v1beta1, kind: VaultDynamicSecret, metadata: {name: v},
                spec: {destination: {name: s}}}""",
            ["Secret/s -"],
        ),
        (
            """{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway,
                metadata: {name: g, annotations: {cert-manager.io/cluster-issuer: ca}},
                spec: {listeners: [{tls: {certificateRefs: [{name: tls}]}}]}}""",
            ["Secret/tls ca.crt,tls.crt,tls.key"],
        ),
        (
            """{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: i}, spec: {tls: [{secretName: tls}]}}""",
            [],
        ),
        (
            """{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: s},
                spec: {replicas: many, volumeClaimTemplates: [{metadata: {name: data}}, text]}}""",
            ["PersistentVolumeClaim/data-s-0 -"],
        ),
        ("{apiVersion: v1, kind: Secret, metadata: {name: s}, spec: text}", []),
        ("{apiVersion: bitnami.com/v1alpha1, kind: SealedSecret, metadata: {name: a}, spec: text}", ["Secret/a "]),
    ],
)
def test_operators_create_these(manifest: str, names: list[str]) -> None:
    (source,) = resources(manifest)
    found = [
        f"{made.ref.kind}/{made.ref.name} {'-' if made.keys is None else ','.join(made.keys)}"
        for made in created(source)
    ]
    assert found == names
