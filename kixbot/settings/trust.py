"""Whose word counts: from a pull request only the names and paths of clusters, all else from the default branch."""

from dataclasses import replace

from kixbot.settings.model import ClusterSettings, Settings


def trusted(default_branch: Settings, head: Settings) -> Settings:
    """The settings to judge a head by.

    A cluster that the head adds gets defaults: no context, no environment, no permission. One that it drops is gone.
    Everything that decides what a credential may do stays the default branch's.
    """
    clusters = {
        name: replace(default_branch.clusters.get(name, ClusterSettings(path=cluster.path)), path=cluster.path)
        for name, cluster in head.clusters.items()
    }
    return replace(default_branch, clusters=clusters)
