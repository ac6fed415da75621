"""Small builds for tests: manifests as text, judged as a whole cluster."""

from collections.abc import Iterable

from kixbot.model.build import (
    ROLES,
    Binding,
    Build,
    ClusterFacts,
    External,
    ScorecardSettings,
    SourceInfo,
    Suppression,
)
from kixbot.ops.build import assemble
from kixbot.sources.manifests import File, Loose, evaluate

CLOSED = ClusterFacts(name="shop", roles=dict.fromkeys(ROLES, Binding(kind="absent")))
"""A cluster that has nothing but what is in the build."""

OPEN = ClusterFacts(
    name="",
    roles=dict.fromkeys(ROLES, Binding(kind="external")),
    external_kinds=frozenset({"Namespace", "CustomResourceDefinition", "IngressClass", "StorageClass"}),
    custom_kinds_external=True,
)
"""What a bare path of manifests is judged as."""


def build_of(
    text: str,
    *,
    facts: ClusterFacts = OPEN,
    file: str = "shop.yaml",
    externals: Iterable[External] = (),
    fail: tuple[str, ...] = (),
    ignore: tuple[Suppression, ...] = (),
) -> Build:
    """The build of one file of manifests."""
    settings = Loose(
        cluster=facts,
        source=SourceInfo(kind="manifests", path=file),
        externals=tuple(externals),
        scorecard=ScorecardSettings(fail=fail, ignore=ignore),
    )
    return assemble(evaluate([File(name=file, data=text.encode())], settings))
