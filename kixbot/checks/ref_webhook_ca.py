"""ref/webhook-ca: a webhook whose certificate nobody can verify."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at, keyed, mappings, text
from kixbot.model.finding import Confidence, Severity

_INJECT = (
    "cert-manager.io/inject-ca-from",
    "cert-manager.io/inject-ca-from-secret",
    "cert-manager.io/inject-apiserver-ca",
    "service.beta.openshift.io/inject-cabundle",
)
_KINDS = {
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
}


def _find(context: Context) -> Iterator[Hit]:
    for kind, plural in _KINDS.items():
        filled = _has_writer(context, plural)
        for configuration in context.of_kind(kind, "admissionregistration.k8s.io"):
            ceded = any(one.endswith("caBundle") for one in configuration.cede)
            if filled or ceded or any(key in configuration.annotations for key in _INJECT):
                continue
            bare = [
                (path, text(webhook.get("name")))
                for path, webhook in keyed("$", configuration.manifest, "webhooks")
                if at(webhook, "clientConfig", "service") and not at(webhook, "clientConfig").get("caBundle")
            ]
            if bare:
                yield Hit(
                    resource=configuration,
                    path=f"{bare[0][0]}.clientConfig.caBundle",
                    message=f"{configuration.ref.plain} has webhooks without a caBundle, and nothing in the build says "
                    f"who fills it in: {', '.join(name for _, name in bare)}",
                    hint=f"annotate it with {_INJECT[0]}, or leave the field to its controller with kix.run/cede",
                )


def _has_writer(context: Context, plural: str) -> bool:
    """Whether a role of the build lets somebody write such configurations: a controller that fills in its own."""
    for role in context.of_kind("ClusterRole", "rbac.authorization.k8s.io"):
        for rule in mappings(role.manifest.get("rules")):
            resources, verbs = rule.get("resources"), rule.get("verbs")
            if not isinstance(resources, list) or not isinstance(verbs, list):
                continue
            if {plural, "*"}.intersection(map(str, resources)) and {"patch", "update", "*"}.intersection(verbs):
                return True
    return False


_EXAMPLE = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {{name: web{more}}}
webhooks:
  - name: web.example.org
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {{service: {{name: web, namespace: shop}}}}
"""

CHECK = Check(
    id="ref/webhook-ca",
    severity=Severity.INFO,
    confidence=Confidence.HINT,
    title="a webhook has no certificate authority",
    rationale=(
        "The API server calls a webhook over TLS and refuses a certificate that it cannot verify; with failurePolicy "
        "Fail nothing that the webhook watches can be written. Many controllers fill the field in themselves: where a "
        "role of the build may write such configurations, nothing is said, and elsewhere it is an info."
    ),
    example=Example(
        good=_EXAMPLE.format(more=", annotations: {cert-manager.io/inject-ca-from: shop/web}"),
        bad=_EXAMPLE.format(more=""),
    ),
    find=_find,
)
