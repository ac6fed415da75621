"""Pins that moved are committed, or proposed in one pull request; nothing moved, nothing is written."""

from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kixbot.bot.job import Job
from kixbot.errors import ExitCode, KixError, RefusedError
from kixbot.forges.interface import PermissionDeniedError, ProtectedBranchError, StaleHeadError
from kixbot.forges.values import FileChange
from kixbot.model.pin import PinChange
from kixbot.model.pinfile import decode, encode
from kixbot.ops.build import build_cluster
from kixbot.ops.check import check, exit_code
from kixbot.ops.pin import PinFailure, apply_changes, resolve_updates
from kixbot.output.markup import count
from kixbot.output.pins_pr import PinsReport, commit_message, render_body, title
from kixbot.settings import Settings

BRANCH = "kix/pins"
_TRIES = 3
"""How often a moved head is worked out again; two pin bots and a merge at once are rare enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """What moved at one commit: the new text of each pins file, and the evidence."""

    head: str
    files: tuple[FileChange, ...]
    report: PinsReport
    failures: tuple[PinFailure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of it. `commit` is a new commit of the default branch, to be deployed by this very run."""

    exit_code: ExitCode
    commit: str | None = None


def handle(job: Job, *, branch: str, head: str) -> Result:
    """Look every pin with an update rule up, and write what moved by the mode that is set."""
    rules = job.builds.settings(head)
    mode = job.settings.pins_mode or rules.pins.mode
    if mode == "off":
        job.say("pins: off")
        return Result(exit_code=ExitCode.DONE)
    for _ in range(_TRIES):
        update = find_update(job, head, rules)
        for failure in update.failures:
            job.say(f"warning: pin {failure.key}: {failure.error.message}")
        code = ExitCode.OUTSIDE if update.failures else ExitCode.DONE
        if not update.files:
            job.say("pins: none moved")
            return Result(exit_code=code)
        for line in update.report.lines():
            job.say(f"pins: {line}")
        try:
            commit = _write(job, update, branch, rules, mode)
        except StaleHeadError as error:
            job.say(f"pins: {error.message}; looking again")
            head = job.forge.find_branch(branch) or head
            rules = job.builds.settings(head)
            continue
        return Result(exit_code=code, commit=commit)
    raise RefusedError(f"pins: {branch} moved {_TRIES} times while pins were looked up", hint="run kixbot pins again")


def find_update(job: Job, head: str, rules: Settings) -> Update:
    """What would move at `head`, with the clusters and the check's answer for the changed tree."""
    registry = job.open_registry(rules.registries)
    opened = job.builds.opened(head, rules)
    files: list[FileChange] = []
    changes: list[PinChange] = []
    failures: list[PinFailure] = []
    clusters: dict[str, list[str]] = {}
    for name, cluster in rules.clusters.items():
        clusters.setdefault(opened.inside(cluster.pins), []).append(name)
    for path in clusters:
        data = job.builds.trees.find_file(head, path)
        if data is None:
            continue
        pins = decode(data.decode("utf-8", errors="replace"), file=path)
        found = resolve_updates(pins, registry)
        changes += found.changes
        failures += found.failures
        if found.changes:
            files.append(FileChange(path=path, content=encode(apply_changes(pins, found.changes)).encode()))
    affected = tuple(name for file in files for name in clusters[file.path])
    problems = _problems(job, head, rules, tuple(files), affected)
    report = PinsReport(changes=tuple(changes), clusters=affected, problems=problems)
    return Update(head=head, files=tuple(files), report=report, failures=tuple(failures))


def _problems(
    job: Job, head: str, rules: Settings, files: tuple[FileChange, ...], clusters: tuple[str, ...]
) -> tuple[str, ...]:
    """What the check says of the tree with the new pins, a line a cluster that does not pass."""
    if not files:
        return ()
    found: list[str] = []
    with TemporaryDirectory(prefix="kix-pins-") as folder:
        opened = job.builds.opened(head, rules)
        root = Path(folder)
        for name in opened.tree.files:
            _link(opened.tree.root / name, root / name)
        for file in files:
            place = root / file.path
            place.unlink()
            place.write_bytes(file.content or b"")
        changed = replace(opened, tree=replace(opened.tree, root=root, clean=False, commit=None))
        for name in clusters:
            try:
                built = build_cluster(changed, name)
            except KixError as error:
                found.append(f"{name}: {error.message}")
                continue
            report = check(built.build, pins=built.pins, today=job.today())
            if exit_code(report) is not ExitCode.DONE:
                first = next(iter((*report.eval_messages, *report.findings)), None)
                found.append(f"{name}: {first.message.splitlines()[0] if first else 'does not pass its checks'}")
    return tuple(found)


def _link(source: Path, target: Path) -> None:
    """The same file in another tree: a hard link, since the exported tree is never written to."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_symlink():
        target.symlink_to(source.readlink())
    else:
        target.hardlink_to(source)


def _write(job: Job, update: Update, branch: str, rules: Settings, mode: str) -> str | None:
    """The new commit on the default branch, None when it became a pull request."""
    reason = _why_not_direct(job, update, branch, rules) if mode == "commit" else None
    if mode == "commit" and reason is None:
        try:
            made = job.forge.commit_files(
                branch=branch, expected_head=update.head, message=commit_message(update.report), files=update.files
            )
        except (ProtectedBranchError, PermissionDeniedError) as error:
            reason = error.message
        else:
            job.say(f"pins: committed {made.sha[:12]} to {branch}")
            return made.sha
    if reason is not None:
        job.say(f"pins: proposed in a pull request instead: {reason}")
    _propose(job, update, branch, reason)
    return None


def _why_not_direct(job: Job, update: Update, branch: str, rules: Settings) -> str | None:
    """Why the pins are not committed directly although that is the mode, None when they may be."""
    if update.report.problems:
        return f"the check does not pass: {update.report.problems[0]}"
    if rules.pins.min_age or rules.pins.signed_by:
        return "min-age and signed-by ask for a person's eyes"
    if job.forge.is_protected(branch):
        return f"{branch} is protected"
    return None


def _propose(job: Job, update: Update, branch: str, reason: str | None) -> None:
    """One pull request from `kix/pins`, brought up to date in place."""
    forge = job.forge
    files = tuple(file.path for file in update.files)
    at = forge.find_branch(BRANCH)
    body, heading = render_body(update.report, reason=reason), title(update.report)
    opened = forge.find_open_pull_request(head_ref=BRANCH, base_ref=branch)
    if at is not None:
        compared = forge.compare(branch, BRANCH)
        viewer = forge.get_viewer()
        foreign = [commit for commit in compared.commits if commit.author != viewer]
        pins_files = set(files) | {file for file in compared.files if file.rpartition("/")[2] == "pins.json"}
        if foreign or not compared.complete or not set(compared.files) <= pins_files:
            raise RefusedError(
                f"branch {BRANCH}: holds commits or files that are not kixbot's, so it is left alone",
                hint=f"merge or delete {BRANCH}",
            )
        same = all(forge.find_file(file.path, ref=BRANCH) == file.content for file in update.files)
        if same and opened is not None and compared.merge_base == update.head:
            job.say(f"pins: pull request {opened.number} is up to date")
            return
    forge.replace_branch(
        branch=BRANCH,
        expected_head=at,
        base=update.head,
        message=commit_message(update.report),
        files=update.files,
    )
    if opened is None:
        opened = forge.open_pull_request(head_ref=BRANCH, base_ref=branch, title=heading, body=body)
        job.say(f"pins: opened pull request {opened.number} with {count(len(update.report.changes), 'pin')}")
    else:
        forge.update_pull_request(opened.number, title=heading, body=body)
        job.say(f"pins: brought pull request {opened.number} up to date")
