"""How this run was set up: command line, then `KIX_*` variables, then kix.toml of the default branch.

Empty values count as absent, since a CI passes every input it knows. What decides over a credential is never read from
a pull request (see `sources` of the handlers): inputs of its own workflow only tighten, which `tighten` holds.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from kixbot.errors import SettingsError

PREFIX = "KIX_"
_LABEL = re.compile(r"[a-z0-9-]{1,40}")


def _split(value: object) -> object:
    return tuple(re.split(r"[\s,]+", value.strip(" \t\n,"))) if isinstance(value, str) else value


Words = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_split)]


class BotSettings(BaseSettings):
    """Every input of `action.yml`, and the addresses that only tests and the demo set.

    `baseline` "base": a warning that fails is excused when the merge base has it too; "none": never.
    `shrink_threshold`: percent of a cluster's resources that may go in one pull request. `policy`: what a deploy does
    when it differs from what was reviewed. `label` keeps several jobs on one commit apart.
    """

    model_config = SettingsConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    command: Literal["run", "review", "deploy", "pins"] = "run"
    clusters: Words = ()
    path: Path = Path()
    label: str = ""
    github_token: SecretStr | None = None
    gitlab_token: SecretStr | None = None
    kubeconfig: Path | None = None
    comment: Literal["true", "changes-only", "false"] = "true"
    fail_on: Words = ()
    baseline: Literal["base", "none"] = "base"
    pins_mode: Literal["pull-request", "commit", "off"] | None = None
    policy: Literal["warn", "stop"] | None = None
    shrink_threshold: int = Field(default=50, ge=0, le=100)
    prune: bool = False
    embedded: Path | None = None
    local_forge: Path | None = None
    output_dir: Path | None = None

    @field_validator("label")
    @classmethod
    def _is_label(cls, value: str) -> str:
        if value and not _LABEL.fullmatch(value):
            raise ValueError("must be 1 to 40 of a-z, 0-9 and -")
        return value

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003  the signature is pydantic-settings'
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load` hands in: never a `.env` file, never this process' environment behind its back."""
        return (init_settings,)


class _Variables(EnvSettingsSource):
    """`KIX_*` out of a given mapping."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._given = environment
        super().__init__(BotSettings, env_prefix=PREFIX, env_ignore_empty=True)

    def _load_env_vars(self) -> Mapping[str, str | None]:
        return {name.lower(): value for name, value in self._given.items() if value.strip()}


def load(
    arguments: Mapping[str, Any], environment: Mapping[str, str], table: Mapping[str, Any] | None = None
) -> BotSettings:
    """The settings of this run. `arguments` and `table` use the fields' names; None and "" there count as absent.

    `table` holds what kix.toml says. Raises SettingsError that names the input, and never shows a token.
    """
    given = {name: value for name, value in (table or {}).items() if value not in (None, "")}
    given |= _Variables(environment)()
    given |= {name: value for name, value in arguments.items() if value not in (None, "", ())}
    try:
        return BotSettings(**given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = str(first["loc"][0]) if first["loc"] else "settings"
        reason = first["msg"].removeprefix("Value error, ")
        raise SettingsError(
            f"input {name.replace('_', '-')}: {reason[:1].lower()}{reason[1:]}",
            hint=f"mend it in the workflow, or the variable {PREFIX}{name.upper()}, or kix.toml",
        ) from error


def in_workspace(settings: BotSettings, environment: Mapping[str, str]) -> BotSettings:
    """The settings with their files relative to the CI's workspace, since kixbot runs outside the checkout."""
    workspace = environment.get("GITHUB_WORKSPACE") or environment.get("CI_PROJECT_DIR")
    if not workspace:
        return settings
    paths = {name: getattr(settings, name) for name in ("kubeconfig", "output_dir")}
    return settings.model_copy(update={name: Path(workspace) / path for name, path in paths.items() if path})


def tighten(trusted: BotSettings, own: BotSettings) -> BotSettings:
    """The settings of a review: `trusted` says the default branch, `own` the pull request's workflow.

    The workflow can only make a review stricter: more rules that fail, no baseline, `stop`, a lower
    threshold. All else is its own business: label, comment, path, clusters and tokens decide nothing.
    """
    return own.model_copy(
        update={
            "fail_on": tuple(dict.fromkeys((*trusted.fail_on, *own.fail_on))),
            "baseline": "none" if "none" in {trusted.baseline, own.baseline} else "base",
            "policy": "stop" if "stop" in {trusted.policy, own.policy} else own.policy or trusted.policy,
            "shrink_threshold": min(trusted.shrink_threshold, own.shrink_threshold),
        }
    )
