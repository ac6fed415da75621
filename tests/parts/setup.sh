#!/usr/bin/env bash
# Makes this machine ready for the demo or for the tests, installing only what
# is missing. Debian or Ubuntu, as root or with sudo; elsewhere it says what to
# install. Everything but Nix goes into the user's cache folder.
#
#   bash tests/parts/setup.sh demo            Nix, Python packages, kix itself
#   bash tests/parts/setup.sh test            and the real parts that tests run against
#   bash tests/parts/setup.sh --print-venv demo|test
#   bash tests/parts/setup.sh --print-uv
set -euo pipefail
project=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/kix
python=${PYTHON:-python3}

say() { echo "setup: $*" >&2; }
stop() { # MESSAGE HINT
  say "$1"
  echo "hint: $2" >&2
  exit 4
}
has() { command -v "$1" >/dev/null 2>&1; }
digest() { if has sha256sum; then sha256sum; else shasum -a 256; fi | cut -c1-12; }

lock_of() { # LEVEL
  case $1 in
    demo) echo "$project/kixbot/requirements.txt" ;;
    test) echo "$project/tests/parts/requirements-dev.txt" ;;
    *) say "no level is called '$1'"; echo "hint: setup.sh demo|test" >&2; exit 2 ;;
  esac
}

# One environment for each lock, Python and checkout: kix itself is installed in
# it as a link to the checkout, so two checkouts cannot share one.
venv_of() { # LEVEL
  local lock
  lock=$(lock_of "$1")
  echo "$cache/venv-$( { cat "$lock"; "$python" --version; echo "$project"; } | digest)"
}

uv_of() { # an installed uv, or the one that setup puts into the cache
  if has uv; then command -v uv; else
    echo "$cache/uv-$( { cat "$project/tests/parts/requirements-uv.txt"; "$python" --version; } | digest)/bin/uv"
  fi
}

apt_install() { # PACKAGE…
  has apt-get || stop "missing on this machine: $*" "install it with this system's own package manager"
  local root=()
  if [ "$(id -u)" != 0 ]; then
    has sudo || stop "missing on this machine: $*" "as root: apt-get install $*"
    root=(sudo)
  fi
  say "apt-get install $*"
  local install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "$@")
  if ! "${install[@]}" >/dev/null 2>&1; then
    say "apt-get update"
    "${root[@]}" apt-get update -qq
    "${install[@]}" >/dev/null
  fi
}

need_python() {
  has "$python" || stop "no python3 on this machine" "install Python 3.11 or newer"
  "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    stop "$("$python" --version) is older than 3.11" "PYTHON=python3.12 make setup"
}

need_nix() {
  has nix-instantiate && return
  if [ "$(uname -s)" != Linux ] || ! has apt-get; then
    stop "no Nix on this machine (nix-instantiate)" "install Nix as nixos.org/download says, then try again"
  fi
  apt_install nix-bin
}

need_uv() {
  local uv bin
  uv=$(uv_of)
  [ -x "$uv" ] && return
  "$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv
  say "uv: into ${uv%/bin/uv}"
  bin=$(dirname "$uv")
  rm -rf "${bin%/bin}"
  "$python" -m venv "${bin%/bin}"
  "$bin/pip" install --quiet --disable-pip-version-check --require-hashes \
    -r "$project/tests/parts/requirements-uv.txt" || { rm -rf "${bin%/bin}"; exit 1; }
}

need_venv() { # LEVEL
  local lock venv uv
  lock=$(lock_of "$1")
  venv=$(venv_of "$1")
  [ -f "$venv/made-for" ] && return
  need_uv
  uv=$(uv_of)
  use_the_index_of_pip "$(dirname "$uv")/pip"
  forget_old_venvs "$1"
  say "Python packages of ${lock#"$project"/}: into $venv"
  "$uv" venv --quiet --clear --python "$python" "$venv"
  # Tests start many Pythons, on machines that may not let them write bytecode: ten seconds here save minutes.
  local compile=()
  [ "$1" = demo ] || compile=(--compile-bytecode)
  "$uv" pip install --quiet ${compile[@]+"${compile[@]}"} --python "$venv/bin/python" --require-hashes -r "$lock"
  link_project "$venv"
  echo "$1 $project" >"$venv/made-for"
}

# uv does not read pip's settings, and a company's mirror usually stands there.
use_the_index_of_pip() { # PIP
  local index=${UV_DEFAULT_INDEX:-${UV_INDEX_URL:-${PIP_INDEX_URL:-}}}
  if [ -z "$index" ] && [ -x "$1" ]; then
    index=$("$1" config get global.index-url 2>/dev/null || true)
  fi
  if [ -n "$index" ]; then export UV_DEFAULT_INDEX=$index; fi
}

# What an editable install would put there, without a build backend to fetch.
link_project() { # VENV
  local packages name
  packages=$("$1/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$project" >"$packages/kixbot-checkout.pth"
  for name in kix:kixbot.cli.main kixbot:kixbot.bot.main; do
    printf '#!%s\nimport sys\n\nfrom %s import main\n\nif __name__ == "__main__":\n    sys.exit(main())\n' \
      "$1/bin/python" "${name#*:}" >"$1/bin/${name%%:*}"
    chmod +x "$1/bin/${name%%:*}"
  done
}

# Those of a checkout that is gone, and this checkout's own of the same level
# that nobody made or touched for a day: another shell may be using a newer one.
forget_old_venvs() { # LEVEL
  local file level checkout
  for file in "$cache"/venv-*/made-for; do
    [ -f "$file" ] || continue
    read -r level checkout <"$file"
    if [ ! -d "$checkout" ] ||
      { [ "$level $checkout" = "$1 $project" ] && [ -n "$(find "$file" -mtime +0)" ]; }; then
      say "forgetting ${file%/made-for}"
      rm -rf "${file%/made-for}"
    fi
  done
}

need_parts() {
  [ "$(uname -s)" = Linux ] || stop "the tests' real parts run on Linux only" "make demo, or a Linux machine"
  has git || apt_install git
  has setpriv || apt_install util-linux
  has rsync || apt_install rsync # gitlab-ci-local copies the checkout with it
  if ! has dpkg-deb || ! has apt-get; then
    stop "no dpkg-deb or apt-get on this machine" "make demo works here; make test needs Debian or Ubuntu"
  fi
  (cd "$project" && "$(venv_of test)/bin/python" -m tests.parts.build)
}

main() {
  case ${1:-} in
    --print-venv) venv_of "${2:-}"; return ;;
    --print-uv) need_uv; uv_of; return ;;
  esac
  local level=${1:-}
  lock_of "$level" >/dev/null
  need_python
  need_nix
  mkdir -p "$cache"
  if has flock; then
    exec 9>"$cache/setup.lock"
    flock 9
  fi
  need_venv "$level"
  if [ "$level" = test ]; then need_parts; fi
}

main "$@"
