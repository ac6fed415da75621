"""What an API server's no means: the rows seen on kube-apiserver 1.34."""

import json
from typing import Any

import pytest

from kixbot.cluster import faults
from kixbot.cluster.faults import Again, ConflictError, FieldConflict, fault_of


def cause(reason: str, message: str, field: str = "spec") -> dict[str, str]:
    return {"reason": reason, "message": message, "field": field}


def answer(
    status: int, reason: str = "", message: str = "said", causes: Any = (), kind: str = ""
) -> faults.RequestError:
    body = {
        "kind": "Status",
        "message": message,
        "reason": reason,
        "details": {"causes": list(causes), **({"kind": kind} if kind else {})},
    }
    return fault_of(status, "application/json", body, json.dumps(body), what="apply Deployment shop/web")


INVALID, FORBIDDEN = "FieldValueInvalid", "FieldValueForbidden"
ROWS: list[tuple[str, faults.RequestError, type[faults.RequestError], Again]] = [
    ("Deployment selector", answer(422, "Invalid", causes=[cause(INVALID, "Invalid value: {}: field is immutable")]),
     faults.ImmutableError, Again.NEVER),
    ("immutable ConfigMap",
     answer(422, "Invalid", causes=[cause(FORBIDDEN, "Forbidden: field is immutable when `immutable` is set")]),
     faults.ImmutableError, Again.NEVER),
    ("StatefulSet template",
     answer(422, "Invalid", causes=[cause(FORBIDDEN, "Forbidden: updates to statefulset spec for fields other than 'replicas'")]),
     faults.ImmutableError, Again.NEVER),
    ("PVC", answer(422, "Invalid", causes=[cause(FORBIDDEN, "Forbidden: spec is immutable after creation except")]),
     faults.ImmutableError, Again.NEVER),
    ("Pod", answer(422, "Invalid", causes=[cause(FORBIDDEN, "Forbidden: pod updates may not change fields other than")]),
     faults.ImmutableError, Again.NEVER),
    ("RoleBinding", answer(422, "Invalid", causes=[cause(INVALID, "Invalid value: x: cannot change roleRef")]),
     faults.ImmutableError, Again.NEVER),
    ("StorageClass", answer(422, "Invalid", causes=[cause(FORBIDDEN, "Forbidden: updates to parameters are forbidden.")]),
     faults.ImmutableError, Again.NEVER),
    ("PriorityClass", answer(422, "Invalid", causes=[cause(FORBIDDEN, "Forbidden: may not be changed in an update.")]),
     faults.ImmutableError, Again.NEVER),
    ("Service address", answer(422, "Invalid", causes=[cause(INVALID, "Invalid value: []: may not change once set")]),
     faults.ImmutableError, Again.NEVER),
    ("missing field", answer(422, "Invalid", causes=[cause("FieldValueRequired", "Required value")]),
     faults.RejectedError, Again.NEVER),
    ("a word that only sounds so", answer(422, "Invalid", causes=[cause("FieldValueNotSupported", "field is immutable")]),
     faults.RejectedError, Again.NEVER),
    ("unknown field", answer(500, message="failed to create typed patch object (shop/web): .spec.x: field not declared in schema"),
     faults.SchemaError, Again.NEVER),
    ("duplicate keys", answer(500, message='.spec.env: duplicate entries for key [name="A"]'),
     faults.SchemaError, Again.NEVER),
    ("webhook down", answer(500, "InternalError", message='Internal error occurred: failed calling webhook "w"'),
     faults.BusyError, Again.RETRY),
    ("conversion webhook down", answer(500, "InternalError", message="conversion webhook for x failed"),
     faults.BusyError, Again.RETRY),
    ("etcd without a leader", answer(500, message="etcdserver: leader changed"), faults.BusyError, Again.RETRY),
    ("throttled", answer(429, "TooManyRequests"), faults.BusyError, Again.RETRY),
    ("shutting down", answer(503, "ServiceUnavailable"), faults.BusyError, Again.RETRY),
    ("another internal error", answer(500, "InternalError"), faults.RequestError, Again.NEVER),
    ("too large for etcd", answer(500, message="etcdserver: request is too large"), faults.TooLargeError, Again.NEVER),
    ("too large for the API server", answer(413), faults.TooLargeError, Again.NEVER),
    ("missing namespace", answer(404, "NotFound", kind="namespaces"), faults.NamespaceMissingError, Again.WAIT),
    ("missing object", answer(404, "NotFound", kind="deployments"), faults.NotFoundError, Again.NEVER),
    ("stale version", answer(409, "Conflict"), faults.StaleError, Again.REREAD),
    ("taken name", answer(409, "AlreadyExists"), faults.ExistsError, Again.NEVER),
    ("no right", answer(403, "Forbidden"), faults.ForbiddenError, Again.NEVER),
    ("namespace that goes", answer(403, "Forbidden", causes=[cause("NamespaceTerminating", "being terminated")]),
     faults.TerminatingError, Again.NEVER),
    ("not logged in", answer(401, "Unauthorized"), faults.UnauthorizedError, Again.NEVER),
    ("old watch", answer(410, "Expired"), faults.GoneError, Again.REREAD),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "kind", "again"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS])
def test_an_answer_is_told_by_status_reason_and_causes(
    fault: faults.RequestError, kind: type[faults.RequestError], again: Again
) -> None:
    assert type(fault) is kind
    assert fault.again is again
    assert fault.message.startswith("apply Deployment shop/web: ")
    assert int(fault.exit_code) == 4


def test_a_plain_404_means_the_kind_is_not_served() -> None:
    fault = fault_of(404, "text/plain; charset=utf-8", None, "404 page not found\n", what="list Widget")
    assert type(fault) is faults.KindNotServedError
    assert fault.message == "list Widget: the API server does not serve this kind"


@pytest.mark.parametrize(
    ("message", "manager", "subresource"),
    [
        ('conflict with "kubectl-edit" using apps/v1', "kubectl-edit", None),
        ('conflict with "kubectl-edit" using apps/v1 at 2026-01-01T00:00:00Z', "kubectl-edit", None),
        ('conflict with "kubectl" with subresource "scale" using apps/v1', "kubectl", "scale"),
        ('conflict with "argocd"', "argocd", None),
    ],
)
def test_a_conflict_names_field_manager_and_subresource(message: str, manager: str, subresource: str | None) -> None:
    fault = answer(409, "Conflict", causes=[cause("FieldManagerConflict", message, ".spec.replicas")])
    assert isinstance(fault, ConflictError)
    assert fault.conflicts == (
        FieldConflict(field=".spec.replicas", manager=manager, subresource=subresource, message=message),
    )
