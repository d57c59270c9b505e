# Entry points of the project. `make bench` and `make test` work as the first command on a new machine with Swift 6.3+.
# make exits with 2 at every failure. .build/release/tidegauge has exit codes of its own.

PROFILE ?= ci
SECONDS ?= 60
SEED ?=
FILTER ?= StillingWellTests|StillingWellCombineTests|StillingWellSyncTests|TidegaugeTests
BASE ?= HEAD~1
HEAD ?=
# Time for pairs. Counting comes before them and takes extra time, once for each commit.
BUDGET ?= 10m
TIDEGAUGE = .build/release/tidegauge
# The same program with GRDB and PostgreSQL. GRDB takes longest to build.
PEERS = .build/release/tidegauge-peers
# Builds a product, and prints progress and the remaining time.
BUILD = Tools/build.sh
FIRST = make: the first build takes three to four minutes on two quiet cores, later ones take seconds
# Folders of scenarios, without those that have targets of their own.
SCENARIOS = $(filter-out Scenarios/peers Scenarios/reading Scenarios/servers,$(patsubst %/,%,$(wildcard Scenarios/*/)))

.PHONY: bench peers reading servers engines reference smoke compare calibrate test page-test data-test external stress powercut damage fuzz explore check lint docs tsan asan faults setup build build-peers clean help

help:  ## list the targets (also: make without a target)
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

bench: build  ## build, run all scenarios of the store, compare with the last run, write Reports/latest (PROFILE=smoke|ci|full)
	$(TIDEGAUGE) run $(SCENARIOS) --profile $(PROFILE) --baseline last --save-baseline last

peers: build-peers  ## run the scenarios that compare engines; takes longer (PROFILE=full: the whole table)
	$(PEERS) run Scenarios/peers --profile $(PROFILE)

# Counts 20 commits of each: an engine that fetches again at every commit takes seconds for one under callgrind.
reading: build-peers  ## count the instructions of reads in callbacks, on several engines (PROFILE=full: large stores)
	$(PEERS) run Scenarios/reading --driver stillingwell --driver grdb-pool --driver sqlite-hooks --profile $(PROFILE) --count --commits 20

servers: build-peers  ## run the scenarios of live queries over PostgreSQL; installs it if missing (PROFILE=full: the whole table)
	@Tools/setup.sh servers
	$(PEERS) run Scenarios/servers --profile $(PROFILE)

engines: build-peers  ## test the promises of each engine of Engines whose language is installed, and run them beside others (PROFILE=)
	PROFILE=$(PROFILE) Tools/engines.sh $(PEERS)

reference: build-peers  ## make Reports/reference anew at the commit that is checked out, in about 20 minutes
	Tools/reference.sh $(PEERS)

smoke: build-peers  ## run all scenarios but reading and servers briefly, in under two minutes, to check that they run
	$(PEERS) run $(SCENARIOS) Scenarios/peers --profile smoke

compare: build  ## build the working tree and BASE, and test whether it is slower (BASE=HEAD~1, HEAD=, BUDGET=10m)
	$(TIDEGAUGE) compare $(BASE) $(HEAD) --budget $(BUDGET)

calibrate: build  ## measure false alarms and the smallest detectable slowdown of this machine
	$(TIDEGAUGE) calibrate --scenario commit-latency --scenario result-size --power 5

test: setup  ## run the tests (TIDEGAUGE_NIGHTLY=1: also those of the nightly workflow)
	Tools/test.sh

page-test:  ## test the report pages in a headless Chromium: hover, zoom, filter, print, compare
	@Tools/setup.sh browser
	Tools/test.sh --filter BrowserTests

data-test:  ## run the examples of Docs/report.md in pandas and DuckDB, on the reference run
	@Tools/setup.sh data
	Tools/test.sh --filter TableTests

external: setup  ## build packages that depend on this one: the store alone, a driver alone and with other engines
	Tools/external.sh

explore: build  ## search the interleavings of the store's own protocol for hangs (SCHEDULES=10000, SEED=)
	$(TIDEGAUGE) explore Scenarios/deadlock/refresh-close.yaml --schedules $(or $(SCHEDULES),10000) $(if $(SEED),--seed $(SEED))
	$(TIDEGAUGE) explore Scenarios/deadlock/commit-deliver-close.yaml --schedules $(or $(SCHEDULES),10000) $(if $(SEED),--seed $(SEED))

check: build  ## validate all scenario files without running them
	$(TIDEGAUGE) check $(SCENARIOS) Scenarios/peers Scenarios/reading Scenarios/servers

lint:  ## check formatting and style, and the subjects of commits that are not on main yet
	@Tools/subjects.sh
	swift format lint --strict --recursive --parallel Sources Tests Examples Tools Package.swift

docs: setup  ## build the documentation of StillingWell; fails on warnings, missing comments and unnamed errors
	Tools/docs.sh

stress: setup  ## load a store from threads and processes, and check every callback (SECONDS=60, SEED=)
	$(BUILD) stillingwell-torture
	.build/release/stillingwell-torture stress --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

powercut: setup  ## open images of the disk that a power cut may leave, for each durability (IMAGES=10000, SEED=)
	$(BUILD) stillingwell-torture
	for durability in full relaxed; do \
		.build/release/stillingwell-torture power-cut --durability $$durability --images $(or $(IMAGES),10000) $(if $(SEED),--seed $(SEED)) || exit 1; \
	done

damage: setup  ## open, read and write damaged copies of store files, each in its own process (COPIES=1000, SEED=)
	$(BUILD) stillingwell-torture
	.build/release/stillingwell-torture damage --copies $(or $(COPIES),1000) $(if $(SEED),--seed $(SEED))

fuzz: setup  ## fuzz every parser of untrusted input (each for SECONDS=60, or INPUTS=1000000; TARGET=row, SEED=)
	$(if $(INPUTS),FUZZ_INPUTS=$(INPUTS),FUZZ_SECONDS=$(SECONDS)) $(if $(SEED),TIDEGAUGE_SEED=$(SEED)) Tools/test.sh --filter 'TidegaugeFuzzTests.*/$(TARGET)'

tsan: setup  ## run the concurrent tests under ThreadSanitizer (FILTER=regular expression)
	Tools/sanitize.sh thread '$(FILTER)'

asan: setup  ## run the same tests under AddressSanitizer
	Tools/sanitize.sh address '$(FILTER)'

faults: setup  ## apply each patch of Tests/Faults, and check that its tests fail (PART=1/3)
	Tools/faults.sh $(if $(PART),--part $(PART))

setup:  ## install missing system packages, or print the command that does
	@Tools/setup.sh

build: setup
	@[ -e $(TIDEGAUGE) ] || echo "$(FIRST)" >&2
	$(BUILD) tidegauge

build-peers: setup
	@[ -e $(PEERS) ] || echo "$(FIRST), half as long again with GRDB" >&2
	$(BUILD) tidegauge-peers

clean:  ## remove all builds; reports are kept
	rm -rf .build .build-thread .build-address .build-faults .build-external .build-compare .build-data
