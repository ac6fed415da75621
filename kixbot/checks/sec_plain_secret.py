"""sec/secret-in-env and sec/secret-in-config-map: a password or key that stands in plain sight."""

import re
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import keyed, mapping, text
from kixbot.model.finding import Confidence, Severity
from kixbot.model.path import member

_NAME = re.compile(
    r"(?:\A|[_.-])(?:password|passwd|passphrase|secret|secret[_-]?key|api[_-]?key|access[_-]?key|private[_-]?key|"
    r"auth[_-]?token|access[_-]?token|client[_-]?secret|credentials?)\Z",
    re.IGNORECASE,
)
# Shapes that nothing but a key has: PEM private keys, and the prefixes that these issuers chose to be found by.
_VALUE = re.compile(
    r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----|(?<![A-Za-z0-9])(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|"
    r"glpat-[A-Za-z0-9_-]{20}|xox[abprs]-[A-Za-z0-9-]{10,}|sk_live_[A-Za-z0-9]{20,})"
)
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^/\s:@$]+:(?P<password>[^/\s@]+)@")
_HARMLESS = re.compile(
    r"\A(?:|true|false|none|null|[0-9]{1,3}|/\S*|\$\(\S+\)|\$\{\S+\}|\{\{.*\}\}|file:\S*)\Z", re.IGNORECASE
)
_LONGEST = 64 * 1024


def _find_env(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        for container in pods.containers:
            for path, entry in keyed(container.path, container.body, "env"):
                name, value = text(entry.get("name")), text(entry.get("value"))
                if _is_secret(name, value):
                    yield Hit(
                        resource=pods.resource,
                        path=f"{path}.value",
                        message=f"{pods.resource.ref.plain} container '{container.name}' has the value of {name} in "
                        "plain sight",
                        hint="put it into a Secret and name it with valueFrom.secretKeyRef",
                    )


def _find_config_map(context: Context) -> Iterator[Hit]:
    for resource in context.of_kind("ConfigMap"):
        for key, value in mapping(resource.manifest.get("data")).items():
            if _is_secret(key, text(value)):
                yield Hit(
                    resource=resource,
                    path=member("$.data", key),
                    message=f"{resource.ref.plain} holds what looks like a secret under {key}",
                    hint="put it into a Secret",
                )


def _is_secret(name: str, value: str) -> bool:
    """Whether a value is a secret by its name or its shape; references such as $(PASSWORD) and paths are none."""
    value = value[:_LONGEST]
    if _VALUE.search(value):
        return True
    address = _ADDRESS.search(value)
    if address and not address["password"].startswith(("$", "{", "<", "%")):
        return True
    return bool(_NAME.search(name)) and not _HARMLESS.match(value)


_POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      env: [{{name: DB_PASSWORD, {value}}}]
"""
_CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: web, namespace: shop}}
data: {{{entry}}}
"""

CHECKS: tuple[Check, ...] = (
    Check(
        id="sec/secret-in-env",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        title="a variable holds a password or a key in plain sight",
        rationale=(
            "Whoever may read the workload, the repository or an error report can read it. Known are names such as "
            "PASSWORD and API_KEY, logins inside addresses, and keys whose shape tells what they are. The value is "
            "never shown."
        ),
        example=Example(
            good=_POD.format(value="valueFrom: {secretKeyRef: {name: db, key: password}}"),
            bad=_POD.format(value="value: changeme"),
        ),
        find=_find_env,
    ),
    Check(
        id="sec/secret-in-config-map",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        title="a ConfigMap holds a password or a key",
        rationale=(
            "ConfigMaps are readable to everybody who may look at a namespace, are not encrypted at rest, and show up "
            "in logs and dashboards."
        ),
        example=Example(good=_CONFIG.format(entry="LOG_LEVEL: info"), bad=_CONFIG.format(entry="api-key: changeme")),
        find=_find_config_map,
        on=("ConfigMap",),
    ),
)
