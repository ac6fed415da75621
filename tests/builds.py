"""Small builds for tests: manifests as text, judged as a whole cluster."""

from collections.abc import Iterable
from functools import partial

from kixbot.checks.base import category_of
from kixbot.checks.registry import CHECKS
from kixbot.checks.report import run
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


_SPOKEN_OF = frozenset(
    {
        "gov/duplicate-object", "gov/expired-suppression", "gov/image-no-tag", "gov/image-unpinned",
        "gov/unused-suppression", "sec/automount-token", "sec/root-image", "sec/secret-literal",
    }
)  # fmt: skip
LEAN = tuple(check for check in CHECKS if category_of(check.id) == "correctness" or check.id in _SPOKEN_OF)
"""Rules for tests about something else: without those that ask every workload for probes, limits and so on."""
lean_run = partial(run, checks=LEAN)


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
