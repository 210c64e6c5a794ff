# `make demo` and `make test` do everything on a fresh Debian machine with Python >= 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: help setup services demo test day soak faults lint format docs bench manuals lock clean

help:  ## what there is
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: $(STAMP)  ## .venv with the pinned dependencies and the program
$(STAMP): pyproject.toml requirements.lock tools/setup hatch_build.py $(wildcard src/mannerly/*.[ch] src/mannerly/*/*.[ch])
	PYTHON=$(PYTHON) tools/setup $(VENV)
	@touch $(STAMP)

services: setup  ## what only tests need from Debian's packages
	tools/services

demo: setup  ## crawl a simulated web on this machine and look at the result
	$(BIN)/mannerly demo

# The longest first, and the suite that rewrites its own asserts before those that import it.
TESTS := tests/simulation tests/conformance tests/crash tests/e2e tests/external tests/hostile tests/unit

test: setup services  ## all tests: four at a time, as many wait for something, then those that want the machine for themselves
	$(BIN)/python -m pytest -n 4 --dist worksteal -m "not alone" $(TESTS)
	$(BIN)/python -m pytest -m alone

day: setup  ## a simulated day with 10,000 sites (the tests have a smaller one)
	SIMULATED_SITES=10000 $(BIN)/python -m pytest tests/simulation/test_day.py

soak: setup services  ## simulated crawls in which everything fails (SEEDS=2000), then a real one (SOAK_MINUTES=45) in which nothing may grow; figures go to benchmarks/results
	$(BIN)/python -m tests.simulation.faults --seeds $(SEEDS) --results benchmarks/results/simulation.json
	$(BIN)/python -m tests.soak --minutes $(SOAK_MINUTES)
SEEDS ?= 2000
SOAK_MINUTES ?= 45

faults: setup services  ## real faults, one after the other (an hour, root, nftables): kills, pauses, cuts ...; figures go to benchmarks/results
	$(BIN)/python -m tests.faults all

lint: setup  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup  ## put the code into its usual form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: setup  ## the docs as a site, in build/docs; every link is checked
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: setup  ## every benchmark; figures go to benchmarks/results
	$(BIN)/python -m benchmarks

manuals: setup services  ## crawl Debian's manuals and compare every page (an hour, 2 GB in MANUALS=DIR)
	$(BIN)/pip install --quiet 'inscriptis>=2.5,<3'
	$(BIN)/python -m benchmarks manuals --folder $(MANUALS)
MANUALS ?= manuals-data

lock: setup  ## renew requirements.lock from pyproject.toml
	$(BIN)/pip-compile --quiet --extra dev --strip-extras --generate-hashes --allow-unsafe \
	  --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header \
	  --output-file requirements.lock pyproject.toml

clean:  ## remove what the commands above made
	rm -rf $(VENV) demo-data build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
