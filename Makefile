# `make help` lists what one can do here.

PYTHON ?= python3
PIP_OPTIONS ?=
TORCH_INDEX = $(if $(filter 1,$(CUDA)),,https://download.pytorch.org/whl/cpu)
PORT ?= 8000
JOBS ?= 2

# Idle threads sleep instead of spinning: where two processes compute, a program takes a
# quarter of the time. No digit depends on it.
export OMP_WAIT_POLICY = PASSIVE

# Where this is set, as in many images of containers, each process compiles anew what it
# imports; a run starts hundreds.
unexport PYTHONDONTWRITEBYTECODE

# An environment that exists knows which Python it was made with.
BASE = $(or $(wildcard .venv/bin/python),$(PYTHON))
RUN = .venv/bin/python -m

PIP = $(RUN) pip --disable-pip-version-check
# Python compiles what is imported, once, and that is a small part of what is installed.
CONSTRAIN = --no-compile -c constraints.txt $(OPTIONS)

# For pip, 2.13.0+cpu is a 2.13.0, and newer than the 2.13.0 that PyPI has. The index is
# asked once, and only by what installs something.
OPTIONS = $(SMALL) $(PIP_OPTIONS)
SMALL = $(eval SMALL := $(shell $(BASE) .ci/torch_index.py $(TORCH_INDEX)))$(SMALL)

# As many processes as JOBS says, with one thread each. Tests of one group share what one
# of them has built.
# A process that dies makes the run red; if another took its place, the run would wait for
# ever: pytest-xdist deals out a group once.
PARALLEL = -n $(JOBS) --dist loadgroup --max-worker-restart=0
units tool coverage slow book lowest: export OMP_NUM_THREADS = 1

# What passed is left out until something changes that it reaches.
CHANGED ?= $(if $(ALL),,--changed)

# What tries the site builds it first, unless SITE=built says that it stands.
BUILT = $(if $(filter built,$(SITE)),,site)

# Where an environment keeps packages.
folder = $$($(1)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')

# What pyproject.toml says of packages, and nothing of how code is checked.
define NEEDS
import tomllib
tools = ("tools/pytest-proofread/", "tools/workshop/")
for name in ("pyproject.toml", *(f"{tool}pyproject.toml" for tool in tools)):
    with open(name, "rb") as file:
        table = tomllib.load(file)
    print(table["project"], table.get("dependency-groups"))
endef
export NEEDS

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help serve test quick units tool changed-tool book slow coverage lowest check lint site dist takeaway browser lighthouse peers corpus mutate versus format record prove install clean distclean generated python port duration FORCE

help:  ## list the targets
	@echo 'usage: make TARGET [VARIABLE=VALUE ...]'
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 14
	@echo
	@echo 'variables:'
	@echo '  PORT=8000         where `make serve` shows the book'
	@echo '  JOBS=2            how many processes run tests at once'
	@echo '  ALL=1             have the tests run what passed and has not changed since,'
	@echo '                    and the browser and Lighthouse try each page'
	@echo '  SINCE=REVISION    else they try one of each kind, and those that changed since'
	@echo '  PYTHON=python3    the Python that .venv is made with, 3.11.5 or newer'
	@echo '  CUDA=1            on Linux, make .venv with PyTorch for GPUs, of several gigabytes'
	@echo '  PIP_OPTIONS=      more options for pip'
	@echo '  SPEED=1           have Lighthouse say how fast pages are, too'
	@echo '  QUICK=1           let `make prove` try two paths of the processor, and no order'
	@echo '  RESULTS=FILE      where `make book` writes what the programs did, and whence'
	@echo '                    `make prove` takes it'

serve: port generated  ## build the book and show it at http://127.0.0.1:8000
	@$(RUN) workshop serve --port $(PORT)

test: duration units changed-tool book  ## run every test but the slow ones, and every program of the book

quick: units book  ## run those tests and programs that what changed since the last run can affect

units: generated
	@echo '== Tests of the package and of the book'
	@$(RUN) pytest -q $(PARALLEL) $(CHANGED) -m 'not slow' --ignore-glob='*.md' tests

tool: .venv/installed  ## run the tests of pytest-proofread and the workshop, which `make test` leaves out where neither has changed
	@echo '== Tests of the tools'
	@$(RUN) pytest -q $(PARALLEL) $(CHANGED) -m 'not slow' --ignore-glob='*.md' tools

changed-tool: .venv/installed
	@if $(RUN) workshop.changed_files tools constraints.txt; \
	then $(MAKE) tool; fi

book: generated
	@echo '== Programs of the book and the README, and the same by pytest-codeblocks alone'
	@$(RUN) pytest -q $(PARALLEL) --proofread --codeblocks $(CHANGED) docs README.md \
	  $(if $(RESULTS),--results=$(RESULTS))

slow: generated  ## run the slow tests: every combination that the others try in turn
	@echo '== Slow tests'
	@$(RUN) pytest -q $(PARALLEL) -m slow

coverage: generated  ## run the tests, and say which branches of the package they leave out
	@echo '== Tests of the package and of the book, with coverage of the package'
	@$(RUN) coverage erase
	@$(RUN) coverage run -m pytest -q $(PARALLEL) -m 'not slow' tests
	@$(RUN) coverage combine -q
	@$(RUN) coverage report --fail-under 100

lowest: .cache/lowest/installed  ## test the package with the oldest PyTorch that it promises
	@echo '== Tests of the package, with the oldest PyTorch and jaxtyping'
	@.cache/lowest/bin/python -m pytest -q $(PARALLEL) -m 'not slow' @tests/package.txt tests/distributed

check: lint coverage tool book slow takeaway browser lighthouse  ## what .ci/run runs, but for the peers and `make prove`

lint: .venv/installed  ## check format, style, types, imports and docstrings
	@echo '== Format'
	@$(RUN) ruff format --check .
	@echo '== Style'
	@$(RUN) ruff check .
	@echo '== Types'
	@$(RUN) mypy
	@echo '== Imports'
	@.venv/bin/lint-imports --no-logo
	@echo '== Docstrings'
	@.venv/bin/pydoclint --quiet src/headway

site: generated  ## build the book into site/, where a warning is an error, and test what was built
	@echo '== Site'
	@# Nothing is fetched for it.
	@https_proxy=http://127.0.0.1:9 http_proxy=http://127.0.0.1:9 $(RUN) workshop build
	@$(RUN) pytest -q tests/site

dist: .cache/release/installed  ## build what is published into dist/, and look into it
	@echo '== Distributions'
	@rm -rf dist
	@$(RUN) hatchling build -d dist/headway
	@cd tools/pytest-proofread && ../../$(RUN) hatchling build -d ../../dist/pytest-proofread
	@.cache/release/bin/python -m check_wheel_contents dist/*/*.whl

takeaway: $(BUILT) generated  ## run all that a reader copies or downloads, with the wheel alone
	@echo '== What a reader takes away'
	@$(RUN) workshop reader docs site --constraints constraints.txt \
	  --include generated/pictures --include generated \
	  --pip-options='$(OPTIONS)' --ignore 'Failed to initialize NumPy'
	@.venv/bin/python tests/takeaway .cache/reader/bin/python

peers: .cache/peers/installed  ## check attention published by others: no false alarm
	@echo '== Attention published by others'
	@.cache/peers/bin/python -m pytest -q $(PARALLEL) --noconftest tests/peers

corpus: .venv/installed  ## hold headway.checks against public styles and changes of them, and record what it says
	@echo '== What the checks say of the corpus'
	@PYTHONPATH=src:. $(RUN) tests.checks.corpus --write

browser: $(BUILT) .cache/browser/installed  ## try the site in chromium-headless-shell or chromium, which must be installed; ALL=1 tries each page
	@echo '== The site in a browser'
	@.cache/browser/bin/python -m pytest -q -n 2 --dist loadgroup --max-worker-restart=0 tests/browser

lighthouse: $(BUILT)  ## score the site with Lighthouse, and check its HTML; ALL=1 does so with each page, SPEED=1 prints speeds
	@echo '== Scores and HTML of the site'
	@.venv/bin/python tests/lighthouse

mutate: generated  ## break the book and the package on purpose: each fault must be found
	@echo '== Mutants of the book'
	@$(RUN) workshop mutate-pages docs README.md -n 2
	@echo '== Mutants of the package; this takes an hour'
	@$(RUN) workshop mutate-package tests/package_mutants.toml

versus: .cache/versus/installed  ## measure this and four other tools on the chapters
	@echo '== The same chapters, five tools'
	@.cache/versus/bin/python tools/workshop/benchmark docs/basics

format: .venv/installed  ## correct format and style where a tool can
	@$(RUN) ruff check --fix .
	@$(RUN) ruff format .

record: generated  ## rewrite recorded outputs, pictures, and all that is generated
	@$(RUN) pytest -q --record docs README.md
	@$(RUN) generators.pictures
	@$(RUN) generators.pictures.readme
	@$(RUN) generators.sources
	@$(RUN) generators.museum
	@$(RUN) generators.practice
	@$(RUN) generators.live

prove: generated  ## run every program alone, shuffled, and on each path of the processor
	@echo '== The same digits, whatever the order and the processor'
	@$(RUN) workshop prove docs README.md $(if $(QUICK),--quick) $(if $(RESULTS),--results $(RESULTS)) \
	  --also 'python -m generators.pictures --check' \
	  --also 'python -m generators.pictures.readme --check' \
	  --also 'python -m generators.sources --check' --also 'python -m generators.museum --check' \
	  --also 'python -m generators.live --check' --also 'python -m generators.practice --check' \
	  --also 'python -m generators.trained --check'

install: .venv/installed  ## make .venv with the versions that constraints.txt pins

clean:  ## remove all that make made, but for .venv
	rm -rf site .cache .coverage .coverage.* build dist *.egg-info src/*.egg-info tools/*/src/*.egg-info
	rm -rf generated/exhibits generated/live generated/pictures generated/practice generated/sources
	rm -rf .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find src tools tests docs generators -name __pycache__ -prune -exec rm -rf {} +

distclean: clean  ## remove .venv too
	rm -rf .venv

# What pages include and git does not keep. It is computed again where something has changed.
generated: .venv/installed
	@$(RUN) generators

.venv/installed: .venv/pyvenv.cfg .venv/needs constraints.txt
	$(PIP) install $(CONSTRAIN) --upgrade pip
	$(PIP) install $(CONSTRAIN) --group dev -e . -e tools/pytest-proofread -e tools/workshop
	@# Else each lab is built with a warning about connections that stay on this computer.
	@mkdir -p .venv/etc/ipython
	@echo 'c.IPKernelApp.log_level = "ERROR"' > .venv/etc/ipython/ipython_kernel_config.py
	@touch $@

# Written anew only where it differs, so that nothing is installed again for less.
.venv/needs: .venv/pyvenv.cfg FORCE
	@.venv/bin/python -c "$$NEEDS" > $@.$$$$ && \
	if cmp -s $@.$$$$ $@; then rm $@.$$$$; else mv $@.$$$$ $@; fi

# What others have made would slow down each run of pytest, so it has environments of its
# own, one a dependency group, which borrow all else.
.cache/%/installed: .venv/installed
	.venv/bin/python -m venv --without-pip --clear .cache/$*
	@echo "import site; site.addsitedir('$(call folder,.venv)')" \
	  > $(call folder,.cache/$*)/borrowed.pth
	$(PIP) --python .cache/$* install $(CONSTRAIN) --group $*
	@touch $@

# The versions of constraints-lowest.txt go before those of constraints.txt.
.cache/lowest/installed: constraints-lowest.txt constraints.txt | python
	$(BASE) -m venv --clear .cache/lowest
	awk -F '==' '!/^#/ && !seen[$$1]++' constraints-lowest.txt constraints.txt > .cache/lowest/constraints.txt
	.cache/lowest/bin/python -m pip install -c .cache/lowest/constraints.txt --upgrade pip
	.cache/lowest/bin/python -m pip install -c .cache/lowest/constraints.txt $(OPTIONS) \
	  --group test -e . -e tools/pytest-proofread -e tools/workshop
	@touch $@

.venv/pyvenv.cfg: | python
	$(PYTHON) -m venv .venv

python:
	@command -v $(BASE) >/dev/null || { \
	  echo 'PYTHON must be a program; got PYTHON=$(BASE).' >&2; exit 1; }
	@$(BASE) -c 'import sys; sys.version_info >= (3, 11, 5) or sys.exit( \
	  "PYTHON must be 3.11.5 or newer; got PYTHON=$(BASE), which is %d.%d.%d." \
	  % sys.version_info[:3])'

# Before anything slow: nobody should wait to hear that a port is taken.
port: python
	@PYTHONPATH=tools/workshop/src $(BASE) -m workshop serve --check --port $(PORT)

# Nor should anybody wait without knowing for how long.
duration: python
	@$(BASE) .ci/times.py test
