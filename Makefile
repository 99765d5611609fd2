# SPDX-License-Identifier: Apache-2.0
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: docs docs-links pictures bench bench-browser bench-codegen bench-simulation soak lines \
	bounds counts studies validate help setup setup-docs setup-test setup-validate demo test \
	test-all test-faults lint test-arm64 test-oldest build colcon-test clean

# Every command runs apart from any other ROS, see flexdyn_ros/isolation.py.
ENV := scripts/env.sh
# Test processes side by side, each in a DDS domain of its own.
WORKERS ?= 2
PYTEST = $(ENV) python -m pytest -q -rs --timeout=900 --durations=30 -n $(WORKERS) --dist loadfile

help: ## show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-17s%s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo '  PYTHON=/path/to/python3.12 picks another Python (3.10 to 3.12).'

setup: ## make .venv with the needs of the demo and the nodes (under 600 MB)
	@$(ENV) scripts/setup.sh run

setup-docs:
	@$(ENV) scripts/setup.sh docs

setup-test:
	@$(ENV) scripts/setup.sh test
	@$(ENV) scripts/build_interfaces.sh

setup-validate:
	@$(ENV) scripts/setup.sh validate

demo: setup ## simulate, control and draw two flexible arms over ROS 2
	@scripts/demo.sh

test: setup-test ## set up .venv with the test tools and run the tests that gate a change
	@$(PYTEST) -m 'not slow' $(PYTEST_ARGS)

test-all: setup-test ## every test: also the slow ones, as pip, colcon and the demo
	@$(PYTEST) $(PYTEST_ARGS)

test-faults: setup-test ## seed each fault of test/faults, which its tests must find (half an hour)
	@$(ENV) python scripts/seeded_faults.py --jobs $(WORKERS)

lint: setup-test ## ruff, mypy, import contracts, English of all texts (30 seconds)
	@$(ENV) ruff check .
	@$(ENV) mypy
	@$(ENV) lint-imports --no-logo
	@$(ENV) python scripts/prose.py

test-oldest: ## tests without ROS on numpy 1.21.5, scipy 1.8.0 and Python 3.10
	@$(ENV) scripts/test_oldest.sh

test-arm64: setup-test ## generated code, batches and the extension for ARM64 by QEMU (minutes)
	@$(ENV) python test/arm64

build: setup-test ## colcon build into build/ and install/
	@$(ENV) scripts/colcon.sh build

colcon-test: build ## colcon build, then colcon test (the quick tests)
	@$(ENV) scripts/colcon.sh test

counts: setup ## operation counts beside published ones, savings of passes, into docs/ (minutes)
	@$(ENV) python -m validation.counts
	@$(ENV) python -m benchmarks.generation
	@$(ENV) python -m benchmarks.derivatives

bounds: setup ## proved least numbers of operations for rows of docs/counts.md (half a minute)
	@$(ENV) python -m validation.bounds

studies: setup-test ## beams, modes, identification, tip paths, scenarios, into docs/ (minutes)
	@$(ENV) python -m benchmarks.rotating_beam
	@$(ENV) python -m benchmarks.mode_convergence
	@$(ENV) python -m benchmarks.identification.example
	@$(ENV) python -m benchmarks.tip_tracking
	@$(ENV) python -m benchmarks.corrected_positions
	@$(ENV) python scripts/scenario_pictures.py

validate: setup-validate ## published cases and other codes, into docs/validation.md (an hour)
	@$(ENV) python -m validation --all --jobs $(WORKERS) --page docs/validation.md

bench-codegen: setup-test ## speed of compiled code, into docs/benchmarks.md (minutes)
	@$(ENV) python -m benchmarks.codegen

bench-simulation: setup-test ## speed of simulations, into docs/simulation_speed.md (minutes)
	@$(ENV) python -m benchmarks.simulation

bench-browser: setup-test ## frames a second of 20 000 bending vertices in Chromium
	@$(ENV) python -m benchmarks.browser_view

bench: setup ## rate of the inverse dynamics node (minutes)
	@$(ENV) python -m benchmarks.node_rate

soak: setup ## ten minutes of the inverse dynamics node at 500 Hz: its memory stays flat
	@$(ENV) python -m benchmarks.soak

docs: setup-docs ## the site of documents, into build/docs; warnings are errors
	@$(ENV) python -m sphinx -q -W --keep-going -b html docs build/docs
	@echo 'The site is in build/docs/index.html.'

docs-links: setup-docs ## check the links of the documents to other sites (needs the network)
	@$(ENV) python -m sphinx -q -b linkcheck docs build/docs-links

pictures: setup-test ## pictures of examples and views, into docs/pictures (minutes; Chromium)
	@mkdir -p build && $(ENV) python scripts/pictures.py

lines: ## lines of code of the installed package, by folder
	@python3 scripts/count_lines.py

clean: ## remove environments, builds and caches
	rm -rf .venv .venv-oldest build install log *.egg-info .pytest_cache .mypy_cache .ruff_cache
	rm -rf .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
	rm -f flexdyn_ros/codegen/compile/runtime/*.so
