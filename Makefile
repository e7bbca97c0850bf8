# make run    build the sample benchmark, grade seven simple systems and serve the leaderboard
# make test   set up and run the tests        make test-all  the longer ones too
# make test MORE=,hf,lora,sweep  with more extras in the new environment, and the tests that need them
# make test-postgres  the site's tests on PostgreSQL     make soak  thousands of submissions in a row
# make check  ruff and mypy                   make bench     timings as ratios against peers and limits
# make audit  known vulnerabilities of the pins, and sbom.json, their list as CycloneDX
# make dist   build wheel and source distribution in dist/, and check what is in them
# make release VERSION=0.1.0  prepare, check and, if you confirm, tag a release; it publishes nothing
# make pins   write deploy/requirements.txt, the container's pins with their hashes
# make docs   write the generated pages again, and build the documentation site in site/
# make sample make the sample benchmark's data file again
# make notebooks  execute the notebooks of docs/notebooks and save their outputs
# make screenshots  make the plots and pictures of docs/img again; it needs Chromium
# make mutate MODULES="submission.tables scoring"  which small faults the tests miss; without MODULES, all: hours

PYTHON ?= $(firstword $(shell for p in python3.13 python3.12 python3.11 python3; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p; done))
VENV ?= .venv
BIN := $(VENV)/bin
MORE ?=
# Empty for the newest versions of everything.
CONSTRAINTS ?= constraints.txt
VERSION ?=
SITE ?= gluebench-site
PORT ?= 8000
# In the order of tests/conftest.py: xdist's own begins with the files of most tests, not with the longest.
TWO := -n 2 --dist loadgroup --no-loadscope-reorder
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet $(addprefix --constraint ,$(CONSTRAINTS))

# The tests start many processes; without this, each of them may have to compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: audit dist release docs-version pins sample notebooks screenshots run test test-all test-postgres check format bench soak coverage mutate docs clean

run: $(VENV)/.leaderboard
	@exec $(BIN)/gluebench leaderboard demo --site $(SITE) --port $(PORT)

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(TWO) -m "not slow"

test-all: $(VENV)/.dev
	$(BIN)/python -m pytest $(TWO)

test-postgres: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m pytest $(TWO) -p leaderboard.postgres -m "not slow and not browser" tests/leaderboard

check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.dev
	$(BIN)/python bench/grade.py
	$(BIN)/python bench/process.py
	$(BIN)/python bench/many.py
	$(BIN)/python bench/load.py
	$(BIN)/python bench/prepare.py
	$(BIN)/python bench/qnli.py
	$(BIN)/python bench/vectors.py
	$(BIN)/python bench/step.py
	$(BIN)/python bench/probe.py
	$(BIN)/python bench/ladder.py
	$(BIN)/python bench/board.py
	$(BIN)/python bench/slow.py --seconds 20
	$(BIN)/python bench/rank.py
	$(BIN)/python bench/forms.py
	$(BIN)/python bench/audit.py

soak: $(VENV)/.dev
	$(BIN)/python bench/soak.py

coverage: $(VENV)/.dev
	$(BIN)/python bench/calibration.py
	$(BIN)/python bench/rank_coverage.py

mutate: $(VENV)/.dev
	$(BIN)/python bench/mutate.py $(MODULES)

# These tools are no part of the development environment: they would pin what they look at.
audit: | $(VENV)/.audit
	$(VENV)-audit/bin/cyclonedx-py requirements constraints.txt --output-file sbom.json
	@$(VENV)-audit/bin/pip-audit --strict --disable-pip --no-deps --requirement constraints.txt || { \
		echo "Either a pin has a known vulnerability, which is named above, or the list of them was not reached: it needs a network. sbom.json is written." >&2; exit 1; }

dist: $(VENV)/.dev | $(VENV)/.audit
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m release.distribution dist
	$(VENV)-audit/bin/twine check --strict dist/*

release: $(VENV)/.dev | $(VENV)/.audit
	@test -n "$(VERSION)" || { echo "Name the version: make release VERSION=0.1.0" >&2; exit 1; }
	@$(BIN)/python -m release.cut "$(VERSION)"

docs-version: $(VENV)/.dev
	$(BIN)/python -m docs.tools.site --version "$$($(BIN)/gluebench --version | sed 's/.* //')"

pins: | $(VENV)/.audit
	$(VENV)-audit/bin/uv pip compile --quiet --generate-hashes --no-emit-index-url --no-header --no-annotate \
		--python-version 3.13 --python-platform linux --constraint constraints.txt \
		--extra leaderboard --extra postgres --extra s3 pyproject.toml deploy/build.in --output-file deploy/requirements.txt

$(VENV)/.audit: | $(BIN)/python
	@$(BIN)/python -m venv $(VENV)-audit
	@$(VENV)-audit/bin/python -m pip --disable-pip-version-check install --quiet pip-audit==2.10.1 cyclonedx-bom==7.5.0 twine==7.0.0 uv==0.13.9
	@touch $@

docs: $(VENV)/.dev
	$(BIN)/python -m docs.tools.commands
	$(BIN)/python -m docs.tools.rooms
	$(BIN)/python -m docs.tools.counting > docs/reference/counting.md
	$(BIN)/python -m docs.tools.sealed > docs/reference/sealed.md
	$(BIN)/python -m docs.tools.policy_schema > docs/reference/policy.schema.json
	$(BIN)/python -m docs.tools.site

notebooks: $(VENV)/.dev
	$(BIN)/python -m docs.tools.run_notebooks

screenshots: $(VENV)/.dev
	$(BIN)/python -m docs.tools.plots
	$(BIN)/python -m docs.tools.screenshots

sample: $(VENV)/.dev
	$(BIN)/python -m sample
	$(BIN)/python -m sample.sentences > docs/reference/sample-sentences.md

clean:
	rm -rf $(VENV) $(VENV)-audit sbom.json site build dist mutants .mypy_cache .pytest_cache .ruff_cache

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "gluebench needs Python 3.11 or newer; none was found. Install one, or say make PYTHON=/path/to/python." >&2; exit 1; }
	@echo "Creating the environment in $(VENV) with $(PYTHON) ..."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.leaderboard: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing gluebench and its leaderboard (once) ..."
	@$(PIP) --editable ".[leaderboard]"
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing gluebench with its extras and the development tools (once) ..."
	@$(PIP) --editable ".[data,recipes,plot,train,leaderboard,docs,dev$(MORE)]"
	@touch $@ $(VENV)/.leaderboard
