"""Unpacks the parts that are Debian packages into the cache, installing nothing on the machine.

`apt-get download` and `dpkg-deb -x` need no root, start no service and leave the machine's packages as they are.
"""

import os
import re
import shutil
from pathlib import Path

from tests.parts.commands import run
from tests.parts.paths import HERE, Part, cache

NIX_RELEASE = "trixie"  # Debian 13
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
UNSANDBOXED = ("-o", "APT::Sandbox::User=root")  # the cache folder is not readable for apt's own user

# What nix-bin needs of its closure: shared libraries, but not Perl's (nix's own programs are not Perl; 26 MB).
LIBRARIES = re.compile(r"^(nix-bin|zlib1g|lib(?!perl|dbi-perl|dbd-sqlite3-perl|www-curl-perl)[^_]*)_")


class ArchiveUnknownError(Exception):
    """This machine's package sources do not say where Debian's archive is."""


def make_registry(part: Part, folder: Path) -> str:
    """Unpacks docker-registry; returns its version in this machine's release."""
    packages = folder / "packages"
    packages.mkdir()
    run(["apt-get", "-qq", *UNSANDBOXED, "download", part.name], cwd=packages)
    (package,) = packages.glob("*.deb")
    _unpack(package, folder / "root")
    shutil.rmtree(packages)
    (folder / "bin").mkdir()
    (folder / "bin" / part.name).symlink_to(f"../root/usr/bin/{part.name}")
    return package.name.split("_")[1]


def make_nix(part: Part, folder: Path) -> str:
    """Unpacks Debian 13's nix-bin with the libraries it needs; returns its version.

    apt is given its own lists and an empty list of installed packages: so it resolves the whole closure, the C library
    included, and the machine's own sources stay as they are.
    """
    apt = cache() / "tmp" / "apt"
    shutil.rmtree(apt, ignore_errors=True)
    for inner in ("lists/partial", "archives/partial", "preferences", "sources"):
        (apt / inner).mkdir(parents=True)
    (apt / "status").touch()
    (apt / "sources.list").write_text(f"deb [signed-by={KEYRING}] {_archive()} {NIX_RELEASE} main\n")
    options = {
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "true",
        "Dir::Cache": str(apt),
        "Dir::Cache::archives": str(apt / "archives"),
        "Dir::Etc::preferencesparts": str(apt / "preferences"),
        "Dir::Etc::sourcelist": str(apt / "sources.list"),
        "Dir::Etc::sourceparts": str(apt / "sources"),
        "Dir::State": str(apt),
        "Dir::State::lists": str(apt / "lists"),
        "Dir::State::status": str(apt / "status"),
    }
    arguments = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    run([*arguments, "update"])
    run([*arguments, "install", "--yes", "--no-install-recommends", "--download-only", "nix-bin"])
    packages = [package for package in sorted((apt / "archives").glob("*.deb")) if LIBRARIES.match(package.name)]
    for package in packages:
        _unpack(package, folder / "root")
    shutil.rmtree(folder / "root" / "usr" / "share", ignore_errors=True)
    _link_programs(folder)
    shutil.rmtree(apt)
    return next(package.name.split("_")[1] for package in packages if package.name.startswith("nix-bin_"))


def _link_programs(folder: Path) -> None:
    shutil.copy(HERE / "nix-wrapper.sh", folder / "nix-wrapper.sh")
    (folder / "nix-wrapper.sh").chmod(0o755)
    (folder / "bin").mkdir()
    for program in sorted((folder / "root" / "usr" / "bin").glob("nix*")):
        (folder / "bin" / program.name).symlink_to("../nix-wrapper.sh")
    (folder / "etc").mkdir()
    # No substitutes: without a network it would ask its binary cache for 8 seconds first.
    (folder / "etc" / "nix.conf").write_text("sandbox = false\nsubstitute = false\nbuild-users-group =\n")


def _archive() -> str:
    """The address of Debian's archive: from this machine's own package sources, since it may use a mirror."""
    given = os.environ.get("KIX_DEBIAN_ARCHIVE", "")
    if given:
        return given
    listed = run(["apt-get", "indextargets", "--format", "$(ORIGIN) $(LABEL) $(REPO_URI)", "Identifier: Packages"])
    for line in listed.splitlines():
        if line.startswith("Debian Debian "):
            return line.split()[2]
    raise ArchiveUnknownError(
        "none of this machine's package sources is Debian's archive\nhint: KIX_DEBIAN_ARCHIVE=<its address> make setup",
    )


def _unpack(package: Path, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    run(["dpkg-deb", "-x", package, folder])
