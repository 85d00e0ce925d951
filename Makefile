# Everything starts here: `make lab` and `make test` set up what they need, once.
LAB ?= 14
VENV := .venv/bin

.PHONY: help setup tools browser firefox lab labs manuals pdf-check test all-tests coverage check format kernel build install uninstall deb student-deb deb-test bench validation seeds selftests fuzz fuzz-window hostile kill-test mininet-suite guide strangers vm vm-test clean
PREFIX ?= /usr/local
ARCH ?= amd64
FOR_ARCH := $(if $(filter amd64,$(ARCH)),,-$(ARCH))
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

setup: ## packages (apt), .venv and the pocket kernel
	@tools/setup.sh

tools:
	@tools/setup.sh tools

lab: setup ## replay one lab and compare: make lab LAB=8, or with another seed: make lab LAB=8 SEED=2
	$(VENV)/linklab run $(LAB) $(if $(SEED),--seed $(SEED))

labs: setup ## replay every lab, one a processor
	$(VENV)/linklab run all

manuals: tools ## every lab and exercise as HTML and PDF, and the handbook, in build/manuals/
	$(VENV)/linklab manual --all

pdf-check: manuals ## check the manuals' PDFs against PDF/UA-1 with veraPDF, which needs Java and Maven
	$(VENV)/python tools/pdf_check.py

test: setup browser ## run the tests but those that take long, a file at a time on each processor; says what was skipped and why, what was run twice, and what took long
	$(VENV)/python -m pytest -rsR --durations=20 --durations-min=10 -n auto --maxprocesses 4 --dist loadfile

all-tests: setup browser ## the same with the tests that take long: the page of a lab with a screen reader, a platform's container; half an hour and more
	$(VENV)/python -m pytest --long -rsR --durations=20 --durations-min=10 -n auto --maxprocesses 4 --dist loadfile

browser: setup ## what the tests of the lab page need: Chromium and its driver, where apt has them, and axe-core
	@tools/setup.sh browser

firefox: setup ## the other browser of these tests: Firefox, and its driver, which needs Rust's cargo
	@tools/setup.sh firefox

coverage: setup browser ## run the tests and say which lines of the package they reach; pages in build/coverage/html/
	mkdir -p build/coverage
	$(VENV)/python -m pytest --long -q --cov --cov-report=term:skip-covered --cov-report=html

check: tools ## format, lint, types, manuals, shell scripts; changes nothing
	$(VENV)/ruff format --check .
	$(VENV)/ruff check .
	$(VENV)/mypy
	$(VENV)/linklab labs --check
	git grep --untracked -lzE '^#!.*\b(ba)?sh\b' -- ':!*.md' ':!*.py' | xargs -0 -r shellcheck

format: tools ## lay out the Python files
	$(VENV)/ruff format .
	$(VENV)/ruff check --fix .

kernel: tools ## build the pocket kernel, from your own archive: make kernel SOURCE=linux-7.3.tar.xz
	$(VENV)/linklab kernel build $(if $(SOURCE),--source "$(SOURCE)")

build: setup ## what `make install` needs: .venv, kernel, man pages, completions; needs no root but for apt
	$(VENV)/python tools/install.py build

install: ## after `make build`, for all users: sudo make install PREFIX=/usr/local
	@/usr/bin/python3 tools/install.py install --prefix "$(PREFIX)" --destdir "$(DESTDIR)"

uninstall: ## remove what `make install` installed
	@/usr/bin/python3 tools/install.py uninstall --prefix "$(PREFIX)" --destdir "$(DESTDIR)"

deb: ## build the Debian package, in build/deb/, for instructors: with solutions; with ARCH=arm64 one without the pocket kernel
	$(call package,linklab)

student-deb: ## the same for students, linklab-student: without solutions, keys and hidden checks
	$(call package,linklab-student)
	$(VENV)/python tools/student_files.py check build/deb/linklab-student_*_$(ARCH).deb

define package
	@tools/setup.sh deb
	$(VENV)/python tools/install.py build $(if $(FOR_ARCH),--no-kernel)
	mkdir -p build/deb
	PACKAGE=$(1) DEB_HOST_ARCH=$(ARCH) DEB_BUILD_OPTIONS=nocheck debian/rules clean binary
	debian/rules clean
	@ls -l build/deb/$(1)_*.deb
endef

deb-test: ## try the package and a clone in fresh Debian 12 roots; about half an hour
	@/usr/bin/python3 tools/fresh_root.py deb
	@/usr/bin/python3 tools/fresh_root.py clone

bench: setup ## measure speed and memory, for docs/benchmarks.md
	$(VENV)/python tools/bench.py

validation: setup ## compare experiments in pockets with theory, for docs/validation.md: make validation ONLY="codel orphan"
	PYTHONPATH=tools $(VENV)/python -m validate $(ONLY)

seeds: setup ## replay labs with several seeds, which rewrites docs/seeds.md; over an hour: make seeds LABS=10,11 SEEDS=20
	$(VENV)/python tools/seeds.py $(or $(LABS),all) --seeds $(or $(SEEDS),5)

selftests: setup ## run Linux's own networking tests in pockets, for docs/selftests.md; more than an hour
	$(VENV)/python tools/selftests.py $(TESTS)

fuzz: tools ## feed every reader of files and outputs 77,500 damaged ones, and 1,000 campaign scripts; about ten minutes
	$(VENV)/python tools/fuzz.py
	$(VENV)/python tools/fuzz_netesto.py --run 5

hostile: setup ## hand the grader every hostile work.sh and forged archive of tests/hostile/; about ten minutes
	LINKLAB_HOSTILE=1 $(VENV)/python -m pytest -q tests/hostile tests/pocket/test_hostile.py

fuzz-window: tools ## open 5,000 damaged drawings in the editor's window, on a display of its own; about an hour
	xvfb-run -a $(VENV)/python tools/fuzz_window.py

kill-test: setup ## kill fifty networks of the host engine at random moments and count what is left; as root
	$(VENV)/python tools/kill_test.py 50

mininet-suite: setup ## run Mininet's own tests in pockets and write their table in docs/mininet.md
	$(VENV)/python tools/mininet_suite.py

guide: setup ## let the guide follow every lab, grade what that leaves, and lead it into mistakes, for docs/guide.md; an hour
	$(VENV)/python tools/guide_labs.py $(LABS)

strangers: setup ## run third-party Mininet scripts and tools in pockets, for docs/strangers.md
	$(VENV)/python tools/strangers.py --page

vm: setup manuals $(if $(INSTRUCTOR),deb,student-deb) ## build the image for students, in build/vm/ (vm/README.md); with INSTRUCTOR=1 that with solutions; about ten minutes
	@tools/setup.sh vm$(FOR_ARCH)
	$(VENV)/python -m vm.build --arch $(ARCH) --deb build/deb/linklab$(if $(INSTRUCTOR),,-student)_*_$(ARCH).deb $(VM_OPTIONS)

vm-test: tools ## start that image in QEMU and use it; software emulation, ten minutes
	@tools/setup.sh vm$(FOR_ARCH)
	$(VENV)/python -m vm.trial --arch $(ARCH) $(VM_OPTIONS)

clean: ## remove what runs left behind and what was built here; runs/ and the kernel stay
	@if [ -x $(VENV)/linklab ]; then $(VENV)/linklab clean; fi
	rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis
