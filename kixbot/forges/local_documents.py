"""The local forge's documents → values, and the lengths that GitHub would hold them to."""

from typing import Any

from kixbot.errors import ForgeError
from kixbot.forges.values import Comment, CommitInfo, Deployment, DeploymentState


def read_comment(document: dict[str, Any]) -> Comment:
    return Comment(
        id=str(document["number"]),
        author=str(document["author"]),
        body=str(document["body"]),
        minimised=bool(document.get("minimised")),
    )


def read_deployment(document: dict[str, Any]) -> Deployment:
    return Deployment(
        id=str(document["number"]),
        sha=document["sha"],
        environment=document["environment"],
        task=document["task"],
        state=DeploymentState(document["state"]),
        description=document["description"],
        url=document.get("log_url"),
    )


def read_commit(entry: str) -> CommitInfo:
    sha, parents, author, message = entry.lstrip("\n").split("\0", 3)
    return CommitInfo(sha=sha, parents=tuple(parents.split()), author=author or None, message=message.rstrip("\n"))


def check_length(what: str, text: str, most: int) -> None:
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    if units > most:
        raise ForgeError(f"{what}: too long ({units} of at most {most} UTF-16 units)")
