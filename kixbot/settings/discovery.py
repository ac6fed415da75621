"""Clusters of a repository that lists none: `clusters/*.nix` and `kix.nix`, told from the names of its files."""

from collections.abc import Iterable
from dataclasses import replace

from kixbot.settings.model import ClusterSettings, Settings
from kixbot.settings.table import is_name

_DEFAULT = "kix.nix"
_FOLDER = "clusters/"


def discover(settings: Settings, files: Iterable[str]) -> Settings:
    """The settings as they are if they list clusters, else with those found among `files` (relative paths).

    `kix.nix` at the top is the cluster `kix`; a definition in `clusters/` is called like its file.
    """
    if settings.clusters:
        return settings
    found = {}
    for file in sorted(files):
        folder, _, name = file.rpartition("/")
        stem = name.removesuffix(".nix")
        if stem != name and is_name(stem) and (file == _DEFAULT or f"{folder}/" == _FOLDER):
            found[stem] = ClusterSettings(path=file)
    return replace(settings, clusters=found)
