SWIFT_FORMAT = swift format $(1) --recursive --parallel --configuration .swift-format Package.swift Sources Tests

# A virtual environment for the libraries that the benchmark compares with.
PEERS = Benchmarks/.build/peers

LIVE_AGENT = $(CURDIR)/Benchmarks/.build/release/LiveAgent
LIVE_PROGRAM = --agent '$(LIVE_AGENT)' --enable '$(LIVE_AGENT) --enable {tables}'

# Optimized, for tests that make millions of values.
RELEASE = --configuration release -Xswiftc -enable-testing --scratch-path .build/release-tests

.PHONY: all demo test test-integration lint format random bench bench-peers bench-counts bench-live live-agent live-oracle \
	live-figures long long-citus soak round-trips fuzz hostile sbom docs api-breakage examples

all: lint test

demo:
	@bin/demo

test:
	@bin/test

test-integration:
	@bin/test --filter IntegrationTests

long:
	KINDRED_LONG_TESTS=1 bin/test --filter 'DeletionModel|GraphConsistency|GraphWalk|OperatorTests|Order.*Model' \
		--filter 'OverlapTests|RacingTransaction|RandomCatalog|RandomDifference|UniqueValueModel'
	KINDRED_LONG_TESTS=1 bin/test --no-parallel --filter StreamMemory --filter CancellationRace --filter CancelledWrite --filter ClientLeak \
		--filter ServerEnd --filter Standby --filter CopyAnswer --filter ProcessFault --filter TenantIsolation \
		--filter PoolStateMachine --filter Forged --filter aRowThatIsTooLarge --filter ChangeBooks \
		--filter ManySchemas --filter PoolerLoad --filter PositionTests --filter FailoverTests

# Over the Citus that KINDRED_TEST_CITUS names: KINDRED_TEST_CITUS=$(Tests/Citus/start) make long-citus
long-citus:
	@test -n "$$KINDRED_TEST_CITUS" || { echo 'Start Citus by Tests/Citus/start, and give its URI as KINDRED_TEST_CITUS' >&2; exit 1; }
	bin/test --filter CitusTests

# One night of a program with all of its parts, which ends with a table; in seconds, and as an earlier night that failed:
# make soak TIME=300 SEED=7
soak:
	KINDRED_SOAK_SECONDS=$(or $(TIME),1200) $(if $(SEED),KINDRED_SOAK_SEED=$(SEED)) bin/test --filter SoakTests

# With another number: make round-trips COUNT=1000
round-trips:
	KINDRED_ROUND_TRIPS=$(or $(COUNT),1000000) bin/test $(RELEASE) --filter RoundTripTests

# Random programs over relationships of all kinds, and random changes beside random questions, compared with SQL:
# make random COUNT=1000 SEED=20001
random:
	KINDRED_RANDOM=$(or $(COUNT),10000) KINDRED_RANDOM_SEED=$(or $(SEED),1) bin/test $(RELEASE) --filter 'Random(Graph|Reads)Tests'

fuzz:
	KINDRED_FUZZ=$(or $(COUNT),10000000) bin/test $(RELEASE) --filter 'Fuzz|HostileBytes'

# Commands, calls and readers beside a role that means harm.
hostile:
	bin/test --filter 'Hostile(Name|Path|Reader|Schema)' --filter 'ReturnTests|HeldTransaction|CatalogSafety'

lint:
	$(call SWIFT_FORMAT,lint --strict)

format:
	$(call SWIFT_FORMAT,--in-place)

bench:
	swift run --configuration release --package-path Benchmarks

bench-peers: $(PEERS)/installed
	swift run --configuration release --package-path Benchmarks Benchmarks --peers $(PEERS)/bin/python

$(PEERS)/installed:
	python3 -m venv $(PEERS)
	$(PEERS)/bin/pip install --quiet 'sqlalchemy>=2' 'psycopg[binary]>=3' asyncpg
	touch $@

bench-counts:
	swift run --configuration release --package-path Benchmarks Benchmarks --counts $(ARGS)

# Live requests: latency, many requests, a long list. make bench-live ARGS='--only latency'
bench-live:
	swift run --configuration release --package-path Benchmarks Benchmarks --live $(ARGS)

# Compares live requests with what SQL gives after each batch of writes: make live-oracle BATCHES=10000 ARGS='--seed 7'
# With LIVE_PREPARED=0 in the environment no transaction can be prepared, and readers are woken by NOTIFY.
live-oracle: live-agent
	Tests/LiveOracle/live oracle.py $(LIVE_PROGRAM) --batches $(or $(BATCHES),200) $(ARGS)

# Its figures: make live-figures ARGS='--part latency'
live-figures: live-agent
	Tests/LiveOracle/live figures.py $(LIVE_PROGRAM) --durable $(ARGS)

live-agent:
	swift build --configuration release --package-path Benchmarks --product LiveAgent

docs:
	@bin/docs

# Compares the libraries' API with that of the last tag.
api-breakage:
	@bin/api-breakage

# Prints the contents of a build, with versions, for a bill of materials.
sbom:
	@swift package show-dependencies --format json

# The example servers' tests, and the plugin in a fresh package; the middleware that they use.
examples:
	@bin/setup
	swift test --disable-xctest --package-path Packages/KindredHummingbird
	swift test --disable-xctest --package-path Examples/Shop
	swift test --disable-xctest --package-path Examples/Tracker
