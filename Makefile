# Two commands do everything: `make run` serves the dashboard, `make test` runs the tests.
# Both set up a virtual environment first, and need only Python >= 3.11 and make.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PORT   ?= 8501
JOBS   ?= 2


.PHONY: help run test setup browser lint bench check-long test-versions clean

help:
	@echo "make run         set up, compile and serve the dashboard on http://localhost:$(PORT)"
	@echo "make test        set up and run all tests"
	@echo "make setup       only set up, into $(VENV)"
	@echo "make lint        ruff and mypy"
	@echo "make bench       speed against JAX and NumPyro (installs them)"
	@echo "make check-long  the statistical tests at full size"
	@echo "make clean       remove what the others made"

$(VENV)/run.stamp: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python >= 3.11 is needed, $(PYTHON) is older: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -r requirements.txt -e .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-dev.txt
	$(BIN)/python -m pip install --quiet -r requirements-dev.txt
	@touch $@

# Enough for the quick tests.
$(VENV)/quick.stamp: $(VENV)/run.stamp requirements-dev.txt
	grep '^pytest' requirements-dev.txt | $(BIN)/python -m pip install --quiet -r /dev/stdin
	@touch $@

$(VENV)/bench.stamp: $(VENV)/run.stamp benchmarks/requirements.txt
	$(BIN)/python -m pip install --quiet -r benchmarks/requirements.txt
	@touch $@

setup: $(VENV)/dev.stamp

run: $(VENV)/run.stamp
	$(BIN)/mahmc compile
	$(BIN)/python -m dashboard --server.port $(PORT)

# A browser for the browser tests: one that is there, else Playwright's own, else (as root) Debian's.
browser: setup
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  $(BIN)/python -m playwright install chromium >/dev/null 2>&1 || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
	  { echo "The browser tests need Chromium, and it could not be installed: install it (for example" \
	         "'sudo apt-get install chromium'), or set CHROMIUM to its path, and run make test again."; exit 1; }

test: setup browser
	$(BIN)/mahmc compile
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long" tests
	$(MAKE) test-versions

# The quick tests on the other Python versions, where they are found on the path or below pyenv's root.
test-versions:
	@for version in 3.12 3.13; do \
	  python=$$(command -v python$$version || ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.*/bin/python 2>/dev/null | tail -n 1); \
	  if [ -z "$$python" ] || ! "$$python" -c '' 2>/dev/null; then \
	    python=$$(ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.*/bin/python 2>/dev/null | tail -n 1); fi; \
	  if [ -z "$$python" ]; then echo "Python $$version: not found, left out"; continue; fi; \
	  echo "Python $$version: $$python"; \
	  $(MAKE) --no-print-directory .venv-$$version/quick.stamp VENV=.venv-$$version PYTHON="$$python" && \
	  .venv-$$version/bin/python -m pytest -q -n $(JOBS) -m quick --ignore tests/browser tests || exit 1; \
	done

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy mahmc app.py dashboard benchmarks

bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/bench.py $(ARGS)

check-long: setup
	$(BIN)/python -m pytest -n $(JOBS) -m long tests

clean:
	rm -rf .venv .venv-3.12 .venv-3.13 .pytest_cache .mypy_cache .ruff_cache build *.egg-info
