"""The receipt of a deploy, from the build, who ran it, and what was done."""

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from kixbot import __version__
from kixbot.model.build import Build
from kixbot.model.receipt import Image, Receipt


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Who deploys and from where.

    `reviewed_hash` and `deployed_hash` are of the change that was reviewed and of the one that is deployed, both worked
    out from commits.
    """

    actor: str | None = None
    run_url: str | None = None
    reviewed_hash: str | None = None
    deployed_hash: str | None = None


def receipt_of(
    build: Build,
    who: Provenance,
    *,
    at: datetime,
    counts: Mapping[str, int],
    forced: tuple[str, ...] = (),
    adopted: tuple[str, ...] = (),
) -> Receipt:
    """`at` is when it ended. Raises ValueError when the build has no activation."""
    if build.activation is None:
        raise ValueError("a build with a cycle or a differing duplicate has no activation")
    source = build.evaluated.source
    return Receipt(
        id=f"{build.activation.name}.{int(at.timestamp())}",
        cluster=build.cluster.name,
        activation=build.activation.name,
        activation_path=build.activation.path,
        time=at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        actor=who.actor,
        run_url=who.run_url,
        commit=source.commit,
        branch=source.branch,
        clean=source.clean,
        remote=source.remote,
        tools={"kix": __version__, "python": platform.python_version()},
        arch=_arch(),
        os=_os(),
        images=images_of(build),
        pins={use.key: use.reference for use in build.evaluated.pins_used},
        counts=counts,
        reviewed_hash=who.reviewed_hash,
        deployed_hash=who.deployed_hash,
        forced=forced,
        adopted=adopted,
    )


def _arch() -> str:
    machine = platform.machine().lower()
    return {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)


def _os() -> str:
    system = platform.system().lower()
    return "macos" if system == "darwin" else system


def images_of(build: Build) -> tuple[Image, ...]:
    """Every image a container of the build runs, each once, sorted."""
    found = {image for resource in build.resources for image in _images(resource.manifest)}
    return tuple(_image(text) for text in sorted(found))


def _images(node: Any) -> Iterable[str]:
    if isinstance(node, Mapping):
        for name, value in node.items():
            if name in ("containers", "initContainers") and isinstance(value, list):
                yield from (str(one["image"]) for one in value if isinstance(one, Mapping) and one.get("image"))
            elif name == "imageName" and isinstance(value, str):
                yield value  # CloudNativePG and others name their operand's image so
            else:
                yield from _images(value)
    elif isinstance(node, list):
        for value in node:
            yield from _images(value)


def _image(text: str) -> Image:
    reference, at, digest = text.partition("@")
    return Image(reference=reference, digest=digest if at else None)
