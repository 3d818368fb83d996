# `make help` lists everything. `make demo` and `make test` set up what they need by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= auto
PYTEST := $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup
FAST := not (spark or postgres or browser or data or faults or slow)

.DEFAULT_GOAL := help
.PHONY: help demo console serve test test-all check faults format docs bench lock sbom clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(BIN)/pacas  ## the paper's running example, sealed quotes beside its own, then 20,000 rows with a report
	@$(BIN)/pacas demo

console: $(BIN)/pacas  ## both consoles on the example: review a dirty table of 20,000 rows, and watch who sells
	@$(BIN)/pacas demo --consoles

serve: $(BIN)/pacas  ## the running example as a service, with an account and the line to try
	@$(BIN)/pacas serve --example $(ARGS)

test: $(VENV)/.dev  ## the fast tests, in a few minutes: no Java, PostgreSQL, browser, real data or kill loops
	$(PYTEST) -m "$(FAST)" --hypothesis-profile fast $(ARGS)

test-all: $(VENV)/.dev  ## all tests (minutes)
	$(PYTEST) $(ARGS)

check: $(VENV)/.dev  ## format, lint, strict types, and the fast tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST) -m "$(FAST)" --hypothesis-profile fast $(ARGS)

faults: $(VENV)/.dev  ## kill the server 200 times on each ledger, let servers race, and attack ten times (minutes)
	$(BIN)/python -m pytest -n 0 -s tests -m "faults or attack" --faults $(or $(FAULTS),200) $(ARGS)

format: $(VENV)/.dev  ## let ruff put the code in shape
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(BIN)/pacas  ## renew docs/reference/cli.md and http.md from the code, docs/evaluation.md from its results
	$(BIN)/python scripts/cli_reference.py
	$(BIN)/python scripts/http_reference.py
	$(BIN)/python scripts/evaluation_page.py

bench: $(VENV)/.dev  ## measure, and write benchmarks/RESULTS.md (minutes)
	$(BIN)/python benchmarks/run.py $(ARGS)

lock: $(VENV)/.dev  ## renew the lock files from pyproject.toml, and those of tools that tests run
	$(BIN)/python -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements/runtime.lock
	$(BIN)/python -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --all-extras --group dev -c requirements/runtime.lock pyproject.toml -o requirements/dev.lock
	$(BIN)/python -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra postgres -c requirements/dev.lock pyproject.toml -o requirements/service.lock
	for tool in dbt soda; do $(BIN)/python -m uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements/$$tool.in -o requirements/$$tool.lock; done

sbom: $(VENV)/bin/python  ## list what PACAS is made of, as locked: build/sbom.json (CycloneDX)
	$(BIN)/python scripts/sbom.py

clean:  ## remove the environment and everything made
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist benchmarks/.data pacas-demo-report.html

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "PACAS needs Python 3.11 or newer; name one with PYTHON=…" >&2; exit 2; }
	@echo "setting up $(VENV) …" >&2
	@$(PYTHON) -m venv $(VENV)

# The lock files are complete, so nothing is resolved again (--no-deps).
$(BIN)/pacas: $(VENV)/bin/python requirements/runtime.lock pyproject.toml
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -r requirements/runtime.lock
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -e .
	@touch $@

$(VENV)/.dev: $(BIN)/pacas requirements/dev.lock
	@echo "installing what the tests need …" >&2
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps -r requirements/dev.lock
	@touch $@
