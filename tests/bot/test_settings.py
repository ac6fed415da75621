from pathlib import Path

import pytest

from kixbot.bot.settings import in_workspace, load, tighten
from kixbot.errors import SettingsError

TOKEN = "ghp_canary0123456789"


def test_the_command_line_wins_over_variables_and_these_over_kix_toml() -> None:
    table = {"comment": "false", "label": "toml", "shrink_threshold": 10}
    variables = {"KIX_COMMENT": "changes-only", "KIX_LABEL": "variable"}
    settings = load({"label": "line"}, variables, table)
    assert (settings.label, settings.comment, settings.shrink_threshold) == ("line", "changes-only", 10)


def test_empty_values_count_as_absent() -> None:
    variables = {"KIX_LABEL": "", "KIX_CLUSTERS": "  ", "KIX_PRUNE": "", "KIX_POLICY": ""}
    settings = load({"label": "", "clusters": ()}, variables, {"comment": ""})
    assert settings == load({}, {})
    assert (settings.comment, settings.clusters, settings.prune, settings.policy) == ("true", (), False, None)


def test_lists_are_split_at_commas_blanks_and_lines() -> None:
    settings = load({}, {"KIX_CLUSTERS": "shop, edge\nstaging", "KIX_FAIL_ON": "gov/*"})
    assert settings.clusters == ("shop", "edge", "staging")
    assert settings.fail_on == ("gov/*",)


def test_other_variables_are_none_of_its_business_and_input_variables_are_not_read() -> None:
    assert load({}, {"KIX_LOCAL_EVENT": "schedule", "INPUT_LABEL": "x", "LABEL": "y"}).label == ""
    assert load({}, {"KIX_LOCAL_FORGE": "/srv/forge.git"}).local_forge == Path("/srv/forge.git")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("KIX_LABEL", "Prod!", "input label: must be 1 to 40 of a-z, 0-9 and -"),
        ("KIX_COMMENT", "sometimes", "input comment: input should be 'true', 'changes-only' or 'false'"),
        ("KIX_SHRINK_THRESHOLD", "200", "input shrink-threshold: input should be less than or equal to 100"),
    ],
)
def test_a_value_that_cannot_be_used_is_an_error_that_names_the_input(name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as error:
        load({}, {name: value})
    assert error.value.message == message
    assert error.value.hint is not None
    assert name in error.value.hint


def test_a_token_is_shown_nowhere() -> None:
    settings = load({}, {"KIX_GITHUB_TOKEN": TOKEN})
    assert TOKEN not in repr(settings)
    assert TOKEN not in str(settings)
    with pytest.raises(SettingsError) as error:
        load({}, {"KIX_GITHUB_TOKEN": TOKEN, "KIX_COMMENT": TOKEN})
    assert TOKEN not in error.value.message + str(error.value.hint)


def test_the_workflow_of_a_pull_request_can_only_tighten() -> None:
    trusted = load({}, {}, {"policy": "stop", "fail_on": ("gov/*",), "baseline": "none", "shrink_threshold": 10})
    loose = load({}, {"KIX_POLICY": "warn", "KIX_SHRINK_THRESHOLD": "100", "KIX_FAIL_ON": "sec/*"})
    review = tighten(trusted, loose)
    assert (review.policy, review.baseline, review.shrink_threshold) == ("stop", "none", 10)
    assert review.fail_on == ("gov/*", "sec/*")
    strict = tighten(load({}, {}), load({}, {"KIX_POLICY": "stop", "KIX_BASELINE": "none"}))
    assert (strict.policy, strict.baseline) == ("stop", "none")


def test_files_are_relative_to_the_workspace() -> None:
    settings = load({}, {"KIX_KUBECONFIG": "kube/config", "KIX_OUTPUT_DIR": "/abs"})
    found = in_workspace(settings, {"GITHUB_WORKSPACE": "/ws"})
    assert (found.kubeconfig, found.output_dir) == (Path("/ws/kube/config"), Path("/abs"))
    assert in_workspace(settings, {}) == settings
