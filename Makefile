# Two commands do everything: `make run` serves the dashboard, `make test` runs the tests.
# Both set up a virtual environment first, and need only Python >= 3.11 and make.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --quiet --no-compile  # what is imported is compiled then
PORT   ?= 8501
JOBS   ?= 3  # tests at a time; in a browser test either the browser or the server waits for the other
OTHERS := 3.13 lowest  # environments of the quick tests: another Python, and the lowest allowed versions of packages
LOWEST_PYTHON := 3.12  # for the lowest versions of packages: so the tests run on this Python as well
unexport PYTHONDONTWRITEBYTECODE  # else each process would compile all that it imports: seconds, every time

# The newest allowed versions of the packages; in .venv-lowest the lowest.
LOWEST := sed -E 's/>=([^,]+),.*/==\1/'
REQUIREMENTS = $(if $(findstring lowest,$(VENV)),$(LOWEST),cat) requirements.txt

# A Python of this version that works, on the path or below pyenv's root; nothing if there is none.
find = $(shell for p in $$(command -v python$(1)) $$(ls -d "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$(1).*/bin/python \
  2>/dev/null | tail -n 1); do "$$p" -c '' 2>/dev/null && echo "$$p" && break; done)

.PHONY: help run test tests setup browser compiled lint hooks bench check-long test-adapters wheel test-wheel clean

help:
	@echo "make run         set up, compile and serve the dashboard on http://localhost:$(PORT)"
	@echo "make test        set up and run all tests"
	@echo "make setup       only set up, into $(VENV)"
	@echo "make lint        ruff and mypy"
	@echo "make hooks       run both before each commit, by pre-commit"
	@echo "make test-lowest the quick tests with the lowest allowed versions of numba, numpy, streamlit and the others"
	@echo "make bench       speed against JAX and NumPyro (installs them)"
	@echo "make check-long  the statistical tests at full size"
	@echo "make test-adapters  checks of other libraries' samplers (installs BlackJAX, NumPyro, PyMC and emcee)"
	@echo "make wheel       build the wheel and the source archive, into dist"
	@echo "make test-wheel  install the wheel into empty environments and go through the dashboard (downloads packages)"
	@echo "make clean       remove what the others made"

$(VENV)/libraries.stamp: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python >= 3.11 is needed, $(PYTHON) is older: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(REQUIREMENTS) | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/run.stamp: $(VENV)/libraries.stamp pyproject.toml
	$(PIP) --no-deps -e .
	@touch $@

$(VENV)/dev.stamp: $(VENV)/run.stamp requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

# Enough for the quick tests.
$(VENV)/quick.stamp: $(VENV)/run.stamp requirements-dev.txt
	grep -E '^(hypothesis|pytest)' requirements-dev.txt | $(PIP) -r /dev/stdin
	@touch $@

$(VENV)/bench.stamp: $(VENV)/run.stamp benchmarks/requirements.txt
	$(PIP) -r benchmarks/requirements.txt
	@touch $@

setup: $(VENV)/dev.stamp

run: $(VENV)/run.stamp
	$(BIN)/mahmc compile
	$(BIN)/mahmc app --port $(PORT)

# A browser for the browser tests: one that is there, else Playwright's own, else (as root) Debian's.
browser: setup
	@command -v chromium-headless-shell chromium chromium-browser google-chrome >/dev/null || \
	  $(BIN)/python -m playwright install --only-shell chromium >/dev/null 2>&1 || \
	  { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium-headless-shell >/dev/null; } || \
	  { echo "The browser tests need Chromium, and it could not be installed: install it (for example" \
	         "'sudo apt-get install chromium'), or set CHROMIUM to its path, and run make test again."; exit 1; }

# The kernels, for those who come later.
compiled: $(VENV)/run.stamp
	$(BIN)/mahmc compile

test:
	@$(MAKE) --no-print-directory -j 3 $(VENV)/libraries.stamp $(OTHERS:%=libraries-%)
	@$(MAKE) --no-print-directory -j 2 browser compiled
	@$(MAKE) --no-print-directory -j 2 tests $(OTHERS:%=test-%)

tests:
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not long" tests

# The packages of another environment, if its Python is installed. Several environments are made at the same time.
libraries-%: OTHER_PYTHON = $*
libraries-lowest: OTHER_PYTHON = $(LOWEST_PYTHON)
libraries-%:
	@python="$(call find,$(strip $(OTHER_PYTHON)))"; \
	if [ -z "$$python" ]; then echo "Python $(strip $(OTHER_PYTHON)): not found, left out"; \
	else $(MAKE) --no-print-directory .venv-$*/libraries.stamp VENV=.venv-$* PYTHON="$$python"; fi

# The quick tests in another environment, beside the main tests: the whole output if they fail, else the last line. One
# process: a second process would compile the same kernels again.
test-%: libraries-%
	@if [ -e .venv-$*/libraries.stamp ]; then \
	  $(MAKE) --no-print-directory .venv-$*/quick.stamp VENV=.venv-$* && \
	  if .venv-$*/bin/python -m pytest -q -m quick --ignore tests/browser tests >.venv-$*/tests.log 2>&1; \
	  then echo "Quick tests, $*: $$(tail -n 1 .venv-$*/tests.log)"; \
	  else echo "Quick tests, $*:"; cat .venv-$*/tests.log; exit 1; fi; fi

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

hooks: setup
	$(BIN)/pre-commit install

bench: $(VENV)/bench.stamp
	$(BIN)/python benchmarks/bench.py $(ARGS)

check-long: setup
	$(BIN)/python -m pytest -n $(JOBS) -m "long and not wheel" tests

# The wheel in environments of their own, in temporary folders, without this checkout.
test-wheel: browser
	$(BIN)/python -m pytest -m wheel tests

wheel: setup
	$(BIN)/python -m hatchling build

# Other libraries' samplers, in an environment of their own.
test-adapters:
	@$(MAKE) --no-print-directory .venv-adapters/adapters.stamp VENV=.venv-adapters
	.venv-adapters/bin/python -m pytest tests/adapters

.venv-adapters/adapters.stamp: requirements-adapters.txt
	@$(MAKE) --no-print-directory .venv-adapters/run.stamp VENV=.venv-adapters
	.venv-adapters/bin/python -m pip install --quiet -r requirements-adapters.txt
	@touch $@

clean:
	rm -rf .venv .venv-3.12 .venv-3.13 .venv-lowest .venv-adapters .test-artifacts .pytest_cache .mypy_cache .ruff_cache build dist *.egg-info
