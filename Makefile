# Two commands on a fresh Debian: `make demo` serves every game, `make test` checks everything not slow.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help analysis setup setup-test demo demo-llm otree-demo fake-llm fake-mturk fake-panel fake-prolific test test-slow lint check-games bench lock clean

# Celery and the web server find the apps by it; manage.py and pytest see to it themselves.
export PYTHONPATH := platform:.
PYTHON := .venv/bin/python
SOURCES := manage.py conftest.py games llm_agents platform tests deploy

help:           ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 16

setup:
	@deploy/setup/venv.sh requirements.lock

setup-test:
	@deploy/setup/venv.sh requirements.lock requirements-analysis.lock requirements-test.lock

demo: setup     ## set up, then serve a demo study of every game at http://127.0.0.1:8000
	@$(PYTHON) manage.py demo

demo-llm: setup  ## the same with a small language model on this machine, which needs no key
	@deploy/setup/llm.sh
	@$(PYTHON) manage.py demo --llm

fake-llm: setup  ## a stand-in for OpenAI and Anthropic that plays every game, without a key (FAKE="--help")
	@$(PYTHON) -m llm_agents.twins $(FAKE)

fake-mturk: setup  ## a stand-in for Mechanical Turk, with its workers' pages, to rehearse a study (FAKE="--help")
	@$(PYTHON) -m marketplaces.mturk.twin $(FAKE)

fake-panel: setup  ## a stand-in for a panel that sends people to a study (FAKE="STUDY_ADDRESS --preset sona")
	@$(PYTHON) -m panels.twin $(FAKE)

fake-prolific: setup  ## a stand-in for Prolific, for rehearsing a study without people and money (FAKE="--help")
	@$(PYTHON) -m marketplaces.prolific.twin $(FAKE)

otree-demo: setup  ## an oTree experiment at http://127.0.0.1:8001 with a game in Parley in its middle
	@deploy/setup/otree.sh
	@$(PYTHON) -m deploy.otree_demo.serve

test: setup-test       ## set up, then run everything not marked slow (PYTEST="…" adds arguments)
	@deploy/setup/browser.sh
	@deploy/setup/nginx.sh
	@style=0; $(MAKE) --no-print-directory lint || style=1; \
	$(PYTHON) deploy/setup/tests.py $(PYTEST) && exit $$style

test-slow: setup-test  ## what is marked slow, and property tests with new examples
	@deploy/setup/browser.sh
	@deploy/setup/nginx.sh
	@$(PYTHON) deploy/setup/tests.py --slow $(PYTEST)

analysis:       ## set up what `manage.py analyse` and notebooks need beside the server
	@deploy/setup/venv.sh requirements.lock requirements-analysis.lock

lint: setup-test       ## style, types and imports between the layers
	@.venv/bin/ruff check --quiet $(SOURCES)
	@.venv/bin/ruff format --check $(SOURCES)
	@.venv/bin/mypy games llm_agents
	@.venv/bin/lint-imports --no-logo

check-games: setup-test  ## what a game still lacks, and the promises that every game keeps
	@$(PYTHON) -m games.contract $(GAMES) && $(PYTHON) manage.py check_games $(GAMES)

bench: setup-test      ## live matches at once on this machine
	@$(PYTHON) -m deploy.bench.bench $(BENCH)

lock:           ## pin today's versions of requirements*.txt
	@deploy/setup/lock.sh

clean:          ## remove the environment, the demo's data and every cache
	rm -rf .venv .venv-llm .venv-otree var .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
