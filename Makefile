# On a fresh Debian, `make demo` serves every game, and `make test` runs what guards every change.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help analysis docs setup setup-test demo demo-llm otree-demo stand-in-llm stand-in-mturk stand-in-panel stand-in-prolific \
        test test-all reproduce coverage lint check-games bench profile lock clean

# Celery and the web server need it to find the apps; manage.py and pytest set it themselves.
export PYTHONPATH := platform:.
# Messages begin with the seconds since then.
export PARLEY_BEGAN := $(shell date +%s)
PYTHON := .venv/bin/python
START_DEMO := . deploy/setup/progress.sh; say "Starting Parley"; exec $(PYTHON) -m config.management.commands.demo
SOURCES := manage.py conftest.py games llm_agents platform tests deploy

help:           ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*##/\t/' | expand -t 20

setup:
	@deploy/setup/venv.sh requirements.lock

setup-test:
	@deploy/setup/venv.sh requirements.lock requirements-analysis.lock requirements-test.lock

demo: setup     ## set up, then serve every game at http://127.0.0.1:8000 (DEMO=--share: also to phones in your network)
	@$(START_DEMO) $(DEMO)

demo-llm: setup  ## the demo with a small language model on this machine; needs no key
	@deploy/setup/llm.sh
	@$(START_DEMO) --llm $(DEMO)

stand-in-llm: setup  ## stand-in server for OpenAI and Anthropic that plays every game (STAND_IN="--help")
	@$(PYTHON) -m llm_agents.standins $(STAND_IN)

stand-in-mturk: setup  ## stand-in server for Mechanical Turk, with workers' pages, to rehearse a study (STAND_IN="--help")
	@$(PYTHON) -m marketplaces.mturk.standin $(STAND_IN)

stand-in-panel: setup  ## stand-in server for a panel: sends people to a study (STAND_IN="STUDY_ADDRESS --preset sona")
	@$(PYTHON) -m panels.standin $(STAND_IN)

stand-in-prolific: setup  ## stand-in server for Prolific, to rehearse without people or money (STAND_IN="--help")
	@$(PYTHON) -m marketplaces.prolific.standin $(STAND_IN)

otree-demo: setup  ## serve an oTree experiment with a Parley game in the middle, usually at http://127.0.0.1:8001
	@deploy/setup/otree.sh
	@$(PYTHON) -m deploy.otree_demo.serve

test: setup-test       ## set up, then run in about 8 minutes what guards every change (PYTEST="…" adds arguments)
	@deploy/setup/browser.sh
	@deploy/setup/nginx.sh
	@$(PYTHON) deploy/setup/tests.py --lint $(PYTEST)

test-all: setup-test   ## run every test, also the slow ones, and property tests with new examples: an hour or more
	@deploy/setup/browser.sh
	@deploy/setup/nginx.sh
	@$(PYTHON) deploy/setup/tests.py --lint --all $(PYTEST)

coverage: setup-test   ## run the quick tests without services and browsers, and fail if they run too few lines
	@$(PYTHON) -m pytest -q -n 2 --cov --cov-report=term -m "not slow and not browser and not otree and not services" $(PYTEST)

analysis:       ## install what `manage.py analyse` and notebooks need besides the server
	@deploy/setup/venv.sh requirements.lock requirements-analysis.lock

reproduce: analysis  ## make published tables again beside the printed ones (SYSTEM=coopeval DATA=folder; OUT=folder)
	@test -n "$(SYSTEM)" -a -n "$(DATA)" || { echo "Say of what: make reproduce SYSTEM=coopeval DATA=folder" >&2; exit 2; }
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && env -u DATABASE_URL PARLEY_DATA="$$data" \
	    $(PYTHON) manage.py reproduce "$(SYSTEM)" "$(DATA)" --to "$(or $(OUT),var/reproduced/$(SYSTEM))"

docs: setup     ## build the documentation site: open var/docs/html/index.html
	@deploy/setup/venv.sh --into .venv-docs requirements-docs.lock
	@$(PYTHON) -m deploy.docs

lint: setup-test       ## check style, types and imports between layers
	@.venv/bin/ruff check --quiet $(SOURCES)
	@.venv/bin/ruff format --check $(SOURCES)
	@.venv/bin/mypy
	@.venv/bin/lint-imports --no-logo

check-games: setup-test  ## list what a game still lacks, and test what every game must do
	@$(PYTHON) -m games.contract $(GAMES) && $(PYTHON) manage.py check_games $(GAMES)

bench: setup-test      ## measure concurrent live matches on this machine
	@$(PYTHON) -m deploy.bench.bench $(BENCH)

profile: setup-test    ## show where a move spends its time (with py-spy: flame graphs in var)
	@$(PYTHON) -m deploy.bench.bench --parts profile $(PROFILE)

lock:           ## pin current versions of requirements*.txt
	@deploy/setup/lock.sh

clean:          ## remove the environments, the demo's data and every cache
	rm -rf .venv .venv-docs .venv-llm .venv-otree .venv-inspect var .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
