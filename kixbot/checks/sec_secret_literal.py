"""sec/secret-literal: a Secret whose values stand in the source."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import mapping
from kixbot.model.finding import Severity
from kixbot.model.resource import Resource

_DEFINITIONS = frozenset({"nix", "flake"})
_HINT = (
    "declare keys with scope.mkSecret or kix.sopsSecret, or use External Secrets, Sealed Secrets or a CSI secrets store"
)


def _find(context: Context) -> Iterator[Hit]:
    definition = context.build.evaluated.source.kind in _DEFINITIONS
    for secret in context.of_kind("Secret"):
        keys = _literal_keys(secret)
        if keys:
            yield Hit(
                resource=secret,
                path="$.data",
                message=f"{secret.ref.plain} holds values in the source: {', '.join(keys)}",
                hint=_HINT,
                severity=Severity.ERROR if definition else Severity.WARNING,
            )


def _literal_keys(secret: Resource) -> list[str]:
    """Names, never values, of the keys that have one; those whose values kix makes at apply have none."""
    made = {generated.rpartition("data.")[2] for generated in secret.generated}
    data = {**mapping(secret.manifest.get("data")), **mapping(secret.manifest.get("stringData"))}
    return sorted(key for key, value in data.items() if value != "" and key not in made)


CHECK = Check(
    id="sec/secret-literal",
    severity=Severity.WARNING,
    title="a Secret holds its values in the source",
    rationale=(
        "Whoever can read the repository, its forks and its history can read the value, and rotating it needs a "
        "commit. It is an error in a definition, and a warning in plain manifests and charts, where a deploy refuses "
        "it without `allow-plain-secrets`."
    ),
    example=Example(
        good="""\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: shop}
spec:
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  data: [{secretKey: password, remoteRef: {key: shop/db}}]
""",
        bad="""\
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
stringData: {password: changeme}
""",
    ),
    find=_find,
    on=("Secret",),
)
