"""The build with nothing in it: what a record alone is compared with, and what destroys a cluster when deployed."""

from kixbot.model.build import Build, ClusterFacts, Evaluated, SourceInfo
from kixbot.ops.build import assemble


def nothing(cluster: str) -> Build:
    """A build of this cluster that has no resources."""
    source = SourceInfo(kind="manifests", path="")
    return assemble(Evaluated(cluster=ClusterFacts(name=cluster), source=source, resources=()))
