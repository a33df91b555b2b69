# Slackwater. `make help` tells what there is; `make demo` and `make test` set up all they need on a fresh Debian-like machine.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ROUNDS ?= 3
SEEDS ?= 10000

.DEFAULT_GOAL := help
.PHONY: help venv demo test check test-host test-host-v1 test-host-v2 mutants soak bench clean

help: ## what there is
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: $(READY) ## .venv with slackwater and everything it is developed with, pinned by hash
$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed; name one with PYTHON=" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || tests/packages python3-venv
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: venv ## a service hurt, batch squeezed just enough, the service well again: on this machine, in about two minutes
	@$(BIN)/slackwater demo --rounds $(ROUNDS) $(ARGS)

test: venv ## the tests that need nothing but this checkout
	$(BIN)/pytest -m "not host"

check: venv ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-host: test-host-v1 test-host-v2 ## the same contracts and more on real kernels: this machine's, and cgroup v2 in a throw-away virtual machine

test-host-v1: venv
	@[ "$$(id -u)" = 0 ] || { echo "make test-host needs root: it makes cgroups" >&2; exit 3; }
	$(BIN)/pytest -m host

test-host-v2: venv
	@[ "$$(id -u)" = 0 ] || { echo "make test-host needs root: it starts a virtual machine that sees this one" >&2; exit 3; }
	tests/vm/prepare
	@echo "left out in the virtual machine, for they need a machine at its own speed (test-host-v1 runs them):"
	@$(BIN)/pytest -m "host and native" --collect-only -q -o addopts= | sed -n '/::/s/^/  /p'
	tests/vm/run '$(BIN)/pytest -m "host and not native" -p no:cacheprovider -o timeout=600'

mutants: venv ## seeded mistakes in the engine: a test must see each
	$(BIN)/python tests/mutants.py

soak: venv ## simulated node-hours with faults, SEEDS of them: no promise may be broken
	$(BIN)/python tests/sim/random_scenarios.py soak 0 $(SEEDS)

bench: venv ## every figure of docs/benchmarks.md, measured again
	@for one in benchmarks/*.py; do echo "== $$one"; $(BIN)/python $$one || exit 1; done

clean: ## all that was built here; the caches of downloads stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
