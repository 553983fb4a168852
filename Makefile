# make run, make test, make check: everything they need is installed into .venv the first time.
# CONTRIBUTING.md says what each is for.

PYTHON ?= $(shell command -v python3.11 || command -v python3 || echo python3.11)
# Where torch alone is taken from; empty: pip's usual place (docs/dependencies.md).
TORCH_INDEX ?=
PORT ?= 8501
# Extra words for pytest, such as ARGS='-k theta -x', or for `make lock`, such as ARGS=--upgrade.
ARGS ?=

BIN := .venv/bin
# One thread per process: the matrices are tiny, and runs are what is parallel.
export OMP_NUM_THREADS := 1
export PYTHON TORCH_INDEX
# Where this is set, every process compiles every module again: tests and the app start seconds later.
export PYTHONDONTWRITEBYTECODE :=

# Every call's shapes and types are checked; that doubles what the tests compute, so most runs go without.
SHAPES := "--jaxtyping-packages=sandbox,beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))"

.PHONY: help run setup setup-dev native browser test test-fast test-long test-combinations check format bench screens lock
.PHONY: image clean test-faults test-shapes

help:
	@sed -n 's/^## \([a-z-]*\): /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

## run: serve the app on http://localhost:8501
run: setup
	@exec $(BIN)/python -m sandbox serve --port $(PORT)

## setup: install what the app needs
setup:
	@bash scripts/environment.sh run
	@PYTHON=$(BIN)/python bash scripts/native.sh

## setup-dev: install what the tests and checks need too
setup-dev:
	@bash scripts/environment.sh dev
	@PYTHON=$(BIN)/python bash scripts/native.sh

## native: build the native engine, or say why that cannot be done (setup builds it where it can)
native:
	@PYTHON=$(PYTHON) bash scripts/native.sh required

browser:
	@bash scripts/browser.sh

## test: the whole test suite, browser and learning tests included
test: setup-dev browser
	$(BIN)/python -m pytest -n 2 --dist loadfile $(ARGS)

## test-fast: everything but the browser tests, learning and the heaviest promises
test-fast: setup-dev
	$(BIN)/python -m pytest -n 3 --dist loadfile -m "not e2e and not slow" $(ARGS)

## test-shapes: the fast suite with every call's shapes and types checked
test-shapes: setup-dev
	$(BIN)/python -m pytest $(SHAPES) -n 2 --dist loadfile -m "not e2e and not slow" $(ARGS)

## test-long: ten minutes of a watched run: nothing built anew, nothing shifted, no memory kept
test-long: setup-dev browser
	$(BIN)/python -m pytest -m long $(ARGS)

## test-combinations: every pair of ideas across families, trained and resumed
test-combinations: setup-dev
	$(BIN)/python -m pytest $(SHAPES) tests/combinations -n 2 -m combinations $(ARGS)

## test-faults: kills, full disk, clock jumps, damage and many viewers, at length (docs/reliability.md)
test-faults: setup-dev
	$(BIN)/python -m pytest tests/faults -m faults -s $(ARGS)

## check: format, lint, types, floors, Dockerfile
check: setup-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile

## format: rewrite the sources the way check wants them
format: setup-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

## bench: every benchmark, one after the other
bench: setup-dev browser
	@set -e; for file in benchmarks/[a-z]*.py; do \
		case $$file in */screens.py) continue;; esac; \
		echo "== $$file"; $(BIN)/python $$file; \
	done

## screens: screenshots of every page in both themes into build/screens
screens: setup-dev browser
	$(BIN)/python benchmarks/screens.py

## lock: compile pyproject.toml into requirements.txt and requirements-dev.txt
lock: setup-dev
	bash scripts/lock.sh $(ARGS)

## image: the container image attention-sandbox (docs/docker.md)
image:
	docker build --build-arg TORCH_INDEX="$(TORCH_INDEX)" --tag attention-sandbox .

## clean: remove what the commands above made, but no runs
clean:
	rm -rf .venv build native/build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
