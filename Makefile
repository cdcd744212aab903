# `make help` lists what one can do here.

PYTHON ?= python3
PIP_OPTIONS ?=
PORT ?= 8000

# An environment that exists knows which Python it was made with.
BASE = $(or $(wildcard .venv/bin/python),$(PYTHON))
RUN = .venv/bin/python -m

# Where an environment keeps packages, and what an extra names.
folder = $$($(1)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
EXTRA = import sys, tomllib; file = open("pyproject.toml", "rb"); \
  print(*tomllib.load(file)["project"]["optional-dependencies"][sys.argv[1]])

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help serve test check lint site takeaway browser lighthouse peers mutate versus successors format record prove install clean python port

help:  ## list the targets
	@echo 'usage: make TARGET [VARIABLE=VALUE ...]'
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  \1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12
	@echo
	@echo 'variables:'
	@echo '  PORT=8000         where `make serve` shows the book'
	@echo '  ALL=1             have the browser and Lighthouse try each page'
	@echo '  SINCE=REVISION    else they try one of each kind, and those that changed since'
	@echo '  PYTHON=python3    the Python that .venv is made with, 3.11 or newer'
	@echo '  PIP_OPTIONS=      more options for pip. On Linux this fetches the small build'
	@echo '                    of PyTorch, for CPUs, instead of the one of several gigabytes:'
	@echo '                    PIP_OPTIONS="--extra-index-url https://download.pytorch.org/whl/cpu"'
	@echo '  QUICK=1           let `make prove` try two paths of the processor, and no order'

serve: port .venv/installed  ## build the book and show it at http://127.0.0.1:8000
	@$(RUN) proofread serve --port $(PORT)

test: .venv/installed  ## run every test, and every program in the book and the README
	@echo '== Tests of the package and of the tool, with coverage'
	@$(RUN) coverage run -m pytest
	@$(RUN) coverage report
	@echo '== Programs of the book and the README'
	@$(RUN) pytest --proofread docs README.md
	@echo '== The same by pytest-codeblocks alone'
	@$(RUN) pytest -q --codeblocks docs README.md

check: test lint takeaway browser lighthouse  ## what CI runs, but for the peers

lint: .venv/installed  ## check format, style and types
	@echo '== Format'
	@$(RUN) ruff format --check .
	@echo '== Style'
	@$(RUN) ruff check .
	@echo '== Types'
	@$(RUN) mypy

site: .venv/installed  ## build the book into site/; a warning is an error
	@echo '== Site'
	@$(RUN) proofread build

takeaway: site  ## run all that a reader copies or downloads, with the wheel alone
	@echo '== What a reader takes away'
	@$(RUN) proofread reader docs site --constraints constraints.txt \
	  --pip-options='$(PIP_OPTIONS)' --ignore 'Failed to initialize NumPy'

peers: .cache/peers/installed  ## check attention published by others: no false alarm
	@echo '== Attention published by others'
	@.cache/peers/bin/python -m pytest --noconftest tests/peers/no_false_alarm.py

browser: site .cache/browser/installed  ## try the site in a chromium, which must be installed; ALL=1 tries each page
	@echo '== The site in a browser'
	@.cache/browser/bin/python -m pytest -q -n 2 --dist loadgroup tests/browser

lighthouse: site  ## score the site with Lighthouse, and check its HTML; ALL=1 does so with each page
	@echo '== Scores and HTML of the site'
	@.venv/bin/python tests/lighthouse

mutate: .venv/installed  ## break the book and the package on purpose: each fault must be found
	@echo '== Mutants of the book'
	@$(RUN) proofread mutate-pages docs README.md -n 2
	@echo '== Mutants of the package; this takes half an hour'
	@OMP_WAIT_POLICY=PASSIVE $(RUN) proofread mutate-package tests/mutants.toml

versus: .cache/versus/installed  ## measure this and four other tools on the chapters
	@echo '== The same chapters, five tools'
	@.cache/versus/bin/python tools/proofread/benchmark docs/basics

successors: .cache/successors/installed  ## build the book with what may follow MkDocs
	@echo '== The same pages, three generators'
	@.cache/successors/bin/python tests/successors

format: .venv/installed  ## mend format and style where a tool can
	@$(RUN) ruff check --fix .
	@$(RUN) ruff format .

record: .venv/installed  ## rewrite recorded outputs, pictures, and all that is generated
	@$(RUN) pytest -q --record docs README.md
	@.venv/bin/python docs/pictures
	@.venv/bin/python docs/sources
	@.venv/bin/python docs/museum
	@.venv/bin/python docs/live

prove: .venv/installed  ## run every program alone, shuffled, and on each path of the processor
	@echo '== The same digits, whatever the order and the processor'
	@$(RUN) proofread prove docs README.md $(if $(QUICK),--quick) \
	  --also 'python docs/pictures --check' --also 'python docs/sources --check' \
	  --also 'python docs/museum --check' --also 'python docs/live --check'

install: .venv/installed  ## make .venv with the versions that constraints.txt pins

clean:  ## remove all that make made, .venv too
	rm -rf .venv site .cache .coverage .coverage.* build dist *.egg-info src/*.egg-info tools/*/src/*.egg-info
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find src tools tests docs -name __pycache__ -prune -exec rm -rf {} +

.venv/installed: .venv/pyvenv.cfg constraints.txt pyproject.toml tools/proofread/pyproject.toml
	$(RUN) pip install --disable-pip-version-check -c constraints.txt $(PIP_OPTIONS) -e '.[docs,test,dev]' -e tools/proofread
	@# Else each lab is built with a warning about connections that stay on this computer.
	@mkdir -p .venv/etc/ipython
	@echo 'c.IPKernelApp.log_level = "ERROR"' > .venv/etc/ipython/ipython_kernel_config.py
	@touch $@

# What others have made would slow down each run of pytest, so it has environments of its
# own, one an extra, which borrow all else.
.cache/%/installed: .venv/installed
	.venv/bin/python -m venv --without-pip --clear .cache/$*
	@echo "import site; site.addsitedir('$(call folder,.venv)')" \
	  > $(call folder,.cache/$*)/borrowed.pth
	$(RUN) pip --python .cache/$* install --disable-pip-version-check \
	  -c constraints.txt $(PIP_OPTIONS) $$(.venv/bin/python -c '$(EXTRA)' $*)
	@touch $@

.venv/pyvenv.cfg: | python
	$(PYTHON) -m venv .venv

python:
	@command -v $(BASE) >/dev/null || { \
	  echo 'PYTHON must be a program; got PYTHON=$(BASE).' >&2; exit 1; }
	@$(BASE) -c 'import sys; sys.version_info >= (3, 11) or sys.exit( \
	  "PYTHON must be 3.11 or newer; got PYTHON=$(BASE), which is %d.%d." \
	  % sys.version_info[:2])'

# Before anything slow: nobody should wait to hear that a port is taken.
port: python
	@PYTHONPATH=tools/proofread/src $(BASE) -m proofread serve --check --port $(PORT)
