import Kindred
import KindredLive
import KindredTesting
import Testing

private let itemSchema = """
    CREATE SCHEMA tenant_template;
    CREATE TABLE tenant_template.note (id integer PRIMARY KEY);
    CREATE SCHEMA acme;
    CREATE TABLE acme.note (id integer PRIMARY KEY);
    CREATE TABLE shop (id integer PRIMARY KEY, tenant_id integer);
    CREATE TABLE item (
        id integer PRIMARY KEY, code text UNIQUE, name text, tenant_id integer, shop_id integer REFERENCES shop);
    INSERT INTO shop VALUES (1, 1);
    INSERT INTO item VALUES (1, 'a', 'first', 1, 1);
    """

/// Names that were replaced before 1.0: programs that use them compile, with a warning, and work as before.
@Suite(.database(.sql(itemSchema))) struct EarlierNameTests {
    @Test func earlierNamesDoTheSame() async throws {
        try await withDatabase { database, _, other in
            // By way of a protocol, whose requirement is not deprecated.
            let program: any EarlierProgram.Type = ProgramWithEarlierNames.self
            try await program.run(database, other)
        }
    }
}

private protocol EarlierProgram {
    static func run(_ database: Database, _ other: PostgresClient) async throws
}

private enum ProgramWithEarlierNames: EarlierProgram {
    @available(*, deprecated)
    static func run(_ database: Database, _ other: PostgresClient) async throws {
        let mode: FaultingMode = .off
        let context = database.makeContext(faulting: mode)
        #expect(context.faulting == .single)
        try await staging(context, other)
        try await upserts(context, other)
        try await contexts(database)
        try await tenants(
            try await Database.connect(
                database.client.configuration, tenants: DatabaseTenants.schemas(template: "tenant_template")))
        try await live(database)
    }

    @available(*, deprecated)
    private static func staging(_ context: DatabaseContext, _ other: PostgresClient) async throws {
        let item = try context.insert("item", ["id": 2, "name": "second"])
        let patched = try context.insert("item", try ObjectPatch(json: "{\"id\": 3}".utf8), allowing: ["id"])
        #expect(context.hasChanges && item.hasChanges && item.changedValues["name"] == .some("second"))
        #expect(patched["id"] == 3)
        try await context.save()
        #expect(try await other.value("SELECT count(*) FROM item") == 3)
        let id = try #require(item.objectID)
        #expect(try await context.object(with: id) === item)
        #expect(try await context.object(with: id.uri) === item)
    }

    @available(*, deprecated)
    private static func upserts(_ context: DatabaseContext, _ other: PostgresClient) async throws {
        let values: [String: (any PropertyValue)?] = ["id": 1, "code": "a", "name": "changed", "tenant_id": 7]
        let kept = try await context.create("item", values, onConflict: .keep("code"))
        #expect(kept["name"] == "first")
        _ = try await context.create("item", values, onConflict: .update("code", setting: ["tenant_id"]))
        #expect(try await other.value("SELECT name || tenant_id FROM item WHERE id = 1") == "first7")
        let resolution: ConflictResolution = .update("code")
        _ = try await context.create("item", [values], onConflict: resolution)
        #expect(try await other.value("SELECT name FROM item WHERE id = 1") == "changed")
    }

    @available(*, deprecated)
    private static func contexts(_ database: Database) async throws {
        let strict = try database.makeContext(settings: ["app.x": 1], faulting: .forbidden)
        let shop = try await strict.get("shop", 1)
        await expectError(.faultingForbidden) { _ = try await shop.set(forKey: "itemSet").objects }
        let own = try database.makeContext(tenant: ["tenant_id": 1], setting: "app.tenant_id", faulting: .off)
        #expect(try await own.fetch("shop").count() == 1)
        let all = try database.makeContext(acrossTenants: "a test", faulting: .off)
        #expect(try await all.fetch("item").count() == 3)
        let count = try await database.withContext(faulting: .off) { try await $0.fetch("shop").count() }
        #expect(count == 1)
        try await database.withContext(settings: [:], faulting: .off) { #expect($0.loading == .single) }
        let others = try await database.withContext(tenant: ["tenant_id": 2], setting: "app.tenant_id", faulting: .off)
        {
            try await $0.fetch("shop").count()
        }
        #expect(others == 0)
    }

    @available(*, deprecated)
    private static func tenants(_ connected: Database) async throws {
        try await lend(connected) { database in
            let tenant: DatabaseTenant = try await database.tenant("acme")
            let contexts = [
                try tenant.makeContext(faulting: .off), try tenant.makeContext(role: nil),
                try tenant.makeContext(settings: [:], role: nil, faulting: .off),
            ]
            for context in contexts { #expect(try await context.fetch("note").count() == 0) }
            let count = try await tenant.withContext(role: nil) { try await $0.fetch("note").count() }
            #expect(count == 0)
            try await tenant.withContext(faulting: .off) { #expect($0.loading == .single) }
        }
    }

    @available(*, deprecated)
    private static func live(_ database: Database) async throws {
        try await database.tracking.install()
        try await database.tracking.enable(["shop", "item"])
        let context = database.makeContext()
        let shop = try await context.get("shop", 1)
        var one = try await context.observe(shop, prefetch: "itemSet").makeAsyncIterator()
        var members = try await shop.set(forKey: "itemSet").observe().makeAsyncIterator()
        #expect(try await one.update().objects.count == 1)
        #expect(try await members.update().objects.count == 1)
    }
}
