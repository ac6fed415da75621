"""A review, as values: what the comment, the job summary and the result file are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from kixbot.model.finding import Finding, Report, Severity, State
from kixbot.model.plan import Plan
from kixbot.model.resource import Body, Ref


class RiskKind(IntEnum):
    """What a reviewer must see before anything else, gravest first."""

    NOTHING_LEFT = 1
    SHRINK = 2
    DELETE_DATA = 3
    DELETE = 4
    RECREATE = 5
    GRANT = 6
    WEBHOOK = 7
    PRIVILEGE = 8
    SETTINGS = 9
    SUPPRESSION = 10
    REGISTRY = 11
    IMAGE = 12
    WAVES = 13


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Risk:
    """One line of the blast radius: `verb subject`, then `detail` in words of ours and `values` as code.

    `subject` and `values` are untrusted; `verb` and `detail` are ours. `ref` orders the details by risk.
    """

    kind: RiskKind
    verb: str
    subject: str = ""
    detail: str = ""
    values: tuple[str, ...] = ()
    ref: Ref | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterReview:
    """One cluster, base against head. `plan` is None when one of the two did not build; `report` is of the head.

    `passed`: check and guards say yes. `added` holds manifests of added resources, Secret values already out.
    `edges` (source, target) are those of the head.
    """

    name: str
    passed: bool
    report: Report
    plan: Plan | None = None
    risks: tuple[Risk, ...] = ()
    added: Mapping[Ref, Body] = field(default_factory=dict)
    edges: tuple[tuple[Ref, Ref], ...] = ()

    @property
    def shown(self) -> tuple[Finding, ...]:
        """What failed evaluation, errors, and warnings that are not in the base as well; the gravest first."""
        kept = [
            finding
            for finding in self.report.findings
            if finding.severity is Severity.ERROR
            or (finding.severity is Severity.WARNING and finding.state is not State.UNCHANGED)
        ]
        return (*self.report.eval_messages, *sorted(kept, key=lambda finding: finding.severity is not Severity.ERROR))

    def count(self, severity: Severity) -> int:
        """Findings of a severity that stand on head."""
        return sum(finding.severity is severity for finding in self.report.findings)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunInfo:
    """The CI run that writes. `url` None outside a CI with pages of its own."""

    id: str = ""
    attempt: int = 1
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A whole review. `risks` belong to no single cluster: changed settings, workflows, locks."""

    label: str
    head_sha: str
    base_sha: str
    clusters: tuple[ClusterReview, ...]
    run: RunInfo = field(default_factory=RunInfo)
    risks: tuple[Risk, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every cluster says yes."""
        return all(cluster.passed for cluster in self.clusters)
