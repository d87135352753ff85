# Everything runs inside a virtual environment this file makes itself; only Python, pip and git are needed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# To see which lines the tests run takes half as long again, which would be more than a test may take:
# `make cover` does it.
COVER ?=

.PHONY: demo test lint types unit cover bench clean

demo: $(READY)
	$(BIN)/arboretum demo

test: lint types unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	$(BIN)/python -m pytest -n 2 $(COVER)
	@test -z "$(COVER)" || echo "coverage: $$($(BIN)/python -m coverage report --format=total) % of all lines but the compiled ones"

cover:
	$(MAKE) unit COVER="--cov --cov-report="

bench: $(READY)
	$(BIN)/pip install -q -e ".[bench]"
	$(BIN)/python -m benchmarks $(or $(BENCH),cart)

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --upgrade pip
	$(BIN)/python -m pip install -q -e ".[test]"
	touch $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage .coverage.*
