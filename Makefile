# make demo   set up, train on real text, show heatmaps, audit them, give a verdict
# make test   set up, run the whole suite
# make docs   build the documentation site
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q

.PHONY: demo test check lint docs bench clean

demo: $(VENV)/.installed
	$(BIN)/heedful demo

# In at most four processes, each file's tests in one of them.
test: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile

check: test lint

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation site, in build/site; a link that leads nowhere is a failure.
docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

bench: $(VENV)/.installed
	@for file in benchmarks/*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; done

# torch goes first, alone: everything after it then finds its needs already met.
$(VENV)/.installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("heedful needs Python 3.11 or newer: make PYTHON=python3.11") if sys.version_info < (3, 11) else 0'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -c constraints.txt torch
	$(PIP) install -c constraints.txt -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	$(PIP) install -c constraints.txt -e '.[dev]'
	@touch $@

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
