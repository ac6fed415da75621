"""One run of the bot: its settings, edges and writers, opened once and handed to the handlers."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path

from kixbot.bot.builds import Builds
from kixbot.bot.outputs import Outputs
from kixbot.bot.publish import Publisher
from kixbot.bot.settings import BotSettings
from kixbot.bot.trees import Remote, Trees
from kixbot.cluster.interface import Cluster
from kixbot.cluster.opening import open_cluster
from kixbot.errors import UsageError
from kixbot.forges.interface import Forge
from kixbot.output.review_values import RunInfo
from kixbot.registry import open_registry
from kixbot.registry.interface import Registry
from kixbot.retry import Clock
from kixbot.settings import RegistrySettings
from kixbot.settings.model import ClusterSettings
from kixbot.sources.checkout import find_checkout


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a handler works with. `actor` is who started the run, as the forge calls them."""

    settings: BotSettings
    forge: Forge
    builds: Builds
    outputs: Outputs
    publisher: Publisher
    run: RunInfo
    environment: Mapping[str, str]
    actor: str | None = None
    clock: Clock = field(default_factory=Clock)

    def say(self, text: str) -> None:
        """A line of the log."""
        self.outputs.say(text)

    def today(self) -> date:
        """The day by which suppressions expire."""
        return datetime.fromtimestamp(self.clock.now(), UTC).date()

    def open_cluster(self, name: str, cluster: ClusterSettings) -> Cluster:
        """The live cluster of these settings. Raises UsageError where they name no context."""
        if self.settings.embedded is None and cluster.context is None:
            raise UsageError(
                f"cluster {name}: no context to deploy to",
                hint=f'name one in kix.toml on the default branch: [clusters.{name}] context = "…"',
            )
        # The embedded cluster is one folder a cluster: each is an API server of its own.
        embedded = self.settings.embedded / name if self.settings.embedded is not None else None
        kubeconfig = str(self.settings.kubeconfig) if self.settings.kubeconfig else self.environment.get("KUBECONFIG")
        return open_cluster(
            context=cluster.context, kubeconfig=kubeconfig, embedded=embedded, environment=self.environment
        )

    def refuse_own_kubeconfig(self, sha: str) -> None:
        """Credentials never come from a checkout. Raises UsageError for a kubeconfig that is committed."""
        workspace = self.environment.get("GITHUB_WORKSPACE") or self.environment.get("CI_PROJECT_DIR")
        path = self.settings.kubeconfig
        if path is None or not workspace or not path.is_relative_to(workspace):
            return
        name = path.relative_to(workspace).as_posix()
        if name in self.builds.trees.tree(sha).files:
            raise UsageError(
                f"input kubeconfig: {name} is a file of the repository",
                hint="write it from a secret, outside the checkout, and remove it from the repository",
            )

    def open_registry(self, settings: RegistrySettings) -> Registry:
        """Every registry, by the rules of the default branch."""
        return open_registry(settings, environment=self.environment, home=Path.home(), note=self.say, clock=self.clock)


def open_job(settings: BotSettings, environment: Mapping[str, str], scratch: Path, outputs: Outputs) -> Job:
    """The job of this environment. `scratch` is a private folder that lives as long as the run."""
    forge, remote, checkout = _open_forge(settings, environment)
    run = run_of(environment)
    trees = Trees(scratch, checkout=checkout, remote=remote, branch=_once(forge.get_default_branch))
    return Job(
        settings=settings,
        forge=forge,
        builds=Builds(trees=trees, base=_base(settings.path)),
        outputs=outputs,
        publisher=Publisher(forge, label=settings.label, run_url=run.url, say=outputs.say),
        run=run,
        environment=environment,
        actor=environment.get("GITHUB_ACTOR") or environment.get("GITLAB_USER_LOGIN") or environment.get("USER"),
    )


def run_of(environment: Mapping[str, str]) -> RunInfo:
    """Which CI run this is."""
    if environment.get("GITHUB_RUN_ID") and not environment.get("KIX_LOCAL_FORGE"):
        server, name = environment.get("GITHUB_SERVER_URL", ""), environment.get("GITHUB_REPOSITORY", "")
        run, attempt = environment["GITHUB_RUN_ID"], environment.get("GITHUB_RUN_ATTEMPT", "1")
        return RunInfo(
            id=run,
            attempt=int(attempt) if attempt.isdecimal() else 1,
            url=f"{server}/{name}/actions/runs/{run}" if server and name else None,
        )
    if environment.get("CI_PIPELINE_ID") and not environment.get("KIX_LOCAL_FORGE"):
        return RunInfo(id=environment["CI_PIPELINE_ID"], url=environment.get("CI_JOB_URL"))
    return RunInfo()


def _open_forge(settings: BotSettings, environment: Mapping[str, str]) -> tuple[Forge, Remote | None, Path | None]:
    """The forge, where missing commits come from, and the checkout that lends objects."""
    if settings.local_forge is not None:
        from kixbot.forges.local import LocalForge  # noqa: PLC0415  each forge only where it is used

        return LocalForge(settings.local_forge), None, settings.local_forge
    if environment.get("GITHUB_REPOSITORY"):
        from kixbot.forges.github import GitHubForge  # noqa: PLC0415

        if settings.github_token is None:
            raise UsageError("input github-token: no token", hint="pass github-token: ${{ github.token }}")
        token, repository = settings.github_token.get_secret_value(), environment["GITHUB_REPOSITORY"]
        forge = GitHubForge(
            token=token,
            repository=repository,
            api_url=environment.get("GITHUB_API_URL") or "https://api.github.com",
            graphql_url=environment.get("GITHUB_GRAPHQL_URL") or None,
        )
        server = environment.get("GITHUB_SERVER_URL") or "https://github.com"
        workspace = find_checkout(Path(environment.get("GITHUB_WORKSPACE") or os.curdir))
        return forge, Remote(url=f"{server}/{repository}", token=token), workspace
    if environment.get("GITLAB_CI"):
        return _open_gitlab(settings, environment)
    raise UsageError(
        "environment: no forge found",
        hint="run kixbot in GitHub Actions or GitLab CI, or set KIX_LOCAL_FORGE to a local forge's folder",
    )


def _open_gitlab(settings: BotSettings, environment: Mapping[str, str]) -> tuple[Forge, Remote | None, Path | None]:
    from kixbot.forges.gitlab import GitLabForge  # noqa: PLC0415

    if settings.gitlab_token is None:
        raise UsageError(
            "input gitlab-token: no token; a job's own may neither read branches nor comment nor set statuses",
            hint="give the variable KIX_GITLAB_TOKEN a project token with the api scope",
        )
    token = settings.gitlab_token.get_secret_value()
    forge = GitLabForge(
        token=token,
        project=environment.get("CI_PROJECT_PATH", ""),
        api_url=environment.get("CI_API_V4_URL") or "https://gitlab.com/api/v4",
    )
    checkout = find_checkout(Path(environment.get("CI_PROJECT_DIR") or os.curdir))
    return forge, Remote(url=f"{environment.get('CI_PROJECT_URL', '')}.git", token=token, user="oauth2"), checkout


def _base(path: Path) -> str:
    """The folder of kix.toml within the repository."""
    text = path.as_posix()
    if path.is_absolute() or ".." in path.parts:
        raise UsageError(f"input path: {text[:200]!r} leaves the repository", hint="give a folder inside it")
    return text


def _once(ask: Callable[[], str]) -> Callable[[], str]:
    known: list[str] = []

    def answer() -> str:
        if not known:
            known.append(ask())
        return known[0]

    return answer
