SWIFT_FORMAT = swift format $(1) --recursive --parallel --configuration .swift-format Package.swift Sources Tests

.PHONY: all demo test test-integration lint format bench bench-counts

all: lint test

demo:
	@bin/demo

test:
	@bin/test

test-integration:
	@bin/test --filter IntegrationTests

lint:
	$(call SWIFT_FORMAT,lint --strict)

format:
	$(call SWIFT_FORMAT,--in-place)

bench:
	swift run --configuration release --package-path Benchmarks

bench-counts:
	swift run --configuration release --package-path Benchmarks Benchmarks --counts
