import Testing

@testable import KindredPostgres

/// Addresses and settings at the edge of what there is: each is taken as it is meant or refused, before anything is sent.
@Suite struct ConfigurationInputTests {
    private func parse(_ uri: String) throws -> PostgresConfiguration {
        let configuration = try PostgresConfiguration(uri: uri)
        _ = try configuration.libpqParameters(libpqVersion: 160_000, environment: [:])
        return configuration
    }

    @Test(arguments: [
        "postgres://", "postgresql:///", "postgres:///db", "postgres://h/db?", "postgres://[::1]/db",
        "postgres://[::1%25eth0]:5432/db", "postgres://h1:1,h2:2,h3/db", "postgres://h1,h2/db?port=7",
        "postgres://%2Fvar%2Frun%2Fpostgresql/db", "postgres:///db?host=/a,/b&port=1,2",
        "postgres://h/db?options=-c%20search_path%3Dshop", "postgres://h/db?client_encoding=utf8",
        "postgres://xn--bcher-kva.example/db", "postgres://bücher.example/db", "postgres://h/db?sslkey=engine:k",
        "postgres://u:@h/db", "postgres://:@h/db", "postgres://h/%20", "postgres://h/a%0Ab",
        "postgres://h/db?sslmode=verify-full&channel_binding=require", "postgres://h/db?statementCacheCapacity=0",
        "postgres://h/db?pooler=session",
    ])
    func addressesThatMeanSomethingAreTaken(uri: String) {
        #expect(throws: Never.self) { try parse(uri) }
    }

    @Test func theStatementCacheCanBeGivenInTheAddress() throws {
        #expect(try parse("postgres://h/db?primarySearchTimeout=1500").primarySearchTimeout == .milliseconds(1_500))
        #expect(try parse("postgres://h/db?replicaWeight=3").replicaWeight == 3)
        #expect(try parse("postgres://h/db?statementCacheCapacity=0").statementCacheCapacity == 0)
        #expect(try parse("postgres://h/db?statementCacheCapacity=17").statementCacheCapacity == 17)
    }

    @Test func thePoolerCanBeGivenInTheAddress() throws {
        #expect(try parse("postgres://h/db").pooler == .automatic)
        for pooler in PostgresConfiguration.Pooler.allCases {
            #expect(try parse("postgres://h/db?pooler=\(pooler.rawValue)").pooler == pooler)
        }
    }

    @Test(arguments: [
        "", " ", "postgres", "postgres:", "postgres:/", "postgres:/h/db", "http://h/db", "jdbc:postgresql://h/db",
        "POSTGRES://h/db", " postgres://h/db", "postgres://h/db\n", "postgres://h\r\n/db", "postgres://h/db\u{7F}",
        "postgres://[::1/db", "postgres://::1/db", "postgres://[]/db", "postgres://[::1]x/db", "postgres://[h]/db",
        "postgres://h:0/db", "postgres://h:65536/db", "postgres://h:99999999999999999999/db", "postgres://h:abc/db",
        "postgres://h:-1/db", "postgres://h:1.5/db", "postgres://h:٣/db", "postgres://h1:1:2/db",
        "postgres://h/db?primarySearchTimeout=0", "postgres://h/db?primarySearchTimeout=1s",
        "postgres://h/db?replicaWeight=0", "postgres://h/db?replicaWeight=1001", "postgres://h/db?replicaWeight=1.5",
        "postgres://h/db?statementCacheCapacity=-1", "postgres://h/db?statementCacheCapacity=",
        "postgres://h/db?statementCacheCapacity=9999999", "postgres://h/db?statementcachecapacity=0",
        "postgres://h/db?statementCacheCapacity=0&statementCacheCapacity=0",
        "postgres://h/db?pooler=", "postgres://h/db?pooler=statement", "postgres://h/db?pooler=None",
        "postgres://h/db?pooler=none&pooler=none",
        "postgres:///db?host=a,b&port=1,2,3", "postgres:///db?host=a,b&hostaddr=1.1.1.1", "postgres://h:1/db?port=2",
        "postgres://h1/db?host=h2", "postgres://a@b@h/db", "postgres://u:p:q@h/db", "postgres://u:p/q@h/db",
        "postgres://u:p#q@h/db", "postgres://h/db#part", "postgres://h/a/b", "postgres://h/db?x", "postgres://h/db?=1",
        "postgres://h/db?a=b=c", "postgres://h/db?&", "postgres://u%00@h/db", "postgres://h/%00", "postgres://h/%",
        "postgres://h/%zz", "postgres://h/%FF", "postgres://%01/db", "postgres://a b/db", "postgres://a%20b/db",
        "postgres://a%2Cb/db", "postgres://h/db?sslmode=require&sslmode=disable", "postgres://h/db?sslmode=sometimes",
        "postgres://h/db?service=x", "postgres://h/db?sslkey=k", "postgres://h/db?sslcert=c",
        "postgres://h/db?passfile=/x", "postgres://h/db?krbsrvname=x",
        "postgres://h/db?replication=database", "postgres://h/db?client_encoding=SQL_ASCII",
        "postgres://h/db?load_balance_hosts=random", "postgres://h/db?SSLMODE=require", "postgres://h/db?user=a&user=b",
        "postgres://u@h/db?user=v", "postgres://h/db?dbname=other", "postgres://h/db?connect_timeout=0",
        "postgres://h/db?connect_timeout=99999999999", "postgres://h/db?target_session_attrs=master",
        "postgres://" + String(repeating: "h", count: 1 << 20),
        "postgres:///db?host=/" + String(repeating: "x", count: 108),
        "postgres://h/" + String(repeating: "d", count: 64),
        "postgres://" + String(repeating: "u", count: 64) + "@h/db",
    ])
    func allOtherAddressesAreRefused(uri: String) {
        let error = #expect(throws: PostgresError.self) { _ = try parse(uri) }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func partsAreTakenAsTheyAre() throws {
        let uri = "postgres://%40%3A%2F%3F%23%25:it%27s%20%5C%22%0A@h/postgres%3A%2F%2Fevil%2Fx%3Fhost%3Dy"
        let configuration = try parse(uri)
        #expect(configuration.user == "@:/?#%")
        #expect(configuration.password?.text == "it's \\\"\n")
        // libpq does not look into it once more.
        #expect(configuration.database == "postgres://evil/x?host=y")
        let parameters = try configuration.libpqParameters(libpqVersion: 160_000, environment: [:])
        #expect(parameters.first { $0.keyword == "dbname" }?.value == "postgres://evil/x?host=y")
        #expect(parameters.first { $0.keyword == "host" }?.value == "h")
        let named = try parse("postgres://h/a=b%20host%3Devil")
        #expect(named.database == "a=b host=evil" && named.endpoints == [.tcp(host: "h")])
    }

    @Test func anAddressTakesNothingFromTheEnvironment() throws {
        let hostile = [
            "PGHOST": "evil", "PGPORT": "1", "PGUSER": "evil", "PGDATABASE": "evil", "PGPASSWORD": "evil",
            "PGPASSFILE": "/evil", "PGOPTIONS": "-c evil=1", "PGSSLMODE": "disable", "PGSSLROOTCERT": "/evil",
            "PGTARGETSESSIONATTRS": "standby", "PGCLIENTENCODING": "SQL_ASCII", "PGAPPNAME": "evil",
            "PGGSSENCMODE": "require", "PGCONNECT_TIMEOUT": "1",
        ]
        let configuration = try PostgresConfiguration(uri: "postgres://u@db.example.org/shop?sslrootcert=/ca")
        let parameters = try configuration.libpqParameters(libpqVersion: 160_000, environment: hostile)
        let plain = try configuration.libpqParameters(libpqVersion: 160_000, environment: [:])
        // Every setting of a variable is given already; a password that no program should have is a placeholder.
        let given = Set(plain.map(\.keyword))
        #expect(parameters.filter { $0.keyword != "password" }.map { "\($0)" } == plain.map { "\($0)" })
        #expect(parameters.allSatisfy { !$0.value.contains("evil") })
        let keywords = [
            "host", "port", "user", "dbname", "passfile", "options", "sslmode", "sslrootcert", "target_session_attrs",
            "client_encoding", "application_name", "gssencmode", "connect_timeout",
        ]
        #expect(given.isSuperset(of: keywords), "\(given)")
        for variable in ["PGHOSTADDR", "PGSERVICE"] {
            #expect(throws: PostgresError.self) {
                _ = try configuration.libpqParameters(libpqVersion: 160_000, environment: [variable: "evil"])
            }
        }
    }

    /// A setting, by its name.
    private struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let make: @Sendable (inout PostgresConfiguration) -> Void

        init(_ name: String, _ make: @escaping @Sendable (inout PostgresConfiguration) -> Void) {
            (testDescription, self.make) = (name, make)
        }
    }

    @Test(arguments: [
        Change("no server") { $0.endpoints = [] }, Change("no connections") { $0.pool.maximumConnections = 0 },
        Change("no connections for a tenant") { $0.pool.maximumConnectionsPerTenant = 0 },
        Change("fewer than none") { $0.pool.maximumConnections = -1 },
        Change("minimum above maximum") { $0.pool.minimumConnections = 11 },
        Change("minimum below zero") { $0.pool.minimumConnections = -1 },
        Change("empty pipeline") { $0.pool.pipelineDepth = 0 },
        Change("nobody connects") { $0.pool.connectConcurrency = 0 },
        Change("negative waiters") { $0.pool.maximumWaiters = -1 },
        Change("negative cache") { $0.statementCacheCapacity = -1 },
        Change("no result") { $0.maximumResultSize = 0 }, Change("nothing in flight") { $0.maximumBytesInFlight = 0 },
        Change("no time to connect") { $0.connectTimeout = .zero },
        Change("negative statement time") { $0.statementTimeout = .seconds(-1) },
        Change("negative grace") { $0.cancellationGrace = .seconds(-1) },
        Change("no time to acquire") { $0.pool.acquireTimeout = .zero },
        Change("negative idle time") { $0.pool.idleTimeout = .seconds(-1) },
        Change("no lifetime") { $0.pool.maximumLifetime = .zero },
        Change("negative test threshold") { $0.pool.idleTestThreshold = .seconds(-1) },
        Change("replicas that show writes before they are made") { $0.replicaDelay = .zero },
        Change("no share of the reads") { $0.replicaWeight = 0 },
        Change("no lease warning time") { $0.pool.leaseWarning = .zero },
        Change("NUL in a setting") { $0.settings["a"] = "\0" }, Change("NUL in the name") { $0.applicationName = "\0" },
        Change("a long role") { $0.user = String(repeating: "é", count: 32) },
        Change("port zero") { $0.endpoints = [.tcp(host: "h", port: 0)] },
    ])
    private func settingsThatMeanNothingAreRefused(change: Change) throws {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "localhost")], user: "u")
        try configuration.validate()
        change.make(&configuration)
        let error = #expect(throws: PostgresError.self) { try configuration.validate() }
        #expect(error?.code == .invalidConfiguration)
    }

    @Test func theLargestSettingsDoNotOverflow() throws {
        var configuration = PostgresConfiguration(endpoints: [.tcp(host: "localhost")], user: "u")
        let ages = Duration.seconds(Int64.max)
        configuration.connectTimeout = ages
        configuration.statementTimeout = ages
        configuration.keepAlive.idle = ages
        configuration.keepAlive.interval = ages
        configuration.keepAlive.count = .max
        configuration.keepAlive.userTimeout = ages
        configuration.maximumBytesInFlight = .max
        configuration.maximumResultSize = .max
        configuration.statementCacheCapacity = .max
        configuration.pool.maximumWaiters = .max
        configuration.pool.pipelineDepth = .max
        configuration.pool.maximumConnections = .max
        configuration.pool.connectConcurrency = .max
        configuration.pool.acquireTimeout = ages
        configuration.pool.idleTimeout = ages
        configuration.pool.maximumLifetime = ages
        configuration.pool.idleTestThreshold = ages
        configuration.pool.leaseWarning = ages
        try configuration.validate()
        _ = try configuration.libpqParameters(libpqVersion: 160_000, environment: [:])
        var machine = PoolStateMachine(options: configuration.pool)
        var actions = PoolStateMachine.Actions()
        let now = MonotonicTime.now
        let waiter = PoolStateMachine.Waiter(id: 1, use: .exclusive, deadline: now + configuration.pool.acquireTimeout)
        _ = machine.acquire(.exclusive, waiter: waiter, isNested: false, now: now, actions: &actions)
        let id = try #require(actions.connect.first)
        machine.connected(id, jitter: 1, now: now, actions: &actions)
        machine.release(id, now: now, actions: &actions)
        _ = machine.acquire(.shared, waiter: nil, isNested: false, now: now, actions: &actions)
        #expect(machine.tick(now: now, actions: &actions) > now)
    }
}
