# Everything runs inside a virtual environment this file makes itself; only Python, pip and git are needed.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# What the demo needs; what tests need on top takes ten times the room.
INSTALLED := $(VENV)/.installed
# From Python 3.12 on the interpreter itself tells which lines run, at little cost, and `make test` prints their share.
# Before, looking at them takes half as long again, more than a test may take: `make cover` does it.
COVER ?= $(shell $(PYTHON) -c 'import sys; sys.version_info >= (3, 12) and print("--cov --cov-report=")')
export COVERAGE_CORE ?= $(shell $(PYTHON) -c 'import sys; sys.version_info >= (3, 12) and print("sysmon")')

# Tests start some hundred processes: each would compile all it imports where bytecode is not kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all versions lint types unit cover bench warm record wheel clean

demo: $(INSTALLED)
	$(BIN)/arboretum demo

test: lint types unit

# Also what is marked slow: sweeps, fuzzing, kills. FUZZ_MUTATIONS=20000 makes the longest of them short.
test-all: test
	$(BIN)/python -m pytest -n 2 -m slow

# `make test` on every Python that pyproject.toml names, and a part of it with the oldest and the newest libraries
# that it allows: PYTHONS="3.12 oldest" chooses.
versions:
	PYTHONS="$(PYTHONS)" .ci/versions

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python .ci/words.py

types: $(READY)
	$(BIN)/mypy

# Two processes of tests would compile most kernels twice: warm first.
unit: $(READY) warm
	$(BIN)/python -m pytest -n 2 $(COVER)
	@test -n "$(COVER)" || echo "coverage: not measured before Python 3.12, make cover does"
	@test -z "$(COVER)" || echo "coverage: $$($(BIN)/python -m coverage report --format=total) % of all lines but the compiled ones"

cover:
	$(MAKE) unit COVER="--cov --cov-report="

bench: $(READY)
	$(BIN)/pip install -q -e ".[bench]"
	$(BIN)/python -m benchmarks $(or $(BENCH),cart)

# Compiles, on all cores, what tests and fits would compile one by one.
warm: $(READY)
	$(BIN)/arboretum warmup

# Records which kernels are called with what, for those that have changed; ALL=1 for all.
record: $(READY)
	$(BIN)/python -m benchmarks.record_kernels $(if $(ALL),--all)

# A wheel for this Python and this kind of machine, with compiled kernels in it.
wheel: $(READY)
	$(BIN)/python -m arboretum.engine.compiler.make_packs build/kernels $(BASELINE)
	ARBORETUM_PACKS=build/kernels $(BIN)/python -m pip wheel -q --no-deps -w dist .

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q $(BOUNDS) -e ".[plot]"
	touch $@

$(READY): $(INSTALLED)
	$(BIN)/python -m pip install -q $(BOUNDS) -e ".[test]"
	touch $@

clean:
	rm -rf $(VENV) .venv-* build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage .coverage.*
