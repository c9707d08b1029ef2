SWIFT_FORMAT = swift format $(1) --recursive --parallel --configuration .swift-format Package.swift Sources Tests

# Optimized, where millions of values are made.
RELEASE = --configuration release -Xswiftc -enable-testing --scratch-path .build/release-tests

.PHONY: all demo test test-integration lint format bench bench-counts long round-trips fuzz

all: lint test

demo:
	@bin/demo

test:
	@bin/test

test-integration:
	@bin/test --filter IntegrationTests

long:
	KINDRED_LONG_TESTS=1 bin/test --no-parallel --filter StreamMemory --filter CancellationRace --filter ClientLeak \
		--filter ServerEnd --filter Standby --filter PoolStateMachine

round-trips:
	KINDRED_ROUND_TRIPS=1000000 bin/test $(RELEASE) --filter RoundTripTests

fuzz:
	KINDRED_FUZZ=10000000 bin/test $(RELEASE) --filter 'Fuzz|HostileBytes'

lint:
	$(call SWIFT_FORMAT,lint --strict)

format:
	$(call SWIFT_FORMAT,--in-place)

bench:
	swift run --configuration release --package-path Benchmarks

bench-counts:
	swift run --configuration release --package-path Benchmarks Benchmarks --counts
