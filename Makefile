# The doors of the project. `make bench` and `make test` work as the first command on a fresh machine with Swift 6.3+.
# make turns every failure into 2; whoever needs tidegauge's own exit codes calls .build/release/tidegauge.

PROFILE ?= ci
SECONDS ?= 60
SEED ?=
FILTER ?= StillingWellTests|StillingWellCombineTests|StillingWellSyncTests|TidegaugeTests
BASE ?= HEAD~1
HEAD ?=
# Of pairs; what is counted before them comes on top, once for each commit.
BUDGET ?= 10m
TIDEGAUGE = .build/release/tidegauge
# The same with GRDB, whose build is the longest of all.
PEERS = .build/release/tidegauge-peers
# Says how far it is and how long is left.
BUILD = Tools/build.sh
FIRST = make: the first build takes three to four minutes on two quiet cores, later ones take seconds
# The folders of scenarios; those of peers, of reading and of servers have targets of their own.
SCENARIOS = $(filter-out Scenarios/peers Scenarios/reading Scenarios/servers,$(patsubst %/,%,$(wildcard Scenarios/*/)))

.PHONY: bench peers reading servers smoke compare calibrate test page-test data-test external stress powercut damage fuzz explore check lint docs tsan asan faults setup build build-peers clean help

help:  ## what there is: also what plain `make` does
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

bench: build  ## build, run all scenarios of the store (PROFILE=smoke|ci|full), write Reports/latest; what became worse since last time?
	$(TIDEGAUGE) run $(SCENARIOS) --profile $(PROFILE) --baseline last --save-baseline last

peers: build-peers  ## the store beside other engines, which take their time (PROFILE=full for the whole table)
	$(PEERS) run Scenarios/peers --profile $(PROFILE)

# Twenty commits of each: engines that fetch again at every commit take seconds for one where instructions are counted.
reading: build-peers  ## what reading costs, question by question, beside other engines: counted instructions (PROFILE=full for large stores)
	$(PEERS) run Scenarios/reading --driver stillingwell --driver grdb-pool --driver sqlite-hooks --profile $(PROFILE) --count --commits 20

servers: build-peers  ## live queries over PostgreSQL, which is installed where it is missing (PROFILE=full for the whole table)
	@Tools/setup.sh servers
	$(PEERS) run Scenarios/servers --profile $(PROFILE)

smoke: build-peers  ## the same in under two minutes: does everything still run?
	$(PEERS) run $(SCENARIOS) Scenarios/peers --profile smoke

compare: build  ## is the working tree slower than BASE? Builds both, measures them in turn (BASE=HEAD~1, HEAD=, BUDGET=10m)
	$(TIDEGAUGE) compare $(BASE) $(HEAD) --budget $(BUDGET)

calibrate: build  ## how often would this machine call a false alarm, and how small a slow-down does it see?
	$(TIDEGAUGE) calibrate --scenario commit-latency --scenario result-size --power 5

test: setup  ## unit, property and golden tests (TIDEGAUGE_NIGHTLY=1: those of the nightly run too)
	Tools/test.sh

page-test:  ## use the pages of reports in a headless Chromium: hover, zoom, filter, print, compare
	@Tools/setup.sh browser
	Tools/test.sh --filter BrowserTests

data-test:  ## the questions of Docs/report.md in pandas and DuckDB, on the reference run
	@Tools/setup.sh data
	Tools/test.sh --filter TableTests

external: setup  ## packages that depend on this one: the store alone, a driver by itself and beside other engines
	Tools/external.sh

explore: build  ## search the interleavings of the store's own protocol (SCHEDULES=10000, SEED=)
	$(TIDEGAUGE) explore Scenarios/deadlock/refresh-close.yaml --schedules $(or $(SCHEDULES),10000) $(if $(SEED),--seed $(SEED))
	$(TIDEGAUGE) explore Scenarios/deadlock/commit-deliver-close.yaml --schedules $(or $(SCHEDULES),10000) $(if $(SEED),--seed $(SEED))

check: build  ## are all scenario files valid? Runs none of them
	$(TIDEGAUGE) check $(SCENARIOS) Scenarios/peers Scenarios/reading Scenarios/servers

lint:  ## check formatting and style, and the subjects of commits that are not on main yet
	@Tools/subjects.sh
	swift format lint --strict --recursive --parallel Sources Tests Examples Tools Package.swift

docs: setup  ## the documentation of StillingWell, strict: no warning, no symbol without a comment, no unnamed error
	Tools/docs.sh

stress: setup  ## load from threads and processes, every promise checked at every callback (SECONDS=, SEED=)
	$(BUILD) stillingwell-torture
	.build/release/stillingwell-torture stress --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

powercut: setup  ## what a power cut may leave of a store, opened image by image, for each durability (IMAGES=10000, SEED=)
	$(BUILD) stillingwell-torture
	for durability in full relaxed; do \
		.build/release/stillingwell-torture power-cut --durability $$durability --images $(or $(IMAGES),10000) $(if $(SEED),--seed $(SEED)) || exit 1; \
	done

damage: setup  ## damaged copies of store files, each opened, read and written by a process of its own (COPIES=, SEED=)
	$(BUILD) stillingwell-torture
	.build/release/stillingwell-torture damage --copies $(or $(COPIES),1000) $(if $(SEED),--seed $(SEED))

fuzz: setup  ## fuzz every reader of untrusted input (for each SECONDS=, or INPUTS=1000000; TARGET=row, SEED=)
	$(if $(INPUTS),FUZZ_INPUTS=$(INPUTS),FUZZ_SECONDS=$(SECONDS)) $(if $(SEED),TIDEGAUGE_SEED=$(SEED)) Tools/test.sh --filter 'TidegaugeFuzzTests.*/$(TARGET)'

tsan: setup  ## the concurrent tests under ThreadSanitizer (FILTER=regular expression)
	Tools/sanitize.sh thread '$(FILTER)'

asan: setup  ## the same tests under AddressSanitizer
	Tools/sanitize.sh address '$(FILTER)'

faults: setup  ## proof that the tests can fail: each patch of Tests/Faults must turn its tests red (PART=1/3)
	Tools/faults.sh $(if $(PART),--part $(PART))

setup:  ## install missing system packages, or say the one line that does
	@Tools/setup.sh

build: setup
	@[ -e $(TIDEGAUGE) ] || echo "$(FIRST)" >&2
	$(BUILD) tidegauge

build-peers: setup
	@[ -e $(PEERS) ] || echo "$(FIRST), half as long again with GRDB" >&2
	$(BUILD) tidegauge-peers

clean:  ## remove what was built; reports stay
	rm -rf .build .build-thread .build-address .build-faults .build-external .build-compare .build-data
