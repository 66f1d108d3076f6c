# Everything is set up by itself, under .venv, and what is there is reused.
# `make PYTHON=python3.12 test` takes another Python; `make TLSPROBE_REQUIRE_SERVERS=0 test` skips the tests whose
# servers are missing, and installs none.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(or $(wildcard $(BIN)/python),python3)
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input --quiet
# One more than there are cores, since many tests wait for servers and for time to pass.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$((n < 8 ? n + 1 : 8)))
TLSPROBE_REQUIRE_SERVERS ?= 1
export TLSPROBE_REQUIRE_SERVERS

# Stamps bear the Python version, so that another Python means another set-up.
RUN := $(VENV)/run-$(VERSION).stamp
DEV := $(VENV)/dev-$(VERSION).stamp
RELEASE := .cache/release/$(VERSION).stamp
PINS := requirements/build.txt requirements/run.txt pyproject.toml

.PHONY: help run test lint bench soak image dist servers clean

help: ## Say what there is to make.
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: $(RUN) ## Probe the built-in reference and serve http://localhost:10507/metrics; ARGS="--config FILE" probes yours.
	$(BIN)/tlsprobe run $(ARGS)

test: lint servers ## Lint, and then run all tests, against real servers too.
	@echo "==> tests"
	$(BIN)/pytest -n $(WORKERS) --dist worksteal

lint: $(DEV) ## Check style, types and the layers' imports.
	@echo "==> lint"
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(DEV) ## Measure against blackbox_exporter and a bare TLS client; prints a table.
	@tests/setup.sh bench
	$(BIN)/python -m tests.bench $(ARGS)

soak: $(DEV) servers ## Ten thousand handshakes in one daemon, watching its memory and its file descriptors.
	$(BIN)/python -m tests.bench soak

image: $(DEV) ## Carry out the Dockerfile's steps in a Debian root file system, and run the daemon there; needs root.
	@command -v debootstrap >/dev/null || requirements/debian.sh debootstrap
	TLSPROBE_IMAGE=1 $(BIN)/pytest tests/deploy/test_image.py --timeout 1800

dist: $(RUN) $(RELEASE) ## Make a release of the last commit in dist/: wheel, source, bill of materials, checksums.
	@requirements/dist.sh $(BIN)/python .cache/release/bin dist

servers: ## Install the servers that the tests need.
	@if [ "$(TLSPROBE_REQUIRE_SERVERS)" = 1 ]; then tests/setup.sh; fi

clean: ## Remove all that was made here.
	rm -rf $(VENV) .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache .import_linter_cache build dist docs/man *.egg-info
	find exporter tests -name __pycache__ -prune -exec rm -rf {} +

$(RUN): $(PINS) requirements/venv.sh
	@requirements/venv.sh $(PYTHON) $(VENV)
	@echo "==> packages to run"
	@$(PIP) install -r requirements/build.txt
	@$(PIP) install --no-build-isolation -c requirements/run.txt -e .
	@touch $@

$(RELEASE): requirements/release.txt requirements/venv.sh
	@command -v git >/dev/null || requirements/debian.sh git
	@requirements/venv.sh $(PYTHON) .cache/release
	@echo "==> packages to release"
	@.cache/release/bin/python -m pip --disable-pip-version-check --no-input --quiet install -r requirements/release.txt
	@touch $@

$(DEV): $(PINS) requirements/dev.txt requirements/venv.sh
	@requirements/venv.sh $(PYTHON) $(VENV)
	@echo "==> packages to test"
	@$(PIP) install -r requirements/build.txt
	@$(PIP) install --no-build-isolation -c requirements/dev.txt -e '.[dev]'
	@touch $(RUN) $@
