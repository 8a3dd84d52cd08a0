# Each target sets up what it needs: python3 and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check format docs bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

demo: $(VENV)/with-plots ## a tour of a kernel, then a table learned and predicted: in demo/
	@$(BIN)/mercer tour --out demo
	@set -e; cd demo; run() { echo; echo "\$$ mercer $$*"; ../$(BIN)/mercer "$$@"; }; \
	run fit diabetes.csv --target progression --out diabetes.mercer; \
	run predict diabetes.mercer diabetes.csv --interval 0.9 --keep progression \
		--out predictions.csv; \
	head -n 4 predictions.csv; \
	run show diabetes.mercer

# Two workers, a file each: tests of one file share its compiled loops and its data.
test: $(VENV)/with-test ## all tests, with the code of the README, the docs and the docstrings
	@$(BIN)/python -m pytest --numprocesses 2 --dist loadfile $(ARGS)

check: $(VENV)/with-dev ## format, lint, types, layers: all four, even when one fails
	@failed=0; for tool in "ruff format --check --quiet" "ruff check --quiet" mypy \
		"lint-imports --no-logo"; do \
		echo "$$tool"; $(BIN)/$$tool || failed=1; \
	done; exit $$failed

format: $(VENV)/with-dev ## write the format that check asks for
	@$(BIN)/python -m ruff check --fix --quiet --exit-zero
	@$(BIN)/python -m ruff format --quiet

docs: $(VENV)/with-docs ## the documentation, in docs/_build/html; a warning is an error
	@$(BIN)/python -m sphinx -W --keep-going -n -q -b html docs docs/_build/html
	@echo "docs: docs/_build/html/index.html"

# An OpenBLAS told to be another processor than it is gives figures of another machine.
bench: $(VENV)/with-bench ## every benchmark against its peers: rows of JSON
	@set -e; for script in benchmarks/[a-z]*.py; do \
		env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE $(BIN)/python $$script; \
	done

clean: ## remove everything that make has made
	@rm -rf $(VENV) demo dist docs/_build docs/api docs/gallery
	@rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find src tests benchmarks docs examples -name __pycache__ -prune -exec rm -rf {} +

# A stamp stands for each set of packages, and is renewed when pyproject.toml changes.
$(VENV)/with-%: pyproject.toml $(VENV)/made
	@echo "installing mercer[$*] into $(VENV)"
	@$(PIP) install --editable '.[$*]'
	@touch $@

$(VENV)/made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "mercer needs Python 3.11 or later, and $(PYTHON) is not: name one that is," \
			"as in make PYTHON=python3.12 test"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "$(PYTHON) cannot make virtual environments: it lacks ensurepip or venv." \
			"On Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@echo "making the virtual environment $(VENV)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@
