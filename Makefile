# Everything a contributor runs. Only Python 3.11 or newer, with venv, has to be there first.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
# How many examples the property tests try: quick or full.
EXAMPLES ?= quick
# As many processes as there are processors; each file's tests stay in one of them.
PYTEST   := $(BIN)/pytest -q -n auto --dist loadfile
COMPILED := build/compiled
HEADER   := 'import sysconfig; print(sysconfig.get_path("include") + "/Python.h")'
# The contract that compiled modules must keep as well as their sources do.
CONTRACT := tests/packaging/test_compiled.py tests/relay tests/servers/http tests/outbound tests/decide \
	tests/test_provider.py tests/test_time_limits.py
# What is quick: no processes, no browsers, no load.
QUICK := tests/http1 tests/door tests/relay/test_body.py tests/relay/test_members.py tests/relay/test_routing.py \
	tests/relay/test_order_of_checks.py tests/relay/test_callers.py tests/wire tests/decide tests/registry \
	tests/config tests/calibration tests/schema tests/catalog tests/test_bounded_cache.py \
	tests/test_strict_json.py tests/test_urls.py tests/test_gateway.py
PROJECTS := pyproject.toml $(wildcard plugins/*/pyproject.toml examples/*/pyproject.toml)
# What mypyc hands an error on with, of which Python 3.12 and newer warn.
COMPILERS_OWN := -W 'ignore:the (type, exc, tb) signature of throw() is deprecated:DeprecationWarning'

.DEFAULT_GOAL := help
.PHONY: help demo test test-compiled test-quick mutants check lint types imports docs docs-check schema bench restarts evidence \
	format clean

help: ## Say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-14s %s\n", $$1, $$2}'

demo: $(VENV)/.ready ## Make a real decision on this machine, from the shell, over MCP and over HTTP
	@$(BIN)/python scripts/demo.py

test: $(VENV)/.ready-dev check ## Set up and run every check and every test
	$(PYTEST) --hypothesis-profile=$(EXAMPLES)
	@$(MAKE) --no-print-directory test-compiled

test-quick: $(VENV)/.ready-dev ## Run the tests that start no process: what a person at work waits for
	$(PYTEST) $(QUICK)

test-compiled: $(COMPILED)/.ready ## Run the relay's contract again, with its hot modules compiled
	S1GW_COMPILED=1 PYTHONSAFEPATH=1 PYTHONPATH=$(CURDIR)/$(COMPILED) $(PYTEST) $(COMPILERS_OWN) $(CONTRACT)

check: lint types imports docs-check ## Style, types, import contracts, generated files

lint: $(VENV)/.ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.ready-dev
	$(BIN)/mypy

imports: $(VENV)/.ready-dev
	$(BIN)/lint-imports --no-cache

docs: $(VENV)/.ready-dev ## Write the documents and schemas that are generated from the code
	$(BIN)/python scripts/generate.py

docs-check: $(VENV)/.ready-dev
	$(BIN)/python scripts/generate.py --check

schema: docs ## Write schema/request.json and schema/response.json, as docs does with the rest

evidence: $(VENV)/.ready-dev ## Measure the embedded engine's accuracy and calibration again
	$(BIN)/python -m s1gw_local.evidence

bench: $(COMPILED)/.ready ## Measure speed side by side and write docs/performance.md
	$(BIN)/pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	$(BIN)/python -m benchmarks

mutants: $(VENV)/.ready-dev ## Try random small faults and write how many the tests notice: docs/mutants.md
	$(BIN)/pip install --quiet --disable-pip-version-check 'cosmic-ray>=8.7,<9'
	$(BIN)/python scripts/mutants.py

restarts: $(VENV)/.ready-dev ## Restart gateways under the load of 1,000 clients, and count what is lost
	$(BIN)/python -m benchmarks.restarts 1000 20

format: $(VENV)/.ready-dev ## Put the code into its standard form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean: ## Remove the environment and all caches
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "s1gw needs Python 3.11 or newer; name one with: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.ready: $(VENV)/.python requirements.txt $(PROJECTS)
	@echo "Setting up $(VENV) (once) ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check $$(sed -n 's/^\.\(.*\)/-e .\1/p' requirements.txt)
	@touch $@

$(COMPILED)/.ready: $(VENV)/.ready-dev hatch_build.py pyproject.toml $(shell find gateway_core -name '*.py')
	@command -v $${CC:-cc} >/dev/null && test -e "$$($(BIN)/python -c $(HEADER))" \
	  || { echo "Compiling takes a C compiler and Python's headers: apt-get install gcc python3-dev"; exit 1; }
	@echo "Compiling the relay's hot modules into $(COMPILED) ..."
	@rm -rf $(COMPILED)
	@S1GW_COMPILED=1 $(BIN)/pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
	  --target $(COMPILED) .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.python requirements-dev.txt requirements-bare.txt $(PROJECTS)
	@echo "Setting up $(VENV) with what the tests need (once); that laya lacks torch is meant ..."
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r requirements-bare.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@ $(VENV)/.ready
