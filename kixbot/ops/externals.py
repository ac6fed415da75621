"""Objects a definition imports: they must exist in the cluster, with the keys it names."""

from kixbot.cluster.faults import ForbiddenError
from kixbot.cluster.interface import ApiKind, Cluster, Discovery
from kixbot.errors import RefusedError
from kixbot.model.build import Build, External
from kixbot.model.resource import BUILTIN_GROUPS, Ref
from kixbot.ops.observe import find
from kixbot.ops.parallel import each


def require_imports(build: Build, cluster: Cluster, discovery: Discovery) -> None:
    """One GET per imported object. Raises RefusedError naming the first that is not there, or lacks a key.

    What may not be read is taken to be there: whoever uses it will say so.
    """
    imports = [one for one in build.evaluated.externals if one.verify]
    faults = each(lambda one: _fault(one, cluster, discovery), imports)
    found = [fault for fault in faults if fault is not None]
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise RefusedError(f"{found[0]}{more}", hint="create it, or declare it with kix.untrackedRef if it comes later")


def _fault(external: External, cluster: Cluster, discovery: Discovery) -> str | None:
    kind = _kind(external, discovery)
    ref = Ref(external.kind, "" if kind is None else kind.group, external.namespace or "", external.name)
    if kind is None:
        return f"import {ref.plain}: the cluster does not serve {external.kind}"
    try:
        body = find(cluster, kind, ref)
    except ForbiddenError:
        return None
    if body is None:
        return f"import {ref.plain}: not there"
    there = {*(body.get("data") or {}), *(body.get("binaryData") or {})}
    missing = [key for key in external.keys or () if key not in there]
    return f"import {ref.plain}: has no key {missing[0]}" if missing else None


def _kind(external: External, discovery: Discovery) -> ApiKind | None:
    """Its kind; where no group is named, a built-in one before others."""
    if external.group is not None:
        return discovery.by_group.get((external.group, external.kind))
    named = [kind for (_, name), kind in discovery.by_group.items() if name == external.kind]
    return min(named, key=lambda kind: kind.group not in BUILTIN_GROUPS, default=None)
