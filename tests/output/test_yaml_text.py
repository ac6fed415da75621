"""YAML that is written: every reader reads the body back, and the bytes are stable."""

from typing import Any

import yaml
from hypothesis import given, strategies as st

from kixbot.output.yaml_text import yaml_stream, yaml_text

BODY: dict[str, Any] = {
    "data": {"on": "yes", "count": "1e3", "octal": "0o17", "time": "12:30:00", "plain": "web", "empty": ""},
    "kind": "ConfigMap",
    "metadata": {"name": "web", "labels": {"app.kubernetes.io/name": "web"}},
    "apiVersion": "v1",
    "script": "#!/bin/sh\nset -e\n\necho done\n",
    "cut": "no end\nof line",
    "odd": "tab\there\n  indented\n",
    "list": [{"name": "a", "value": [1, 2.5, True, None]}, [], {}, [["deep"]], "x"],
}


def test_the_bytes_are_these() -> None:
    assert yaml_text(BODY) == (
        "apiVersion: v1\n"
        "kind: ConfigMap\n"
        "metadata:\n"
        "  labels:\n"
        "    app.kubernetes.io/name: web\n"
        "  name: web\n"
        "cut: |-\n"
        "  no end\n"
        "  of line\n"
        "data:\n"
        '  count: "1e3"\n'
        '  empty: ""\n'
        '  octal: "0o17"\n'
        '  "on": "yes"\n'
        "  plain: web\n"
        '  time: "12:30:00"\n'
        "list:\n"
        "  - name: a\n"
        "    value:\n"
        "      - 1\n"
        "      - 2.5\n"
        "      - true\n"
        "      - null\n"
        "  - []\n"
        "  - {}\n"
        "  - - - deep\n"
        "  - x\n"
        'odd: "tab\\there\\n  indented\\n"\n'
        "script: |\n"
        "  #!/bin/sh\n"
        "  set -e\n"
        "\n"
        "  echo done\n"
    )


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | TEXTS | st.sampled_from(["on", "a\nb", "a\nb\n", "- x"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
def test_whatever_is_written_reads_back(body: dict[str, Any]) -> None:
    assert yaml.safe_load(yaml_text(body)) == body
    assert list(yaml.safe_load_all(yaml_stream((body, body)))) == [body, body]
