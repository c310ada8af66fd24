# `make demo` and `make test` need nothing but Python 3.10+ and make: each sets up .venv first, once.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
OLDEST := .venv-oldest
TESTS := tests
CXX ?= c++
KERNEL := $(wildcard src/dnfnet/ops/csrc/*)

.DEFAULT_GOAL := help
.PHONY: help demo test test-oldest lint types tests format clean wheel sanitize

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): pyproject.toml constraints.txt setup.py $(KERNEL)
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

demo: $(STAMP) ## train on a table that ships with scikit-learn, beside XGBoost and an FCN
	$(BIN)/dnfnet demo

test: lint types tests ## lint, types and all tests

$(OLDEST)/.installed: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt -e '.[paper]' \
	  hypothesis polars pytest pytest-xdist safetensors
	touch $@

test-oldest: $(OLDEST)/.installed ## the tests on the oldest versions that the package admits (TESTS=tests/table for some)
	$(OLDEST)/bin/python -m pytest -n 2 $(TESTS)

lint: $(STAMP) ## ruff: lint and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP) ## mypy on the package
	$(BIN)/mypy

tests: $(STAMP) ## pytest alone
	$(BIN)/python -m pytest -n 2

format: $(STAMP) ## rewrite the files as ruff wants them
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

wheel: $(STAMP) ## build a wheel, with the fused kernel where there is a C++ compiler
	rm -rf build
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

sanitize: ## run the fused kernel under AddressSanitizer and UndefinedBehaviorSanitizer
	mkdir -p build
	$(CXX) -std=c++17 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -ffp-contract=fast -pthread \
	  -Isrc/dnfnet/ops/csrc src/dnfnet/ops/csrc/*.cpp tests/ops/sanitize.cpp -o build/sanitize
	build/sanitize

clean: ## remove the environment and everything that was made
	rm -rf $(VENV) $(OLDEST) build dist .mypy_cache .ruff_cache .pytest_cache src/*.egg-info src/dnfnet/ops/_fused.so
