"""Which name was meant, and that asking costs no more than it may."""

import pytest

from kixbot.checks.likeness import Likeness, nearest_name
from tests.builds import build_of, lean_run as run


@pytest.mark.parametrize(
    ("name", "names", "meant"),
    [
        ("wbe", ("api", "web"), "web"),
        ("password", ("user", "pass"), "pass"),
        ("web", ("web-2", "web-1"), "web-1"),
        ("web", ("database",), None),
        ("web", (), None),
        ("web", ("web",), "web"),
        ("x" * 300, ("x" * 299,), None),
    ],
)
def test_the_nearest_name(name: str, names: tuple[str, ...], meant: str | None) -> None:
    assert nearest_name(name, names) == meant


def test_when_the_budget_is_spent_nothing_is_alike() -> None:
    likeness = Likeness(budget=2)
    assert likeness.nearest("wbe", ("web",)) == "web"
    assert likeness.is_alike("wbe", "web")
    assert likeness.nearest("wbe", ("web",)) is None
    assert likeness.is_alike("web", "web")


def test_a_build_of_slips_is_judged_in_bounded_time_and_the_first_of_them_has_its_near_miss() -> None:
    services = "---\n".join(
        f"apiVersion: v1\nkind: Service\nmetadata: {{name: s{number:03}, namespace: shop}}\n"
        f"spec: {{selector: {{app: web-{number:03}-x}}, ports: [{{port: 80}}]}}\n"
        f"---\napiVersion: v1\nkind: Pod\nmetadata: {{name: p{number:03}, namespace: shop, "
        f"labels: {{app: web-{number:03}-y}}}}\n"
        "spec: {automountServiceAccountToken: false, containers: [{name: a, image: 'a:1'}]}\n"
        for number in range(400)
    )
    findings = run(build_of(services)).findings
    assert len(findings) == 400
    assert "nearest: Pod shop/p000" in findings[0].message
    assert "nearest" not in findings[-1].message
