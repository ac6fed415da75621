"""What a deploy looks like to people: waves, plan, progress, failure, receipt."""

import json

from kixbot.model.activation import Phase
from kixbot.model.plan import Conflict, PackageChange, Plan, PruneCandidate, ResourceChange, Wave
from kixbot.model.receipt import Image, Receipt
from kixbot.model.resource import Ref
from kixbot.ops.events import Applied, Conflicted, Failed, Finished, Kept, Planned, Pruned, Ready, Recorded, Waiting
from kixbot.output.deploy_log import line
from kixbot.output.deploy_text import Progress, plan_text, waves_text
from kixbot.output.receipt_text import receipt_text

WEB = Ref("Deployment", "apps", "shop", "web")
SERVICE = Ref("Service", "", "shop", "web")
SETTINGS = Ref("ConfigMap", "", "shop", "web")
OTHER = Ref("ConfigMap", "", "blog", "web")
NAMESPACE = Ref("Namespace", "", "", "shop")
PACKAGE = Ref("PackageInstance", "kix.run", "shop", "web")
RECEIPT = Receipt(
    id="shop-6w9czkc51502.1788950820",
    cluster="shop",
    activation="shop-6w9czkc51502",
    activation_path="/nix/store/6w9czkc515020000000000000000000-Activation-shop.json",
    time="2026-09-09T10:47:00Z",
    commit="c1b8d5e0a53a7a6ef1dd97f6e1d4ac1f0f2a0c11",
    clean=True,
    tools={"kix": "0.1.0"},
    arch="aarch64",
    os="macos",
    images=(Image(reference="docker.io/nginxinc/nginx-unprivileged:1.28-alpine", digest="sha256:7377697a" + "0" * 56),),
)


def test_waves_are_lines_of_short_names_and_packages_stay_out() -> None:
    waves = (
        Wave(number=0, refs=(NAMESPACE,)),
        Wave(number=1, refs=(SETTINGS,)),
        Wave(number=2, refs=(SERVICE, WEB, PACKAGE)),
    )
    assert waves_text(waves) == "wave 1 ConfigMap/web\nwave 2 Service/web Deployment/web"


def test_a_namespace_is_shown_only_where_two_would_read_alike() -> None:
    waves = (Wave(number=1, refs=(OTHER, SETTINGS, SERVICE)),)
    assert waves_text(waves) == "wave 1 ConfigMap/web@blog ConfigMap/web@shop Service/web"


def test_wave_zero_is_shown_with_all_its_levels_when_it_holds_an_operator() -> None:
    waves = (Wave(number=0, refs=(NAMESPACE,)), Wave(number=0, refs=(WEB,)), Wave(number=1, refs=(SETTINGS,)))
    assert waves_text(waves) == "wave 0 Namespace/shop Deployment/web\nwave 1 ConfigMap/web"


PLAN = Plan(
    cluster="shop",
    old_activation="shop-a",
    new_activation="shop-b",
    packages=(
        PackageChange(
            id="shop/web",
            namespace="shop",
            name="web",
            action="changed",
            resources=(
                ResourceChange(ref=SETTINGS, action="adopted", note="managed by helm"),
                ResourceChange(ref=WEB, action="added", simulated=False, note="not simulated: no right to patch"),
                ResourceChange(ref=SERVICE, action="added", simulated=False, note="not simulated: no right to patch"),
            ),
        ),
    ),
    conflicts=(
        Conflict(ref=WEB, path="$.spec.replicas", manager="kubectl", subresource="scale", live=5, desired=3,
                 verdict="conflict"),
        Conflict(ref=WEB, path="$.spec.paused", manager="argo\x1b[31m", subresource=None, live=None, desired="x" * 300,
                 verdict="ceded"),
    ),
    waves=(Wave(number=1, refs=(SETTINGS,)), Wave(number=2, refs=(SERVICE, WEB))),
    prune=(PruneCandidate(ref=OTHER), PruneCandidate(ref=NAMESPACE, kept="a Namespace is never deleted")),
)  # fmt: skip


def test_a_plan_says_what_a_deploy_would_do_beside_the_diff() -> None:
    long = "x" * 199
    assert plan_text(PLAN) == (
        "wave 1 ConfigMap/web\n"
        "wave 2 Service/web Deployment/web\n"
        "\n"
        "Conflicts (a deploy stops at these):\n"
        "  Deployment/web@shop $.spec.replicas: live 5 (kubectl, scale), wanted 3\n"
        "\n"
        "Ceded (left to their managers):\n"
        f'  Deployment/web@shop $.spec.paused: live null (argo\\x1b[31m), wanted "{long}… (302 characters)\n'
        "\n"
        "Adopted (exist already):\n"
        "  ConfigMap/web (managed by helm)\n"
        "\n"
        "Not simulated:\n"
        "  no right to patch: Deployment/web Service/web\n"
        "\n"
        "Left the build:\n"
        "  ConfigMap/web@blog: deleted with --prune\n"
        "  Namespace/shop: a Namespace is never deleted"
    )


def test_progress_is_a_line_an_event() -> None:
    events = (
        Planned(plan=PLAN),
        Recorded(activation="shop-b", phase=Phase.APPLYING),
        Applied(ref=WEB, wave=2, action="changed", left_out=(".spec.replicas",)),
        Waiting(ref=WEB, wave=2, reason="0 of 3 replicas updated"),
        Ready(ref=WEB, wave=2),
        Ready(ref=SERVICE, wave=2, note="paused"),
        Pruned(ref=OTHER),
        Kept(ref=NAMESPACE, why="a Namespace is never deleted"),
        Conflicted(ref=WEB, wave=2, conflicts=PLAN.conflicts[:1]),
        Finished(phase=Phase.ACTIVE, receipt=RECEIPT),
    )
    progress = Progress(PLAN)
    assert [line for event in events for line in progress.lines(event)] == [
        "shop-b Applying",
        "  Deployment/web changed (left to others: .spec.replicas)",
        "  Deployment/web waits: 0 of 3 replicas updated",
        "  Deployment/web ready",
        "  Service/web ready (paused)",
        "  ConfigMap/web@blog deleted",
        "  Namespace/shop kept: a Namespace is never deleted",
        "✗ Deployment/web: fields belong to other managers",
        "    $.spec.replicas: live 5 (kubectl, scale), wanted 3",
    ]


FAILED = Failed(
    ref=WEB,
    wave=2,
    reason="0 of 3 replicas available (after 600 s)",
    pod="Pod shop/web-1: container web: CrashLoopBackOff",
    log="::error::panic \x1b[2J",
    event="BackOff: restarting",
    not_started=(SERVICE,),
)


def test_a_failure_names_pod_log_event_and_what_was_not_started() -> None:
    assert Progress(PLAN).lines(FAILED) == [
        "✗ Deployment/web: 0 of 3 replicas available (after 600 s)",
        "    pod: Pod shop/web-1: container web: CrashLoopBackOff",
        "    log: ::error::panic \\x1b[2J",
        "    event: BackOff: restarting",
        "    not started: Service/web",
    ]


def test_a_line_of_the_log_is_json_without_empty_fields_and_without_control_characters() -> None:
    text = line(FAILED, "2026-09-09T10:47:00Z")
    assert "\x1b" not in text
    assert "\n" not in text
    document = json.loads(text)
    assert document["notStarted"] == ["Service/web@shop"]
    assert list(json.loads(line(Ready(ref=WEB, wave=2), "T"))) == ["schema", "time", "event", "resource", "wave"]


def test_a_receipt_reads_as_the_product_page_shows_it() -> None:
    assert receipt_text(RECEIPT) == (
        "cluster       shop\n"
        "deployed      2026-09-09 10:47\n"
        "commit        c1b8d5e\n"
        "working tree  clean\n"
        "kix           0.1.0\n"
        "arch          aarch64 / macos\n"
        "\n"
        "IMAGES\n"
        "docker.io/nginxinc/nginx-unprivileged:1.28-alpine\n"
        "  @sha256:7377697a…"
    )
