"""Reviews for the tests of the comment: a plain one, hostile ones, and ones of any size."""

from collections.abc import Sequence

from kixbot.errors import SourceError
from kixbot.model.finding import Finding, Report, Severity, State
from kixbot.model.plan import Added, Changed, FieldChange, PackageChange, Plan, ResourceChange, Wave
from kixbot.model.resource import Location, Ref
from kixbot.ops.check import unbuilt as unbuilt_report
from kixbot.output.review_values import ClusterReview, Review, Risk, RiskKind, RunInfo

HEAD = "b" * 40
BASE = "a" * 40
RUN = RunInfo(id="4711", attempt=2, url="https://github.com/acme/shop/actions/runs/4711")


def ref(kind: str, name: str, namespace: str = "shop", group: str = "") -> Ref:
    return Ref(kind=kind, group=group, namespace=namespace, name=name)


def changed(which: Ref, *fields: FieldChange) -> ResourceChange:
    return ResourceChange(ref=which, action="changed", changes=fields)


def bumped(which: Ref) -> ResourceChange:
    return ResourceChange(ref=which, action="changed", reason="dependency")


def package(
    name: str, *resources: ResourceChange, namespace: str = "shop", old: str = "1.4.2", new: str = "1.5.0"
) -> PackageChange:
    return PackageChange(
        id=f"{namespace}/{name}", namespace=namespace, name=name, action="changed", old_version=old, new_version=new,
        resources=resources,
    )  # fmt: skip


WEB = ref("Deployment", "web", group="apps")
GRAFANA = ref("Deployment", "grafana", "monitoring", group="apps")


def shop_plan() -> Plan:
    """The change that the product's page shows."""
    valkey = PackageChange(
        id="shop/valkey", namespace="shop", name="valkey", action="added", new_version="8.0.2",
        resources=(
            ResourceChange(ref=ref("ConfigMap", "valkey"), action="added"),
            ResourceChange(ref=ref("Service", "valkey"), action="added"),
            ResourceChange(ref=ref("StatefulSet", "valkey", group="apps"), action="added"),
            ResourceChange(ref=ref("PackageInstance", "valkey", group="kix.run"), action="added", reason="dependency"),
        ),
    )  # fmt: skip
    image = Changed(
        path="$.spec.template.spec.containers[web].image", old="ghcr.io/acme/web:1.4.2", new="ghcr.io/acme/web:1.5.0"
    )
    return Plan(
        cluster="shop",
        old_activation="shop-ll6g0k5f2kqm",
        new_activation="shop-6w9czkc51502",
        unchanged=9,
        waves=(
            Wave(number=1, refs=(ref("ConfigMap", "valkey"),)),
            Wave(number=3, refs=(ref("StatefulSet", "valkey", group="apps"), ref("Service", "valkey"), WEB, GRAFANA)),
        ),
        hash="c" * 64,
        packages=(
            package(
                "grafana",
                changed(GRAFANA, Changed(path="$.spec.replicas", old=1, new=2)),
                bumped(ref("PackageInstance", "grafana", "monitoring", "kix.run")),
                namespace="monitoring",
                old="11.2.0",
                new="11.2.0",
            ),
            valkey,
            package(
                "web",
                changed(WEB, image),
                bumped(ref("HorizontalPodAutoscaler", "web", group="autoscaling")),
                bumped(ref("PackageInstance", "web", group="kix.run")),
            ),
        ),
    )


def shop_report(*findings: Finding) -> Report:
    return Report(cluster="shop", activation="shop-6w9czkc51502", manifests=37, findings=findings)


WARNING = Finding(
    rule="rel/no-pdb",
    severity=Severity.WARNING,
    message="Deployment shop/web has no PodDisruptionBudget",
    ref=WEB,
    path="$",
    hint="add one",
    location=Location(file="clusters/shop.nix", line=12),
    state=State.NEW,
)
ERROR = Finding(
    rule="ref/secret-key",
    severity=Severity.ERROR,
    message='secret "db" does not declare key "password"\n  declared keys: pass',
    ref=WEB,
    path="$.spec.template.spec.containers[web].env[0]",
    hint="use one of its keys, or add the key",
    location=Location(file="web.nix", line=3),
    state=State.UNCHANGED,
)


def shop(*findings: Finding, passed: bool = True, name: str = "shop") -> ClusterReview:
    return ClusterReview(
        name=name,
        passed=passed,
        report=shop_report(*findings),
        plan=shop_plan(),
        risks=(
            Risk(
                kind=RiskKind.IMAGE, verb="moves image", subject="ghcr.io/acme/web", values=("1.4.2", "1.5.0"), ref=WEB
            ),
            Risk(kind=RiskKind.WAVES, verb="lands in", detail="waves 1 and 3 of 4"),
        ),
        edges=((ref("StatefulSet", "valkey", group="apps"), ref("ConfigMap", "valkey")),),
    )


def review(*clusters: ClusterReview, label: str = "", risks: Sequence[Risk] = ()) -> Review:
    return Review(label=label, head_sha=HEAD, base_sha=BASE, clusters=clusters, run=RUN, risks=tuple(risks))


def sized(texts: Sequence[str], name: str = "shop") -> ClusterReview:
    """A cluster whose packages add one long value each."""
    packages = tuple(
        package(f"p{index}", changed(ref("ConfigMap", f"c{index}"), Added(path="$.data.x", new=text)))
        for index, text in enumerate(texts)
    )
    plan = Plan(cluster=name, old_activation="a-1", new_activation="a-2", packages=packages, hash="d" * 64)
    return ClusterReview(name=name, passed=True, report=shop_report(), plan=plan)


def unbuilt(name: str, message: str, *, hint: str, file: str) -> ClusterReview:
    """A cluster whose head does not build."""
    error = SourceError(message, hint=hint, file=file, line=3)
    return ClusterReview(name=name, passed=False, report=unbuilt_report(error, cluster=name))
