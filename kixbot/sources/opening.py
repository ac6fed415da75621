"""Opening a source: a cluster of the settings or bare paths, in the working tree or at a ref, as one `Evaluated`.

A definition in Nix and a cluster's manifests come from the tree that git sees; bare paths are what a person names and
are read as they stand on disk.
"""

import difflib
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from kixbot.errors import SettingsError, SourceError, UsageError
from kixbot.model.build import Binding, ClusterFacts, Evaluated, ScorecardSettings, SourceInfo
from kixbot.model.pin import Pins
from kixbot.model.pinfile import PINS_FILE, decode
from kixbot.settings import ClusterSettings, Settings, discover, load
from kixbot.sources import bare, checkout as checkouts, document, files, flavors, manifests, nix, text
from kixbot.sources.manifests import File, Loose
from kixbot.sources.tree import Tree, export_ref, working_tree

_SETTINGS = ("kix.toml", "pyproject.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildRequest:
    """What to build. `directory` is where names and paths are relative to.

    `targets`: one cluster's name, or paths (`-` is standard input); empty: the only cluster there is. `ref`: a branch,
    tag or commit instead of the working tree. `settings` None: those of the tree itself; `config`: another kix.toml.
    """

    directory: Path
    targets: tuple[str, ...] = ()
    ref: str | None = None
    settings: Settings | None = None
    config: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """An evaluated source, with the settings and pins that hold for it. Bare paths have no pins."""

    evaluated: Evaluated
    settings: Settings
    pins: Pins | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A tree with the settings that hold for it; `base` is the settings file's folder, relative to the tree."""

    tree: Tree
    base: str
    settings: Settings

    def inside(self, path: str) -> str:
        """A path of the settings, relative to the tree."""
        return path if self.base in {"", "."} else f"{self.base}/{path}"

    def find_pins(self, cluster: str) -> Pins | None:
        """The pins file of a cluster, as this tree has it; None when it has none."""
        settings = self.settings.clusters.get(cluster)
        path = self.inside(settings.pins if settings else PINS_FILE)
        data = files.find_inside(self.tree.root, path)
        return decode(text.decode(data, file=path), file=path) if data is not None else None


@contextmanager
def opened(request: BuildRequest) -> Iterator[Opened]:
    """The tree and its settings; an exported tree lives as long as the context. Raises KixError."""
    directory = request.directory.resolve()
    top = checkouts.find_checkout(directory)
    if request.ref is None:
        yield _with_settings(working_tree(directory), directory, request)
        return
    if top is None:
        raise UsageError(f"{request.directory}: not a git repository, so {request.ref!r} names nothing")
    with tempfile.TemporaryDirectory(prefix="kix-tree-") as folder:
        tree = export_ref(top, request.ref, Path(folder))
        yield _with_settings(tree, Path(folder) / directory.relative_to(top), request)


def evaluate(request: BuildRequest) -> Found:
    """What the request names. Raises UsageError for an unknown target, SourceError for what does not build."""
    if request.targets and request.ref is None and all(_is_plain_path(request, target) for target in request.targets):
        evaluated = bare.evaluate(request.directory, request.targets)
        return Found(evaluated=evaluated, settings=request.settings or Settings())
    with opened(request) as source:
        return _in_tree(source, request)


def settings_in(root: Path, base: str = ".", config: Path | None = None) -> Settings:
    """The settings that stand in the folder `base` of the tree `root`, or in the file `config` that a person names.

    Clusters that are only files are not in them yet. Raises SettingsError.
    """
    if config is not None:
        try:
            return load(_text_of(config.read_bytes(), str(config)), file=config.name)
        except OSError as err:
            raise SettingsError(f"{config}: {(err.strerror or 'cannot be read').lower()}") from err
    for name in _SETTINGS:
        data = files.find_inside(root, f"{base}/{name}")
        if data is not None:
            found = load(_text_of(data, name), file=name)
            if found.file is not None:
                return found
    return Settings()


def evaluate_cluster(source: Opened, name: str) -> Found:
    """One cluster of the settings. Raises UsageError when they have none of that name."""
    cluster = source.settings.clusters.get(name)
    if cluster is None:
        raise _unknown(name, source.settings)
    path = source.inside(cluster.path)
    info = replace(_info(source.tree), path=path)
    if source.tree.find(path) is None:
        raise SourceError(f"{path}: no such file in the tree", hint="git add it, or mend path in kix.toml")
    if path.endswith(".nix"):
        _check_unsaid(name, cluster)
        return _found(source, name, _definition(source, path, info, cluster))
    found = files.collect(source.tree.root, path, known=frozenset(source.tree.files))
    check = source.settings.check
    loose = Loose(
        cluster=_facts(name, cluster),
        source=info,
        namespace=cluster.namespace,
        cede=cluster.cede,
        externals=cluster.externals,
        scorecard=ScorecardSettings(fail=check.fail, ignore=check.ignore),
    )
    return _found(source, name, manifests.evaluate(found, loose))


def _check_unsaid(name: str, cluster: ClusterSettings) -> None:
    """Raise SettingsError for a fact that a definition says itself: in the settings it would change nothing."""
    default = ClusterSettings(path=cluster.path)
    for key in ("namespace", "kubernetes", "flavor", "roles", "cede"):
        if getattr(cluster, key) != getattr(default, key):
            raise SettingsError(
                f"[clusters.{name}] {key}: {cluster.path} is a definition in Nix, which says this itself",
                hint=f"remove {key}, and say it in {cluster.path}",
            )


def _found(source: Opened, name: str, evaluated: Evaluated) -> Found:
    if evaluated.cluster.name != name:
        raise SourceError(
            f"{evaluated.source.path}: its name is {evaluated.cluster.name[:80]!r}, the settings call it {name!r}",
            hint="give both one name",
        )
    return Found(evaluated=evaluated, settings=source.settings, pins=source.find_pins(name))


def _with_settings(tree: Tree, directory: Path, request: BuildRequest) -> Opened:
    base = directory.resolve().relative_to(tree.root.resolve()).as_posix()
    settings = request.settings if request.settings is not None else settings_in(tree.root, base, request.config)
    prefix = "" if base in {"", "."} else f"{base}/"
    below = [file.removeprefix(prefix) for file in tree.files if file.startswith(prefix)]
    return Opened(tree=tree, base=base, settings=discover(settings, below))


def _in_tree(source: Opened, request: BuildRequest) -> Found:
    names = request.targets or _only(source.settings)
    if len(names) == 1 and names[0] in source.settings.clusters:
        return evaluate_cluster(source, names[0])
    if len(names) == 1 and names[0].endswith(".nix"):
        path = source.inside(names[0])
        if source.tree.find(path) is None:
            raise _unknown(names[0], source.settings)
        evaluated = _definition(source, path, replace(_info(source.tree), path=path), None)
        return Found(evaluated=evaluated, settings=source.settings, pins=source.find_pins(evaluated.cluster.name))
    found: list[File] = []
    for name in names:
        if source.tree.find(source.inside(name)) is None:
            raise _unknown(name, source.settings)
        found.extend(files.collect(source.tree.root, source.inside(name), known=frozenset(source.tree.files)))
    info = replace(_info(source.tree), kind="manifests", path=" ".join(names))
    loose = Loose(cluster=flavors.of_path(), source=info)
    return Found(evaluated=manifests.evaluate(found, loose), settings=source.settings)


def _definition(source: Opened, path: str, info: SourceInfo, cluster: ClusterSettings | None) -> Evaluated:
    result = nix.evaluate(source.tree, path)
    found = document.decode(
        result.value, tree=source.tree, tree_name=result.tree_name, source=replace(info, kind="nix")
    )
    check = source.settings.check
    scorecard = found.scorecard
    externals = cluster.externals if cluster is not None else ()
    return replace(
        found,
        externals=(*found.externals, *externals),
        scorecard=ScorecardSettings(
            fail=tuple(dict.fromkeys((*scorecard.fail, *check.fail))), ignore=(*scorecard.ignore, *check.ignore)
        ),
    )


def _is_plain_path(request: BuildRequest, target: str) -> bool:
    """Whether the target is read from disk: standard input, or an existing path that is neither Nix nor a cluster."""
    if target == bare.STDIN:
        return True
    if target.endswith(".nix") or not (request.directory / target).exists():
        return False
    if "/" in target or target.startswith("."):
        return True
    settings = (
        request.settings if request.settings is not None else settings_in(request.directory, config=request.config)
    )
    return target not in settings.clusters


def _only(settings: Settings) -> tuple[str, ...]:
    names = tuple(settings.clusters)
    if len(names) == 1:
        return names
    if not names:
        raise UsageError("no cluster here", hint="name a path, or write clusters/NAME.nix or kix.toml")
    raise UsageError(f"several clusters here: {', '.join(names)}", hint=f"name one, for example {names[0]}")


def _unknown(name: str, settings: Settings) -> UsageError:
    near = difflib.get_close_matches(name, settings.clusters, n=1)
    known = (
        f"clusters are {', '.join(settings.clusters)}" if settings.clusters else "write clusters/NAME.nix or kix.toml"
    )
    return UsageError(
        f"{name[:200]!r} is neither a cluster nor a path", hint=f"did you mean {near[0]}?" if near else known
    )


def _info(tree: Tree) -> SourceInfo:
    return SourceInfo(
        kind="manifests",
        path=".",
        commit=tree.commit or (tree.head if tree.clean else None),
        branch=tree.branch,
        remote=tree.remote,
        clean=tree.clean,
    )


def _facts(name: str, cluster: ClusterSettings) -> ClusterFacts:
    found = flavors.facts(name, cluster.flavor)
    roles = {**found.roles, **{role: Binding(kind=kind) for role, kind in cluster.roles.items()}}
    return replace(found, roles=roles, kubernetes_version=cluster.kubernetes or found.kubernetes_version)


def _text_of(data: bytes, shown: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise SettingsError(f"{shown}: not UTF-8", hint="save the file as UTF-8") from err
