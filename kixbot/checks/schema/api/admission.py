"""Webhooks, admission policies and aggregated APIs."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import (
    Fields,
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
)
from kixbot.checks.schema.faults import FORMAT, dotted, missing
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown
from kixbot.checks.shape import mapping


def _client(value: Any, at: Raw) -> Iterator[Fault]:
    yield from exactly_one("url", "service")(value, at)
    if isinstance(url := value.get("url"), str):
        try:
            parts = urlsplit(url)
        except ValueError:
            parts = urlsplit("")
        if (
            url != url.strip()
            or parts.scheme != "https"
            or not parts.netloc
            or parts.query
            or parts.fragment
            or "@" in parts.netloc
        ):
            yield Fault(
                rule=FORMAT,
                at=(*at, "url"),
                text=f"has {shown(url)} in {dotted(at)}.url",
                hint="write https://HOST/PATH",
            )


def _webhook_rule(value: Any, at: Raw) -> Iterator[Fault]:
    yield from needs("operations", "apiGroups", "apiVersions", "resources")(value, at)
    for field in ("operations", "apiGroups", "apiVersions"):
        listed = value.get(field)
        if isinstance(listed, list) and "*" in listed and len(listed) > 1:
            yield conflict((*at, field), f"has '*' and more in {dotted(at)}.{field}", "keep '*' alone")
    resources = value.get("resources") or []
    if "*/*" in resources and len(resources) > 1:
        yield conflict((*at, "resources"), f"has '*/*' and more in {dotted(at)}.resources", "keep '*/*' alone")
    for field in ("apiVersions", "resources"):
        listed = value.get(field)
        if isinstance(listed, list) and "" in listed:
            yield missing(field, at)


def _three_parts(text: str) -> str | None:
    return names.dns_subdomain(text) or (None if text.count(".") >= 2 else "must have three parts divided by '.'")


def _webhook_name(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(value, str) and (problem := _three_parts(value)):
        yield Fault(
            rule="api/name",
            at=at,
            text=f"has {shown(value)} in {dotted(at)}, which {problem}",
            hint="write a name such as check.example.org",
        )


def _versions(value: Any, at: Raw) -> Iterator[Fault]:
    if len(set(value)) < len(value):
        yield conflict(at, f"has a version twice in {dotted(at)}", "write each once")
    if value and not {"v1", "v1beta1"} & {one for one in value if isinstance(one, str)}:
        yield conflict(at, f"has neither v1 nor v1beta1 in {dotted(at)}", "write v1")


def _api_service(value: Any, at: Raw) -> Iterator[Fault]:
    spec = mapping(value.get("spec"))
    group, version = spec.get("group") or "", spec.get("version")
    name = mapping(value.get("metadata")).get("name")
    if isinstance(version, str) and isinstance(group, str) and name != f"{version}.{group}":
        yield Fault(
            rule="api/name",
            at=(*at, "metadata", "name"),
            text=f"has the name {shown(name)}, which must be its version and group",
            hint=f"name it {version}.{group}",
        )
    if not version:
        yield missing("version", (*at, "spec"))
    if not group and version != "v1":
        yield missing("group", (*at, "spec"))
    for field, high in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        number = spec.get(field) or 0
        if isinstance(number, int):
            yield from between(1, high)(number, (*at, "spec", field))
    service = spec.get("service")
    if isinstance(service, dict):
        yield from needs("name", "namespace")(service, (*at, "spec", "service"))
        if isinstance(port := service.get("port"), int):
            yield from between(1, 65535)(port, (*at, "spec", "service", "port"))
        if spec.get("insecureSkipTLSVerify") and spec.get("caBundle"):
            yield conflict((*at, "spec", "caBundle"), "has caBundle and insecureSkipTLSVerify", "keep caBundle")
    elif spec.get("insecureSkipTLSVerify"):
        yield conflict((*at, "spec", "insecureSkipTLSVerify"), "has insecureSkipTLSVerify without service", "remove it")


def _policy(value: Any, at: Raw) -> Iterator[Fault]:
    if not value.get("validations") and not value.get("auditAnnotations"):
        yield missing("validations", at)
    if not mapping(value.get("matchConstraints")).get("resourceRules"):
        yield missing("resourceRules", (*at, "matchConstraints"))


def _actions(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(value, list) and {"Deny", "Warn"} <= {one for one in value if isinstance(one, str)}:
        yield conflict(at, f"has Deny and Warn in {dotted(at)}", "keep one of them")


_WEBHOOK: Fields = {
    "": needs("name", "admissionReviewVersions", "sideEffects"),
    "name": _webhook_name,
    "sideEffects": one_of("None", "NoneOnDryRun"),
    "timeoutSeconds": between(1, 30),
    "admissionReviewVersions": (_versions, each(named(names.dns_1035_label))),
}


JUDGES: Judges = table(
    {
        "admissionregistration.v1.ValidatingWebhook": _WEBHOOK,
        "admissionregistration.v1.MutatingWebhook": {**_WEBHOOK, "reinvocationPolicy": one_of("Never", "IfNeeded")},
        "admissionregistration.v1.ValidatingWebhookConfiguration": {"webhooks": unique("name")},
        "admissionregistration.v1.WebhookClientConfig": {"": _client},
        "admissionregistration.v1.ServiceReference": {
            "": needs("name", "namespace"),
            "path": reads(names.webhook_path),
            "port": between(1, 65535),
        },
        "admissionregistration.v1.RuleWithOperations": {
            "": _webhook_rule,
            "operations": each(one_of("CREATE", "UPDATE", "DELETE", "CONNECT", "*")),
            "scope": one_of("Cluster", "Namespaced", "*"),
        },
        "admissionregistration.v1.NamedRuleWithOperations": {
            "": _webhook_rule,
            "operations": each(one_of("CREATE", "UPDATE", "DELETE", "CONNECT", "*")),
            "scope": one_of("Cluster", "Namespaced", "*"),
        },
        "admissionregistration.v1.MatchCondition": {"": needs("name", "expression"), "name": named(names.qualified)},
        "admissionregistration.v1.ValidatingAdmissionPolicy": {"": needs("spec")},
        "admissionregistration.v1.ValidatingAdmissionPolicySpec": {"": _policy},
        "admissionregistration.v1.Validation": {
            "": needs("expression"),
            "reason": one_of("Unauthorized", "Forbidden", "Invalid", "RequestEntityTooLarge"),
        },
        "admissionregistration.v1.Variable": {"": needs("name", "expression")},
        "admissionregistration.v1.ValidatingAdmissionPolicyBinding": {"": needs("spec")},
        "admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec": {
            "": needs("policyName", "validationActions"),
            "policyName": named(names.dns_subdomain),
            "validationActions": (each(one_of("Deny", "Audit", "Warn")), _actions),
        },
        "apiregistration.v1.APIService": {"": _api_service},
    }
)
