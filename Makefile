# Hearth's commands. `make help` lists them.
.PHONY: help setup build run test test-long quick-test steady-test asan tsan fuzz bench stress soak format clean

BUILD := build/release
JOBS := $(shell nproc)
DATA ?= data
LISTEN ?= 127.0.0.1:8080
APPS ?= all

help:             ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## /  make \1\t/' | expand -t 24

setup:            ## Install what is missing: Debian packages by name, npm packages by lock file
	@tools/setup

build: setup      ## Build the release binary: build/release/hearth
	@tools/build release hearth

run: build        ## Build, then serve ./data and the applications on 127.0.0.1:8080
	$(BUILD)/hearth serve --data $(DATA) --listen $(LISTEN) --apps $(APPS)

test: setup       ## Build and run the tests that every change must pass, and tell how long each stage took
	@tools/test

test-long: setup  ## The same with nothing left out: all sanitizers on all tests, FUZZ_SECONDS for each fuzzer
	@tools/test long

quick-test: setup ## Build and run the tests, without sanitizers and fuzzers
	@tools/build release tests
	cd $(BUILD) && ctest --output-on-failure -j $(JOBS) --label-exclude long

steady-test: setup ## Run the tests RUNS times (5) beside busy processes: one that waits for time fails
	@tools/steady_test $(or $(RUNS),5)

asan: setup       ## The C++ tests under AddressSanitizer and UBSan
	@tools/sanitize asan both long

tsan: setup       ## The C++ tests under ThreadSanitizer
	@tools/sanitize tsan both long

fuzz: setup       ## Fuzz frames, headers and bodies; FUZZ_SECONDS each
	@tools/fuzz $(or $(FUZZ_SECONDS),300)

stress: build     ## Kill the server hundreds of times and compare with a model
	@tools/build release hearth_stress
	$(BUILD)/hearth_stress --server $(BUILD)/hearth --kills $(or $(KILLS),300)

soak: setup       ## Random queries, listeners and feeds, each for SOAK_SECONDS (an hour), compared with models
	@tools/build release queries_differential_test queries_test feed_model_test hearth
	HEARTH_SOAK_SECONDS=$(or $(SOAK_SECONDS),3600) $(BUILD)/queries_differential_test
	HEARTH_SOAK_SECONDS=$(or $(SOAK_SECONDS),3600) $(BUILD)/queries_test --gtest_filter='WatcherRandom*'
	HEARTH_SOAK_SECONDS=$(or $(SOAK_SECONDS),3600) $(BUILD)/feed_model_test
	HEARTH_QUERIES=$(or $(SOAK_QUERIES),50000) node --test test/conformance/query_differential.test.js

bench: setup      ## Measure against the ceilings and rivals; writes bench/results/
	@tools/build release all
	bench/run
	bench/queries
	bench/listeners
	bench/applications

format: setup     ## Format C++, TypeScript and JavaScript
	clang-format -i $$(git ls-files '*.cc' '*.h')
	node_modules/.bin/biome format --write .

clean:            ## Remove what was built
	rm -rf build
