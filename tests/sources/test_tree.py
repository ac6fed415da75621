"""Trees from git: written by kix itself, from objects alone."""

import os
import shutil
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from kixbot.errors import ExitCode, GitError, KixError, SourceError, UsageError
from kixbot.sources import checkout, tree
from kixbot.sources.git import Header, Repository
from tests.sources.git_trees import blob, commit, commit_tree, git, repository, tree as tree_of

CANARY = "canary-4711"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "repo", {"a.txt": "one\n", "deep/er/b.sh": "two\n"})


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def export_failure(repo: Path, into: Path, ref: str = "evil") -> KixError:
    with pytest.raises(KixError) as caught:
        tree.export_ref(repo, ref, into)
    return caught.value


def test_a_commit_is_written_out_with_modes_and_links(repo: Path, into: Path) -> None:
    (repo / "deep/er/b.sh").chmod(0o755)
    (repo / "link").symlink_to("deep/er/../er/b.sh")
    sha = commit(repo, {})
    found = tree.export_ref(repo, "main", into)
    assert found == tree.Tree(
        root=into, files=("a.txt", "deep/er/b.sh", "link"), commit=sha, head=sha, branch="main", remote=None, clean=True
    )
    assert (into / "a.txt").read_text() == "one\n"
    assert os.access(into / "deep/er/b.sh", os.X_OK)
    assert not os.access(into / "a.txt", os.X_OK)
    assert (into / "link").readlink() == Path("deep/er/../er/b.sh")


def test_an_older_commit_a_tag_and_a_remote_branch_are_refs_too(repo: Path, into: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    git(repo, "tag", "-a", "v1", "-m", "x")
    commit(repo, {"a.txt": "new\n"})
    git(repo, "update-ref", "refs/remotes/origin/topic", first)
    git(repo, "pack-refs", "--all")
    own = Repository(into, repo)
    assert [own.resolve(ref) for ref in ("HEAD~1", "v1", "origin/topic", first[:12])] == [first] * 4


@pytest.mark.parametrize("ref", ["nope", "--help", "-h", "HEAD:a.txt", "", "main..main", "--output=x"])
def test_a_ref_that_names_no_commit_is_a_usage_error(repo: Path, into: Path, ref: str) -> None:
    error = export_failure(repo, into, ref)
    assert (type(error), error.message) == (UsageError, f"{ref!r} names no commit")
    assert list(into.iterdir()) == []


def test_a_commit_that_was_not_fetched_is_said_so(repo: Path, into: Path) -> None:
    error = export_failure(repo, into, "f" * 40)
    assert (type(error), error.exit_code) == (GitError, ExitCode.OUTSIDE)
    assert error.message == f"commit {'f' * 40} is not in this clone"


def test_no_hook_filter_attribute_or_setting_of_the_repository_takes_part(
    repo: Path, into: Path, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    for hook in ("post-checkout", "post-index-change", "reference-transaction"):
        script = repo / ".git/hooks" / hook
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!/bin/sh\necho {hook} >> {ran}\n")
        script.chmod(0o755)
    commit(
        repo,
        {".gitattributes": "* export-ignore filter=evil ident\n*.txt export-subst\n", "a.txt": "$Format:%H$ $Id$\n"},
    )
    ran.unlink(missing_ok=True)
    for key, value in (
        ("filter.evil.smudge", f"touch {ran}"),
        ("core.fsmonitor", f"touch {ran}"),
        ("core.sshCommand", f"touch {ran}"),
        ("core.alternateRefsCommand", f"touch {ran}"),
        ("alias.ls-tree", f"!touch {ran}"),
        ("core.worktree", "/"),
        ("include.path", "/nonexistent"),
    ):
        git(repo, "config", key, value)
    found = tree.export_ref(repo, "main", into)
    assert found.files == (".gitattributes", "a.txt", "deep/er/b.sh")
    assert (into / "a.txt").read_text() == "$Format:%H$ $Id$\n"
    assert not ran.exists()


def test_a_working_tree_runs_nothing_of_the_repository_either(repo: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    git(repo, "config", "core.fsmonitor", f"touch {ran}")
    git(repo, "config", "filter.evil.clean", f"touch {ran}")
    (repo / ".gitattributes").write_text("* filter=evil\n")
    (repo / "a.txt").write_text("changed\n")
    found = tree.working_tree(repo)
    assert found.clean is False
    assert not ran.exists()


def test_replacements_are_not_believed(repo: Path, into: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    second = commit(repo, {"a.txt": "the true one\n"})
    git(repo, "replace", second, first)
    tree.export_ref(repo, second, into)
    assert (into / "a.txt").read_text() == "the true one\n"


def test_a_checkout_of_another_owner_is_read_all_the_same(repo: Path, into: Path) -> None:
    """As a CI's mounted workspace; git itself refuses it as of dubious ownership."""
    for folder, names, files in os.walk(repo):
        for name in (*names, *files):
            os.lchown(Path(folder) / name, 65534, 65534)
    os.chown(repo, 65534, 65534)
    assert tree.export_ref(repo, "main", into).files == ("a.txt", "deep/er/b.sh")


def test_a_shallow_clone_is_read_with_its_shallow_file(repo: Path, into: Path, tmp_path: Path) -> None:
    commit(repo, {"a.txt": "second\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo}", "clone")
    assert tree.export_ref(tmp_path / "clone", "HEAD", into).files == ("a.txt", "deep/er/b.sh")


def test_a_linked_worktree_is_read_from_its_main_folder(repo: Path, into: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "linked"))
    found = tree.export_ref(tmp_path / "linked", "topic", into)
    assert (found.branch, found.files) == ("topic", ("a.txt", "deep/er/b.sh"))
    assert tree.working_tree(tmp_path / "linked").branch == "topic"


def test_a_partial_clone_is_named_and_never_fetches(repo: Path, into: Path, tmp_path: Path) -> None:
    git(repo, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", f"file://{repo}", "clone")
    error = export_failure(tmp_path / "clone", into, "HEAD")
    assert type(error) is GitError
    assert error.message.endswith("is not in this clone")
    assert error.hint == "fetch without filters: no partial clone"


def test_submodules_stay_out(repo: Path, into: Path) -> None:
    sha = git(repo, "rev-parse", "HEAD")
    commit_tree(repo, [("100644", "a", blob(repo, "x")), ("160000", "module", sha)])
    assert tree.export_ref(repo, "evil", into).files == ("a",)
    assert [path.name for path in into.iterdir()] == ["a"]


@pytest.mark.parametrize("name", ["..", ".", ".git", ".GIT", ".Git"])
def test_a_path_that_leaves_the_tree_or_enters_git_is_refused(repo: Path, into: Path, name: str) -> None:
    inner = tree_of(repo, [("100644", "x", blob(repo, CANARY))])
    commit_tree(repo, [("40000", name, inner)])
    error = export_failure(repo, into)
    assert (type(error), error.message) == (
        SourceError,
        f"{name}/x: a path that leaves the tree or enters git's own files",
    )
    assert list(into.iterdir()) == []
    assert not (into.parent / "x").exists()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("/etc/passwd", "link: symbolic link to an absolute path"),
        ("../../etc/passwd", "link: symbolic link leads outside the tree"),
        ("deep/../../x", "link: symbolic link leads outside the tree"),
        ("link", "link: symbolic links form a loop"),
    ],
)
def test_a_link_that_leads_out_or_in_circles_ends_the_run_by_name(
    repo: Path, into: Path, target: str, message: str
) -> None:
    commit_tree(repo, [("120000", "link", blob(repo, target))])
    error = export_failure(repo, into)
    assert (type(error), error.message) == (SourceError, message)


def test_links_are_resolved_through_the_tree_s_own_links(repo: Path, into: Path) -> None:
    """`in` points to `deep`, so `in/../../x` is one folder above the tree, although its text is not."""
    deep = tree_of(repo, [("120000", "up", blob(repo, ".."))])
    commit_tree(
        repo,
        [("40000", "deep", deep), ("120000", "in", blob(repo, "deep/up")), ("120000", "out", blob(repo, "in/../x"))],
    )
    assert export_failure(repo, into).message == "out: symbolic link leads outside the tree"


def test_a_file_is_never_written_through_a_link_of_the_same_name(repo: Path, into: Path, tmp_path: Path) -> None:
    """One tree may hold `a` twice: as a link, and as a folder with files."""
    (tmp_path / "into" / "b").mkdir(parents=True, exist_ok=True)
    shutil.rmtree(into)
    into.mkdir()
    inner = tree_of(repo, [("100644", "x", blob(repo, CANARY))])
    commit_tree(repo, [("120000", "a", blob(repo, "b")), ("40000", "a", inner), ("100644", "b", blob(repo, "x"))])
    error = export_failure(repo, into)
    assert (type(error), error.message) == (SourceError, "a: stands twice in the tree")


def test_a_tree_beyond_the_bound_is_refused(repo: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MAX_TREE", 4)
    assert export_failure(repo, into, "main").message == "the tree takes more than 64 MiB"


def test_a_working_tree_is_what_git_would_commit(repo: Path) -> None:
    for name, text in ((".gitignore", "ignored\n"), ("ignored", CANARY), ("new", "x")):
        (repo / name).write_text(text)
    (repo / "a.txt").unlink()
    repository(repo / "nested", {"x": "y"})
    found = tree.working_tree(repo / "deep")
    assert found.files == (".gitignore", "deep/er/b.sh", "new")
    assert (found.commit, found.head, found.branch, found.clean) == (
        None,
        git(repo, "rev-parse", "HEAD"),
        "main",
        False,
    )
    assert found.find("new") == repo / "new"
    assert found.find("ignored") is None
    assert found.find("deep") == repo / "deep"


def test_a_committed_working_tree_is_clean(repo: Path) -> None:
    assert tree.working_tree(repo).clean is True


def test_without_git_the_tree_is_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain" / ".git").mkdir(parents=True)
    (tmp_path / "plain" / ".git" / "config").write_text(CANARY)
    (tmp_path / "plain" / "a").write_text("x")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    found = tree.working_tree(tmp_path / "plain")
    assert (found.files, found.commit, found.clean) == (("a",), None, None)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://user:{CANARY}@example.com/a/b.git", "https://example.com/a/b.git"),
        (f"https://{CANARY}@example.com/a?token={CANARY}#{CANARY}", "https://example.com/a"),
        (f"ssh://git:{CANARY}@example.com:22/a", "ssh://git@example.com:22/a"),
        ("git@example.com:a/b.git", "git@example.com:a/b.git"),
        ("/srv/a.git", "/srv/a.git"),
    ],
)
def test_an_address_is_shown_without_credentials(repo: Path, url: str, shown: str) -> None:
    git(repo, "remote", "add", "origin", url)
    assert tree.working_tree(repo).remote == shown
    assert checkout.without_credentials(url) == shown


def test_a_commit_is_fetched_by_its_hash_into_kix_s_own_repository(repo: Path, into: Path, tmp_path: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    commit(repo, {"a.txt": "second\n"})
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repo}", "clone")
    own = Repository(tmp_path, tmp_path / "clone")
    assert own.find(first) is None
    own.fetch(f"file://{repo}", first)
    assert tree.write(own, own.resolve(first), into) == ("a.txt", "deep/er/b.sh")
    assert (into / "a.txt").read_text() == "one\n"
    assert own.show(first, "a.txt") == b"one\n"
    assert own.show(first, "a*") is None
    assert own.show(first, "deep") is None


def test_the_header_of_a_fetch_goes_to_its_address_only_and_stands_in_no_command_line(
    into: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    got: list[str | None] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            got.append(self.headers["Authorization"])
            self.send_response(404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    real = shutil.which("git")
    script = tmp_path / "bin" / "git"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/arguments\nexec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    own = Repository(into)
    with HTTPServer(("127.0.0.1", 0), Server) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        here = f"http://127.0.0.1:{server.server_port}/"
        for scope in (here, "http://example.com/"):
            with pytest.raises(GitError) as caught:
                own.fetch(f"{here}a.git", "f" * 40, header=Header(url=scope, value=f"Authorization: {CANARY}"))
            assert CANARY not in f"{caught.value.message}{caught.value.hint}"
        server.shutdown()
    assert got == [CANARY, None]
    assert CANARY not in (tmp_path / "arguments").read_text()


def test_without_git_a_ref_says_how_to_get_it(repo: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(into))
    error = export_failure(repo, into, "main")
    assert (type(error), error.message) == (GitError, "git is not installed")


def test_trees_that_list_each_other_a_billion_times_are_refused_before_they_fill_memory(repo: Path, into: Path) -> None:
    inner = tree_of(repo, [("100644", f"f{number}", blob(repo, "x")) for number in range(10)])
    for _ in range(8):
        inner = tree_of(repo, [("40000", f"d{number}", inner) for number in range(10)])
    commit_tree(repo, [("40000", "top", inner)])
    error = export_failure(repo, into)
    assert (error.exit_code, error.message) == (ExitCode.SOURCE, "the tree has more than 200,000 files")
    assert list(into.iterdir()) == []
