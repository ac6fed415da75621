# Two commands do everything on a fresh machine: `make demo` and `make test`.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The virtual environment lies in the user's cache, never in the tree: an sdist would pick up its links.
VENV = $$(bash tests/parts/setup.sh --print-venv test)/bin
DEMO_VENV = $$(bash tests/parts/setup.sh --print-venv demo)/bin

.PHONY: help
help: ## show this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: ## install what development and tests need
	@bash tests/parts/setup.sh test

.PHONY: demo
demo: ## run the whole main job on embedded defaults, in under two minutes
	@bash tests/parts/setup.sh demo
	@"$(DEMO_VENV)/kixbot" demo

.PHONY: test
test: setup lint types docs-check unit ## set up, then lint, types, docs and every test

.PHONY: unit
unit:
	@"$(VENV)/python" -m pytest -n 4 --dist loadgroup -m "not soak"

.PHONY: soak
soak: setup ## tests that need minutes of waiting
	@"$(VENV)/python" -m pytest -n 2 -m soak

.PHONY: newcomer
newcomer: ## a fresh Debian, a clone, and the README's first command
	@bash tests/soak/newcomer.sh "$(CURDIR)"

.PHONY: lint
lint: ## ruff and the floors of the house
	@"$(VENV)/ruff" check .
	@"$(VENV)/ruff" format --check .
	@"$(VENV)/lint-imports" --no-logo

.PHONY: types
types: ## mypy, strict
	@"$(VENV)/mypy"

.PHONY: golden
golden: ## rewrite golden files; review them with git diff
	@"$(VENV)/python" -m pytest -n 4 --dist loadgroup -m "not soak" --golden

.PHONY: docs
docs: ## regenerate generated docs: pages of checks, README output
	@"$(VENV)/python" -m docs.generate

.PHONY: docs-check
docs-check: ## generated docs are fresh
	@"$(VENV)/python" -m docs.generate --check

.PHONY: lock
lock: ## resolve the locked requirements again
	@bash tests/parts/lock.sh

.PHONY: bench
bench: setup ## what kix costs beside the least there is to do, as ratios
	@PYTHONPATH="$(CURDIR)" "$(VENV)/python" -m bench

.PHONY: cluster
cluster: setup ## start a control plane on loopback and print its kubeconfig
	@"$(VENV)/python" -m tests.parts.control_plane
