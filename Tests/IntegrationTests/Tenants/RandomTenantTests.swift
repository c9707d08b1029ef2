import Foundation
import Kindred
import KindredLive
import KindredTesting
import TestSupport
import Testing

/// Random calls of contexts of three tenants, whose live requests go on beside them: none reads, changes or names a row of
/// another.
///
/// Plain SQL over another connection tells which rows there are. Notes have a policy of row-level security, for SQL of the
/// program's own, and the role that all tenants share owns no table.
@Suite struct RandomTenantTests {
    private static let tenants = 1...3

    /// Every text of a row begins with its tenant: `<2>`.
    private static let schema = """
        CREATE TABLE project (id bigint PRIMARY KEY, tenant_id integer NOT NULL, name text NOT NULL, code text UNIQUE);
        CREATE TABLE task (
            id bigint PRIMARY KEY, tenant_id integer NOT NULL, project_id bigint REFERENCES project, title text NOT NULL,
            size integer NOT NULL DEFAULT 1);
        CREATE TABLE label (id bigint PRIMARY KEY, tenant_id integer NOT NULL, name text NOT NULL);
        CREATE TABLE task_label (
            task_id bigint REFERENCES task, label_id bigint REFERENCES label, tenant_id integer NOT NULL,
            PRIMARY KEY (task_id, label_id));
        CREATE TABLE note (id bigint PRIMARY KEY, tenant_id integer NOT NULL, text text NOT NULL);
        ALTER TABLE note ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON note
            USING (tenant_id = (SELECT nullif(current_setting('app.tenant_id', true), '')::integer));
        GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC;
        INSERT INTO note SELECT i, i % 3 + 1, format('<%s> n%s', i % 3 + 1, i) FROM generate_series(1, 12) AS i;
        INSERT INTO project SELECT i, i % 3 + 1, format('<%s> p%s', i % 3 + 1, i), NULL FROM generate_series(1, 12) AS i;
        INSERT INTO task SELECT i, i % 3 + 1, i, format('<%s> t%s', i % 3 + 1, i), 1 FROM generate_series(1, 12) AS i;
        INSERT INTO label SELECT i, i % 3 + 1, format('<%s> l%s', i % 3 + 1, i) FROM generate_series(1, 12) AS i;
        -- References to rows of others, which no foreign key forbids.
        UPDATE task SET project_id = id % 12 + 1 WHERE id > 9;
        INSERT INTO task_label SELECT i, i, i % 3 + 1 FROM generate_series(1, 8) AS i;
        INSERT INTO task_label SELECT i, i % 12 + 1, i % 3 + 1 FROM generate_series(9, 12) AS i;
        """

    /// All rows, as texts, of one tenant or of the others.
    private func rows(_ tenant: Int, areOwn: Bool, _ other: PostgresClient) async throws -> [PostgresValue?] {
        try await other.values(
            """
            SELECT r FROM (
                SELECT tenant_id, 'project' || t::text AS r FROM project AS t
                UNION ALL SELECT tenant_id, 'task' || t::text FROM task AS t
                UNION ALL SELECT tenant_id, 'label' || t::text FROM label AS t
                UNION ALL SELECT tenant_id, 'note' || t::text FROM note AS t
                UNION ALL SELECT tenant_id, 'pair' || t::text FROM task_label AS t) AS a
            WHERE (tenant_id = \(tenant)) = \(areOwn) ORDER BY r
            """)
    }

    private func ids(_ tenant: Int, _ table: String, _ other: PostgresClient) async throws -> [Int] {
        try await other.values("SELECT id FROM \(identifier: table) WHERE tenant_id = \(tenant) ORDER BY id")
            .compactMap { try $0.map { try Int(postgresValue: $0) } }
    }

    @Test(.database(.sql(schema), timeLimit: .seconds(1_800)), arguments: UInt64(1)...2)
    func noCallReachesARowOfAnother(_ seed: UInt64) async throws {
        try await withTenantWorld(.hidden, requiredSettings: ["app.tenant_id"], enabling: ["note"]) { world in
            let (database, other) = (world.database, world.admin)
            var random = SeededGenerator(seed: seed)
            let steps = TestAmount.number("KINDRED_TENANT_CALLS") ?? TestAmount.of(400, full: 10_000)
            var (done, refused) = (0, 0)
            var contexts: [Int: DatabaseContext] = [:]
            var watches = TenantWatches()
            for step in 0..<steps {
                let tenant = random.pick(Array(Self.tenants))
                if random.once(in: 10) { contexts[tenant] = nil }
                let context = try contexts[tenant] ?? database.context(ofTenant: tenant)
                contexts[tenant] = context
                let call = TenantCall(&random)
                let place: Comment = "seed \(seed), step \(step): tenant \(tenant), \(call)"
                let before = try await rows(tenant, areOwn: false, other)
                do {
                    let shown =
                        random.chance(30)
                        ? try await context.transaction { () async throws in try await call.run(context) }
                        : try await call.run(context)
                    done += 1
                    for object in shown.objects {
                        try #require(object["tenant_id"] == PostgresValue.integer(Int64(tenant)), place)
                    }
                    try #require(!TenantWatch.isForeign(shown.text, to: tenant), place)
                    if let entity = shown.whole {
                        let expected = try await ids(tenant, entity, other)
                        let found = try shown.objects.compactMap { try $0.value(forKey: "id", as: Int.self) }.sorted()
                        try #require(found == expected, place)
                    }
                    if let live = shown.live { try await watches.follow(live, by: tenant) }
                } catch let error as any CategorizedError {
                    refused += 1
                    context.rollback()
                    try #require(!TenantWatch.isForeign(String(reflecting: error), to: tenant), place)
                }
                try #require(try await rows(tenant, areOwn: false, other) == before, place)
            }
            #expect(done > steps / 3, "\(done) of \(steps) calls had an effect, \(refused) were refused")
            try await watches.end()
            #expect(watches.updates > 0)
        }
    }
}

/// The live requests that go on; the oldest ends where there are many.
private struct TenantWatches {
    private(set) var updates = 0
    private var running: [Task<TenantWatch, any Error>] = []

    mutating func follow(_ live: LiveRequest<DatabaseObject>, by tenant: Int) async throws {
        if running.count == 8 { try await end(running.removeFirst()) }
        running.append(live.watch(by: tenant) { await TenantCall.text(of: $0) })
    }

    private mutating func end(_ watch: Task<TenantWatch, any Error>) async throws {
        watch.cancel()
        let shown = try await watch.value
        #expect(shown.foreign == [])
        updates += shown.updates
    }

    mutating func end() async throws {
        for watch in running { try await end(watch) }
        running = []
    }
}
