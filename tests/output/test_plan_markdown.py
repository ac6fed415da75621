"""A plan as Markdown, word for word, and hostile values that stay text."""

import cmarkgfm
from hypothesis import given, strategies as st

from kixbot.diff.planner import plan
from kixbot.model.plan import Changed, PackageChange, Plan, ResourceChange, Wave
from kixbot.model.resource import Ref
from kixbot.output.plan_markdown import markdown, plan_markdown
from tests.output.plans import after, before


def test_the_shops_change_reads_as_in_the_manual() -> None:
    old, new = before(), after()
    assert old.activation is not None
    assert new.activation is not None
    assert (
        markdown(plan(old, new))
        == f"""\
## kix diff
Plan: 2 updated, 1 added, 0 removed, 9 unchanged
Resources: 2 with real content changes, 3 dep-affected (hash bump only)

**Added packages**
- `shop/valkey` 8.0.2 (4 resources)

**Changed packages**
- `monitoring/grafana` 11.2.0 (1 changed, 1 dep-affected)
- `shop/web` 1.4.2 → 1.5.0 (1 changed, 2 dep-affected)

Activation: `{old.activation.name}` to `{new.activation.name}`

<details><summary><code>monitoring&#47;grafana</code> (1 changed, 1 dep-affected)</summary>

```text
~ Deployment/grafana@monitoring
    ~ $.spec.replicas:
        old: 1
        new: 2
~ PackageInstance/grafana@monitoring (via dependency)
```

</details>

<details><summary><code>shop&#47;web</code> (1 changed, 2 dep-affected)</summary>

```text
~ Deployment/web@shop
    ~ $.spec.template.spec.containers[web].image:
        old: "ghcr.io/acme/web:1.4.2"
        new: "ghcr.io/acme/web:1.5.0"
~ HorizontalPodAutoscaler/web@shop (via dependency)
~ PackageInstance/web@shop (via dependency)
```

</details>
"""
    )


def test_removed_packages_stand_in_a_list_of_their_own() -> None:
    text = markdown(plan(after(), before()))
    assert "**Removed packages**\n- `shop/valkey` 8.0.2 (4 resources)\n" in text
    assert text.startswith("## kix diff\nPlan: 2 updated, 0 added, 1 removed, 9 unchanged\n")


def test_a_plan_also_shows_its_waves() -> None:
    waves = (Wave(number=1, refs=(Ref("Secret", "", "shop", "db"), Ref("ConfigMap", "", "shop", "web"))),)
    nothing = Plan(cluster="shop", old_activation="shop-a", new_activation="shop-a", unchanged=3, waves=waves)
    assert (
        plan_markdown(nothing)
        == """\
## kix plan
Plan: 0 updated, 0 added, 0 removed, 3 unchanged
Resources: 0 with real content changes, 0 dep-affected (hash bump only)

**Waves**

```text
wave 1 Secret/db ConfigMap/web
```

Activation: `shop-a` (unchanged)
"""
    )


HOSTILE = st.text() | st.sampled_from(
    ["```\n</details><script>", "</code></summary>@team", "`|$x$ #1 /merge", "<!-- kix", "a\n\n# b", "\u202ex"]
)


@given(HOSTILE, HOSTILE, HOSTILE)
def test_no_hostile_string_leaves_its_code(name: str, old: str, new: str) -> None:
    change = ResourceChange(
        ref=Ref("ConfigMap", "", name, name), action="changed", changes=(Changed(path="$.a", old=old, new=new),)
    )
    package = PackageChange(
        id=name, namespace=name, name=name, action="changed", old_version=old, new_version=new, resources=(change,)
    )
    shown = markdown(Plan(cluster="shop", old_activation=old, new_activation=new, packages=(package,)))
    html = cmarkgfm.github_flavored_markdown_to_html(shown, cmarkgfm.Options.CMARK_OPT_UNSAFE)
    assert html.count("<details>") == html.count("</details>") == 1
    assert html.count("<summary>") == html.count("</summary>") == 1
    assert html.count("<h") == 1
    assert "<script" not in html
    assert "<a " not in html
