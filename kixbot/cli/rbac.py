"""`kix rbac`: the roles that a role of kix needs, as manifests."""

from typing import Any

import click

from kixbot.cli.session import Session
from kixbot.cli.target import choose, request_of
from kixbot.errors import ExitCode, UsageError
from kixbot.ops.build import build_cluster, opened
from kixbot.ops.rbac import roles
from kixbot.output.yaml_text import yaml_stream

_EPILOG = """\b
Examples:
  kix rbac shop --role plan --group ci | kubectl apply -f -
  kix rbac shop --role deploy --service-account ci/deployer

observe reads the record and what kix status shows; plan reads what a plan compares; deploy writes.
The roles fit the build as it stands: print them again when kinds are added to it."""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("--role", type=click.Choice(["observe", "plan", "deploy"]), required=True, help="What it shall do.")
@click.option("--group", metavar="NAME", help="Bind it to this group.")
@click.option("--user", metavar="NAME", help="Bind it to this user.")
@click.option("--service-account", metavar="NAMESPACE/NAME", help="Bind it to this service account.")
@click.pass_obj
def command(session: Session, /, cluster: str | None, **options: Any) -> int:
    """Print the exact roles for CLUSTER. Asks no cluster."""
    with opened(request_of(session)) as source:
        target = choose(source, cluster)
        made = build_cluster(source, target.name).build
    namespace = target.settings.record_namespace
    found = roles(made, options["role"], record_namespace=namespace, subject=_subject(options))
    session.console.result(yaml_stream(found))
    return int(ExitCode.DONE)


def _subject(options: dict[str, Any]) -> dict[str, str]:
    given = [name for name in ("group", "user", "service_account") if options[name]]
    if len(given) > 1:
        raise UsageError("--group, --user and --service-account: name one of them")
    api = "rbac.authorization.k8s.io"
    if options["service_account"]:
        namespace, slash, name = options["service_account"].partition("/")
        if not slash or not namespace or not name:
            raise UsageError(f"--service-account {options['service_account']}: no namespace", hint="NAMESPACE/NAME")
        return {"kind": "ServiceAccount", "name": name, "namespace": namespace}
    if options["user"]:
        return {"apiGroup": api, "kind": "User", "name": options["user"]}
    return {"apiGroup": api, "kind": "Group", "name": options["group"] or f"kix:{options['role']}"}
