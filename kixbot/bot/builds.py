"""Builds of clusters at commits, each made once a run, by settings whose word counts."""

from dataclasses import dataclass, field

from kixbot.bot.trees import Trees
from kixbot.errors import SourceError
from kixbot.model.build import Build
from kixbot.ops.build import Built, Opened, build_cluster
from kixbot.settings import Settings, discover
from kixbot.sources.opening import settings_in


@dataclass(slots=True, kw_only=True)
class Builds:
    """`base` is the folder of kix.toml, relative to the tree."""

    trees: Trees
    base: str = "."
    _settings: dict[str, Settings] = field(default_factory=dict)
    _builds: dict[tuple[str, str], Built] = field(default_factory=dict)

    def settings(self, sha: str) -> Settings:
        """What kix.toml says at a commit, with the clusters that are only files. Raises SettingsError."""
        if sha not in self._settings:
            tree = self.trees.tree(sha)
            prefix = "" if self.base in {"", "."} else f"{self.base}/"
            below = [file.removeprefix(prefix) for file in tree.files if file.startswith(prefix)]
            self._settings[sha] = discover(settings_in(tree.root, self.base), below)
        return self._settings[sha]

    def opened(self, sha: str, settings: Settings) -> Opened:
        """The tree of a commit with the settings it is to be judged by."""
        return Opened(tree=self.trees.tree(sha), base=self.base, settings=settings)

    def build(self, sha: str, cluster: str, settings: Settings) -> Built:
        """One cluster at a commit; the same settings are given for a commit throughout a run. Raises KixError."""
        if (sha, cluster) not in self._builds:
            self._builds[sha, cluster] = build_cluster(self.opened(sha, settings), cluster)
        return self._builds[sha, cluster]

    def find_build(self, sha: str, cluster: str, settings: Settings) -> Build | None:
        """As `build`, but None where the commit has no such cluster, or one that does not build."""
        if cluster not in settings.clusters:
            return None
        try:
            return self.build(sha, cluster, settings).build
        except SourceError:
            return None
