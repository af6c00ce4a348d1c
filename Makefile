# Every verb makes its virtual environment and installs what it needs by itself; python3 and make are enough.
#
#   make demo            train a certified classifier and look at it
#   make test            run the tests          (make test ARGS="-k kernels")
#   make test-all        run the long ones, too
#   make peers           run scikit-learn's own tests with our classes in the place of theirs
#   make lint            check style, types, layers and spelling
#   make bench           time the library       (make bench ARGS="--help")
#   make fuzz            random fits, files and commands   (make fuzz ARGS="--minutes 30")
#   make docs            build the pages, gallery included, into docs/_build/html
#   make clean           remove what these verbs made
#
# PYTHON (the interpreter), VENV (the environment's folder), JOBS (parallel test processes) and ARGS (handed to
# the tool behind the verb) can be set on the command line.

PYTHON ?= python3
VENV ?= .venv
JOBS ?= 2
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.NOTPARALLEL:
.PHONY: help demo test test-all peers lint style types layers spelling bench fuzz docs clean
.DEFAULT_GOAL := help

help:
	@sed -n '3,14s/^# \{0,3\}//p' Makefile

demo: $(VENV)/.cli-installed $(VENV)/.compiled-code-is-fresh
	@$(BIN)/python examples/demo.py $(ARGS)

test: $(VENV)/.dev-installed
	$(BIN)/python -m pytest -n $(JOBS) -m "not exhaustive" $(ARGS)

test-all: $(VENV)/.dev-installed
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

peers: $(VENV)/.dev-installed $(VENV)/.compiled-code-is-fresh
	$(BIN)/python -m tests.peers $(ARGS)

lint: style types layers spelling

style: $(VENV)/.dev-installed
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types layers spelling: $(VENV)/.dev-installed
	$(BIN)/$(TOOL)

types: TOOL := mypy
layers: TOOL := lint-imports
spelling: TOOL := codespell

bench: $(VENV)/.bench-installed $(VENV)/.compiled-code-is-fresh
	$(BIN)/python -m benchmarks.run $(ARGS)

fuzz: $(VENV)/.dev-installed $(VENV)/.compiled-code-is-fresh
	PYTHONPATH=tests $(BIN)/python -m fuzz $(ARGS)

docs: $(VENV)/.docs-installed $(VENV)/.compiled-code-is-fresh
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html $(ARGS)
	@echo "Open docs/_build/html/index.html"

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	rm -rf .coverage htmlcov benchmarks/out tests/fuzz/out src/*.egg-info docs/_build docs/gallery docs/api
	find src tests examples benchmarks docs -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment, and one stamp for each set of packages in it.

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(v < (3, 11) and \
	  f"mercer needs Python 3.11 or newer, this is {v[0]}.{v[1]}; choose another: make PYTHON=python3.12")'
	@echo "Making the virtual environment $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.%-installed: pyproject.toml | $(VENV)/.made
	@echo "Installing mercer with the packages for '$*' into $(VENV) (once; a minute or two) ..."
	@$(PIP) --editable '.[$*]'
	@touch $@

# Numba's cache on disk does not notice an edited helper in another file.
$(VENV)/.compiled-code-is-fresh: $(wildcard src/mercer/_jit/*.py) | $(VENV)/.made
	@find src -name '*.nb[ci]' -delete
	@touch $@
