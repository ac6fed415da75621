"""What a definition may do while it is evaluated: compute, and nothing else."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import orjson
import pytest
import yaml

from kixbot.errors import ExitCode, KixError, NixError, SourceError
from kixbot.sources import nix, sandbox
from kixbot.sources.sandbox import Bounds
from tests.parts.second_nix import Nix
from tests.sources.conftest import MakeTree

CANARY = "canary-4711"
REPOSITORY = Path(__file__).resolve().parents[2]


def failure(make_tree: MakeTree, expression: str, **files: str) -> KixError:
    tree = make_tree({"a.nix": "{ }", **files})
    with pytest.raises(KixError) as caught:
        nix.expression(tree, expression, bounds=Bounds(seconds=60))
    said = f"{caught.value.message}\n{caught.value.hint}"
    assert "-tree" not in said
    assert "kix-nix-" not in said
    assert "Traceback" not in said
    assert "\x1b" not in said
    return caught.value


# Each of these gave something away, or went out, under --restrict-eval or under --pure-eval alone.
LEAKS = {
    "a file by a path": "builtins.readFile /etc/passwd",
    "a file by text": 'builtins.readFile "/etc/passwd"',
    "a file below the tree's parent": 'builtins.readFile "${tree}/../../../etc/passwd"',
    "a folder": 'builtins.readDir "/"',
    "git's configuration": 'builtins.readFile "${tree}/.git/config"',
    "NIX_PATH": "<nixpkgs>",
    "the clock": "builtins.currentTime",
    "the system": "builtins.currentSystem",
    "a store path": 'builtins.storePath "/nix/store/0000000000000000000000000000000-x"',
    "a copied file": "builtins.path { path = /etc/passwd; }",
    "a copied file of a known hash": 'builtins.path { path = "/etc/passwd"; sha256 = "0000000000000000000000000000000000000000000000000000"; }',
    "the names in a folder": 'builtins.path { path = "/etc"; sha256 = "0000000000000000000000000000000000000000000000000000"; filter = p: t: throw "root: ${p}"; }',
    "a filtered folder": "builtins.filterSource (p: t: true) /etc",
    "a program": 'builtins.exec [ "id" ]',
    "a built file": 'builtins.readFile (derivation { name = "x"; system = "x"; builder = "/bin/sh"; })',
    "an imported build": 'import (derivation { name = "x"; system = "x"; builder = "/bin/sh"; })',
    "getFlake of a path": 'builtins.getFlake "path:/etc"',
    "getFlake of an address": 'builtins.getFlake "http://127.0.0.1:PORT/x"',
    "fetchTree": 'builtins.fetchTree { type = "path"; path = "/etc"; }',
    "fetchGit of a path": 'builtins.fetchGit "/"',
    "fetchGit of an address": 'builtins.fetchGit "http://127.0.0.1:PORT/x"',
    "fetchGit by hash": 'builtins.fetchGit { url = "http://127.0.0.1:PORT/x"; rev = "ffffffffffffffffffffffffffffffffffffffff"; }',
    "fetchMercurial of the tree": 'builtins.fetchMercurial "${tree}"',
    "fetchMercurial of a path": 'builtins.fetchMercurial "/"',
    "fetchurl": 'builtins.fetchurl "http://127.0.0.1:PORT/x"',
    "fetchurl of a file": 'builtins.fetchurl "file:///etc/passwd"',
    "fetchurl by hash": 'builtins.fetchurl { url = "http://127.0.0.1:PORT/x"; sha256 = "0000000000000000000000000000000000000000000000000000"; }',
    "fetchTarball": 'fetchTarball "http://127.0.0.1:PORT/x"',
    "fetchTarball by hash": 'fetchTarball { url = "http://127.0.0.1:PORT/x"; sha256 = "0000000000000000000000000000000000000000000000000000"; }',
    "fetchTarball of a file": 'fetchTarball { url = "file:///etc/passwd"; sha256 = "0000000000000000000000000000000000000000000000000000"; }',
    "fetchTarball of kix's own address": 'fetchTarball "kix:tree/../../etc/passwd"',
}  # fmt: skip


@pytest.mark.parametrize("leak", LEAKS)
@pytest.mark.usefixtures("each_nix")
def test_a_definition_reads_nothing_but_its_tree_and_reaches_nobody(
    leak: str, make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the network open: where no namespace is to be had, Nix's own bounds must do."""
    monkeypatch.setattr(sandbox, "isolation", tuple)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        error = failure(make_tree, LEAKS[leak].replace("PORT", str(server.getsockname()[1])))
        with pytest.raises(TimeoutError):
            server.accept()
    assert (type(error), error.exit_code) == (SourceError, ExitCode.SOURCE)
    assert "root:" not in error.message


@pytest.mark.usefixtures("each_nix")
def test_a_definition_sees_no_environment_and_no_search_path(
    make_tree: MakeTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", CANARY)
    monkeypatch.setenv("NIX_PATH", f"secret=/etc/{CANARY}")
    monkeypatch.setenv("NIX_CONFIG", "restrict-eval = false")
    seen = nix.expression(
        make_tree({"a.nix": "{ }"}),
        '{ token = builtins.getEnv "GITHUB_TOKEN"; home = builtins.getEnv "HOME"; path = builtins.nixPath; '
        'passwd = builtins.tryEval (builtins.pathExists "/etc/passwd"); }',
    ).value
    assert (seen["token"], seen["home"], seen["path"]) == ("", "", [])
    assert seen["passwd"]["value"] is False


def test_nix_is_given_an_environment_of_its_own(
    make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("nix-store")
    dump = f"{sys.base_prefix}/bin/python3 -I -c 'import json, os; print(json.dumps(dict(os.environ)))'"
    for name, body in (("nix-store", f'exec {real} "$@"'), ("nix-instantiate", dump)):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("GITHUB_TOKEN", CANARY)
    seen = nix.expression(make_tree({"a.nix": ""}), "1").value
    own = {"HOME", "LC_ALL", "NIX_CONF_DIR", "NIX_USER_CONF_FILES", "PATH", "TMPDIR", "USER"}
    assert set(seen) - {"PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE"} == own
    assert (seen["NIX_USER_CONF_FILES"], Path(seen["PATH"]).name) == ("/dev/null", "empty")


def test_a_network_namespace_has_no_network(tmp_path: Path) -> None:
    assert sandbox.isolation(), "no network namespace to be had here"
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}/"
        script = tmp_path / "child"
        script.write_text(f"#!/bin/sh\nexec {shutil.which('git')} ls-remote {address}\n")
        script.chmod(0o755)
        outcome = sandbox.run([str(script)], env={"PATH": os.environ["PATH"]}, folder=tmp_path, network=False)
    assert outcome.code != 0
    assert "Failed to connect" in outcome.messages or "Couldn't connect" in outcome.messages


def test_the_user_s_nix_configuration_has_no_say(
    make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "nix").mkdir()
    (tmp_path / "nix" / "nix.conf").write_text(
        "pure-eval = false\nrestrict-eval = false\nexperimental-features = flakes\n"
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("NIX_CONF_DIR", str(tmp_path / "nix"))
    monkeypatch.setenv("NIX_USER_CONF_FILES", str(tmp_path / "nix" / "nix.conf"))
    assert "forbidden" in failure(make_tree, "builtins.readFile /etc/passwd").message


def test_git_s_own_folder_is_no_part_of_the_tree(make_tree: MakeTree, tmp_path: Path) -> None:
    (tmp_path / "tree" / ".git").mkdir(parents=True)
    (tmp_path / "tree" / ".git" / "config").write_text(CANARY)
    assert nix.expression(make_tree({"a.nix": "{ }"}), "builtins.readDir tree").value == {"a.nix": "regular"}


@pytest.mark.usefixtures("each_nix")
def test_the_same_files_give_the_same_bytes_from_two_folders(make_tree: MakeTree) -> None:
    files = {"a.nix": "{ b = ./b; c = import ./d/c.nix; }", "b": "text", "d/c.nix": "1"}
    found = [nix.expression(make_tree(files, folder), 'import "${tree}/a.nix"') for folder in ("one", "other")]
    assert found[0].tree_name == found[1].tree_name
    assert found[0].value["c"] == found[1].value["c"] == 1


SCRIPT = """
import sys
from pathlib import Path
from kixbot.ops.build import BuildRequest, build
from kixbot.output import build_json
from kixbot.sources import sandbox
if sys.argv[2] == "open":
    sandbox.isolation = lambda: ()
else:
    assert sandbox.isolation(), "no network namespace to be had here"
print(build_json.text(build(BuildRequest(directory=Path(sys.argv[1]), targets=("shop",))).build), end="")
"""

ACTIVATION = {
    "name": "shop-jcd5w36q2mny",
    "path": "/nix/store/jcd5w36q2mnync6bz6x8qi01qblqh3ix-Activation-shop.json",
}

DEFINITION = """{ kix, packages }:
kix.buildCluster {
  name = "shop";
  modules = [
    kix.flavors.kind
    { resources.shop.ConfigMap.web.data.greeting = "hello"; manifests = [ ../plain ]; }
  ];
}
"""


@pytest.mark.parametrize("which", ["first_nix", "second_nix"])
def test_root_nobody_and_a_network_make_no_difference(which: str, request: pytest.FixtureRequest) -> None:
    """Everything lies in a folder that nobody may read: caches and the tests' own folders are root's."""
    found: Nix = request.getfixturevalue(which)
    with tempfile.TemporaryDirectory(prefix="kix-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "home").mkdir()
        (folder / "home").chmod(0o777)
        _copy_code(folder / "code")
        _copy_nix(found, folder)
        outputs = []
        for place in ("one", "other"):
            tree = folder / place
            for file, text in (
                ("clusters/shop.nix", DEFINITION),
                ("plain/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: plain\n"),
            ):
                (tree / file).parent.mkdir(parents=True)
                (tree / file).write_text(text)
            for user in ([], ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]):
                outputs += [_build(folder, tree, user, network) for network in ("open", "closed")]
    assert len(outputs) == 8
    assert set(outputs) == {outputs[0]}
    document = json.loads(outputs[0])
    ids = [row["id"] for row in document["resources"]]
    assert ids == ["ConfigMap/plain@default", "ConfigMap/web@shop", "Namespace/shop"]
    assert document["activation"] == ACTIVATION


def _copy_code(place: Path) -> None:
    shutil.copytree(REPOSITORY / "kixbot", place / "kixbot", ignore=shutil.ignore_patterns("__pycache__", "templates"))
    for package in (orjson, yaml):
        source = Path(str(package.__file__)).parent
        shutil.copytree(source, place / source.name)


def _copy_nix(found: Nix, folder: Path) -> None:
    """What nobody may not read is copied; programs that its script needs are looked up in the usual places."""
    home = found.folder
    if not found.folder.is_relative_to("/usr"):
        shutil.copytree(found.folder.parent, folder / "nix", symlinks=True)
        home = folder / "nix" / found.folder.name
    (folder / "bin").mkdir()
    for name in ("nix-store", "nix-instantiate"):
        script = folder / "bin" / name
        script.write_text(f'#!/bin/sh\nPATH=/usr/bin:/bin exec {home / name} "$@"\n')
        script.chmod(0o755)


def _python() -> str:
    """An interpreter of this version that every user may start."""
    name = f"python3.{sys.version_info.minor}"
    candidates = [Path(folder) / name for folder in (f"{sys.base_prefix}/bin", "/usr/bin", "/usr/local/bin")]
    usable = [
        path for path in candidates if path.exists() and all(parent.stat().st_mode & 0o001 for parent in path.parents)
    ]
    assert usable, f"no {name} that nobody may start"
    return str(usable[0])


def _build(folder: Path, tree: Path, user: list[str], network: str) -> str:
    environment = {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "code"),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "home"),
    }
    command = [*user, _python(), "-c", SCRIPT, str(tree), network]
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("name", "text", "line", "message", "hint"),
    [
        (
            "unknown.nix",
            "{\n  a = foo;\n}\n",
            2,
            "undefined variable 'foo'",
            "check the spelling, and whether the argument is listed at the top",
        ),
        (
            "broken.nix",
            "{\n  a = 1\n}\n",
            3,
            "syntax error, unexpected '}', expecting ';'",
            "look at this line and the one before",
        ),
        (
            "absent.nix",
            "{ }:\nimport ./gone.nix\n",
            2,
            "gone.nix: no such file in the tree",
            "name a file of this tree that git knows: git add it",
        ),
        (
            "missing.nix",
            "let s = { };\nin\n  s.web\n",
            3,
            "attribute 'web' missing",
            "check the spelling: the set before the dot has no such name",
        ),
        (
            "coerced.nix",
            '{\n  a = "a${1}";\n}\n',
            2,
            "cannot coerce an integer to a string",
            "a value has another type than the place where it is used asks for",
        ),
        (
            "thrown.nix",
            '\n  throw "web: no such thing\\nhint: name another"\n',
            None,
            "web: no such thing",
            "name another",
        ),
    ],
)
def test_a_mistake_is_said_with_its_place(
    make_tree: MakeTree, name: str, text: str, line: int | None, message: str, hint: str | None
) -> None:
    call = " { }" if text.startswith("{ }:") else ""
    error = failure(make_tree, f'import "${{tree}}/{name}"{call}', **{name: text})
    assert isinstance(error, SourceError)
    assert (error.file, error.line, error.message, error.hint) == (name, line, message, hint)


def test_a_place_that_the_message_names_is_the_place(make_tree: MakeTree) -> None:
    """The library knows where a value was defined; the call that came upon it is elsewhere."""
    definition = (
        '{ kix, packages }:\nkix.buildCluster {\n  name = "shop";\n  modules = [ { cluster.nodes = "x"; } ];\n}\n'
    )
    tree = make_tree({"shop.nix": definition})
    with pytest.raises(SourceError) as caught:
        nix.evaluate(tree, "shop.nix")
    assert caught.value.message.startswith('option "cluster.nodes": expected ')
    assert (caught.value.file, caught.value.line) == ("shop.nix", 4)


def test_what_a_definition_throws_inside_a_resource_names_the_resource(make_tree: MakeTree) -> None:
    text = (
        '{ kix, packages }:\nkix.buildCluster {\n  name = "shop";\n  modules = [\n    {\n'
        '      resources.shop.ConfigMap.a.data.x = throw "boom";\n    }\n  ];\n}\n'
    )
    with pytest.raises(SourceError) as caught:
        nix.evaluate(make_tree({"shop.nix": text}), "shop.nix")
    assert (caught.value.message, caught.value.file, caught.value.line) == (
        "boom\n  in resource ConfigMap/a@shop",
        "shop.nix",
        6,
    )


def test_without_any_place_the_definition_is_named(make_tree: MakeTree) -> None:
    tree = make_tree(
        {"shop.nix": '{ kix, packages }:\nkix.buildCluster { name = "shop"; modules = [ (throw "no") ]; }\n'}
    )
    with pytest.raises(SourceError) as caught:
        nix.evaluate(tree, "shop.nix")
    assert (caught.value.message, caught.value.file) == ("no", "shop.nix")


def test_a_place_outside_the_message_is_found_by_a_second_run(make_tree: MakeTree) -> None:
    text = 'let\n  x =\n    builtins.fetchurl\n      "http://127.0.0.1:1/";\n  f = y: x;\nin\n  f 1\n'
    error = failure(make_tree, 'import "${tree}/a.nix"', **{"a.nix": text})
    assert isinstance(error, SourceError)
    assert error.file == "a.nix"


def test_a_call_without_end_is_a_fault_of_the_definition(make_tree: MakeTree) -> None:
    error = failure(make_tree, "let f = x: f x + 1; in f 1")
    assert (type(error), error.message) == (SourceError, "the definition calls itself without end: stack overflow")


def test_a_value_that_refers_to_itself_is_a_fault_of_the_definition(make_tree: MakeTree) -> None:
    assert failure(make_tree, "let a = a; in a").message == "infinite recursion encountered"


def bounded(make_tree: MakeTree, expression: str, bounds: Bounds) -> KixError:
    with pytest.raises(KixError) as caught:
        nix.expression(make_tree({"a.nix": "{ }"}), expression, bounds=bounds)
    return caught.value


ENDLESS = "builtins.foldl' (a: b: a + b) 0 (builtins.genList (x: x) 100000000)"


def test_running_out_of_memory_is_told_apart(make_tree: MakeTree) -> None:
    error = bounded(make_tree, ENDLESS, Bounds(address_space=600 * 2**20))
    assert (type(error), error.message) == (NixError, "nix ran out of memory")
    assert error.exit_code == ExitCode.OUTSIDE


def test_running_out_of_time_is_told_apart(make_tree: MakeTree) -> None:
    error = bounded(
        make_tree,
        "let f = x: if x == 0 then 0 else f (x - 1); in map f (builtins.genList (x: 9000) 1000000)",
        Bounds(seconds=1),
    )
    assert (type(error), error.message) == (NixError, "evaluation took too long")


def test_using_up_the_processor_is_told_apart(make_tree: MakeTree) -> None:
    error = bounded(
        make_tree,
        "let f = x: if x == 0 then 0 else f (x - 1); in map f (builtins.genList (x: 9000) 1000000)",
        Bounds(cpu_seconds=1),
    )
    assert (type(error), error.message) == (NixError, "evaluation used up its CPU time")


def test_more_output_than_is_read_is_told_apart(make_tree: MakeTree) -> None:
    error = bounded(make_tree, "builtins.genList (x: x) 100000", Bounds(output=1000))
    assert (type(error), error.message) == (SourceError, "the definition comes to more than 256 MiB")


def test_being_killed_is_told_apart(make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the kernel does it when the machine's memory is over."""
    real = shutil.which("nix-store")
    for name, body in (("nix-store", f'exec {real} "$@"'), ("nix-instantiate", "echo '{\"half\": '; kill -9 $$")):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    error = bounded(make_tree, "1", Bounds())
    assert (type(error), error.message) == (NixError, "nix was killed")
    assert error.hint == "is the machine out of memory? see its system log"


def test_half_a_document_is_no_document(make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nix prints while it evaluates: only its exit code says whether the document is whole."""
    real = shutil.which("nix-store")
    for name, body in (
        ("nix-store", f'exec {real} "$@"'),
        ("nix-instantiate", "echo '{}'; echo 'the disk is full' >&2; exit 1"),
    ):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert bounded(make_tree, "1", Bounds()).message == "nix failed with exit code 1: the disk is full"


def test_without_nix_the_answer_is_how_to_get_it(
    make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    error = bounded(make_tree, "1", Bounds())
    assert (type(error), error.exit_code) == (NixError, ExitCode.OUTSIDE)
    assert error.message == "nix is not installed, and a definition in Nix needs it"
    assert error.hint
    assert "apt-get install nix-bin" in error.hint


def test_the_folder_one_stands_in_gives_no_nix(
    make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("nix-store", "nix-instantiate"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 9\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{os.pathsep}.{os.pathsep}{os.environ['PATH']}")
    assert nix.expression(make_tree({"a.nix": "{ }"}), "1").value == 1


def test_nothing_is_left_behind(make_tree: MakeTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    nix.expression(make_tree({"a.nix": "{ }", "deep/er/b": "x"}), "1")
    failure(make_tree, "builtins.readFile /etc/passwd")
    assert list(place.iterdir()) == []


def test_what_a_child_leaves_running_is_ended(tmp_path: Path) -> None:
    script = tmp_path / "child"
    script.write_text("#!/bin/sh\n/bin/sleep 60 &\necho done\n/bin/sleep 60\n")
    script.chmod(0o755)
    before = threading.active_count()
    outcome = sandbox.run([str(script)], env={}, folder=tmp_path, bounds=Bounds(seconds=0.5))
    assert (outcome.end, outcome.output) == (sandbox.End.TIMED_OUT, b"done\n")
    assert threading.active_count() == before


def test_of_messages_the_tail_is_kept(tmp_path: Path) -> None:
    script = tmp_path / "child"
    script.write_text("#!/bin/sh\nprintf '%01000d' 0 >&2\necho end >&2\nexit 3\n")
    script.chmod(0o755)
    outcome = sandbox.run([str(script)], env={}, folder=tmp_path, bounds=Bounds(messages=10))
    assert (outcome.end, outcome.code, outcome.messages) == (sandbox.End.EXITED, 3, "000000end\n")
