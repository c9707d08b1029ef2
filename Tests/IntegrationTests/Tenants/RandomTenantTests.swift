import Foundation
import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random calls of contexts of three tenants: none reads, changes or names a row of another.
///
/// Plain SQL over another connection tells which rows there are.
@Suite struct RandomTenantTests {
    private static let tenants = 1...3
    private static let keys = 1...24

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
        try await withDatabase { database, _, other in
            var random = SeededGenerator(seed: seed)
            let steps = TestAmount.number("KINDRED_TENANT_CALLS") ?? TestAmount.of(400, full: 10_000)
            var (done, refused) = (0, 0)
            var contexts: [Int: DatabaseContext] = [:]
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
                    for foreign in Self.tenants where foreign != tenant {
                        try #require(!shown.text.contains("<\(foreign)>"), place)
                    }
                    if let entity = shown.whole {
                        let expected = try await ids(tenant, entity, other)
                        let found = try shown.objects.compactMap { try $0.value(forKey: "id", as: Int.self) }.sorted()
                        try #require(found == expected, place)
                    }
                } catch let error as any CategorizedError {
                    refused += 1
                    context.rollback()
                    for foreign in Self.tenants where foreign != tenant {
                        try #require(!String(reflecting: error).contains("<\(foreign)>"), place)
                    }
                }
                try #require(try await rows(tenant, areOwn: false, other) == before, place)
            }
            #expect(done > steps / 3, "\(done) of \(steps) calls had an effect, \(refused) were refused")
        }
    }
}

/// What a call shows to the program.
private struct ShownRows {
    var objects: [DatabaseObject] = []
    var text = ""
    /// The entity all of whose rows the objects should be.
    var whole: String?
}

/// One call of a context, with keys that may be those of any tenant.
private struct TenantCall: CustomStringConvertible {
    private static let entities = ["project", "task", "label"]

    private let number: Int
    private let entity: String
    private let (first, second): (Int, Int)
    private let flag: Bool

    init(_ random: inout SeededGenerator) {
        number = Int.random(in: 0..<30, using: &random)
        entity = random.pick(Self.entities)
        first = Int.random(in: 1...24, using: &random)
        second = Int.random(in: 1...24, using: &random)
        flag = random.chance(50)
    }

    var description: String { "call \(number) on \(entity) with \(first), \(second), \(flag)" }

    /// A text that is the tenant's.
    private func text(_ context: DatabaseContext) async throws -> String {
        let tenant = try await context.query("SELECT current_setting('app.tenant_id')").first?[0]
        return "<\(tenant?.description ?? "")> \(first)"
    }

    private var textKey: String { entity == "task" ? "title" : "name" }

    func run(_ context: DatabaseContext) async throws -> ShownRows {
        number < 14 ? try await read(context) : try await write(context)
    }

    private func read(_ context: DatabaseContext) async throws -> ShownRows {
        let request = try context.fetch(entity)
        let tasks = try context.fetch("task")
        switch number {
        case 0: return ShownRows(objects: try await request.unfiltered().all(), whole: entity)
        case 1: return ShownRows(objects: try await request.where("id <= %@ OR id > 0", first).all(), whole: entity)
        case 2: return ShownRows(objects: try await context.find(entity, [first, second]))
        case 3: return ShownRows(objects: [try await context.get(entity, first)])
        case 4: return ShownRows(objects: [try await context.object(with: "kindred:/public/\(entity)?id=\(first)")])
        case 5:
            let task = try await context.get("task", first)
            let project = try await task.object(forKey: "project")
            let labels = try await task.set(forKey: "labelSet")
            let count = try await labels.count
            let objects = try await labels.objects
            #expect(count == objects.count)
            return ShownRows(objects: objects + [project].compactMap(\.self))
        case 6:
            let project = try await context.get("project", first)
            return ShownRows(objects: try await project.set(forKey: "taskSet").sorted("size").all())
        case 7:
            let views = try await tasks.views("*", "project.*", "labelSet.*")
            return ShownRows(text: String(decoding: try JSONEncoder().encode(views), as: UTF8.self))
        case 8:
            let rows = try await tasks.select("title", "project.name", "labelSet.@count").all()
            return ShownRows(text: "\(rows)")
        case 9:
            let groups = try await tasks.group(by: "project.name", aggregates: .count, .maximum("title")).all()
            return ShownRows(text: "\(groups)")
        case 10:
            let total = try await request.count()
            let page = try await request.sorted(textKey).page(size: 3, withTotal: true)
            #expect(page.total == total)
            return ShownRows(objects: page.objects)
        case 11:
            var objects: [DatabaseObject] = []
            for try await object in request.stream() { objects.append(object) }
            return ShownRows(objects: objects, whole: entity)
        case 12:
            let projects = try await context.fetch("project").prefetch("taskSet") {
                $0.where("size > 0").sorted("title").limit(2)
            }.all()
            var objects = projects
            for project in projects {
                objects += try await project.set(forKey: "taskSet").where("size > 0").sorted("title").limit(2).all()
            }
            return ShownRows(objects: objects)
        default:
            let greatest = try await request.maximum(textKey)
            let found = try await tasks.where("ANY labelSet.id == %@ OR project.id == %@", first, second).all()
            return ShownRows(objects: found, text: greatest?.description ?? "")
        }
    }

    private func write(_ context: DatabaseContext) async throws -> ShownRows {
        switch number {
        case 14...16:
            let text = try await text(context)
            return ShownRows(objects: [try await context.create(entity, ["id": first, textKey: text])])
        case 17:
            let text = try await text(context)
            let task = try context.insert("task", ["id": first, "title": text])
            if let project = try await context.find("project", second) { task["project_id"] = project["id"] }
            if let label = try await context.find("label", second) {
                try await task.set(forKey: "labelSet").insert(label)
            }
            try await context.save()
            return ShownRows(objects: [task])
        case 18, 19:
            let text = try await text(context)
            let object = try await context.create(
                entity, ["id": first, textKey: text], onConflict: flag ? .update("id") : .keep("id"))
            return ShownRows(objects: [object])
        case 20:
            _ = try await context.fetch("task").where("id <= %@", first).update(["size": Formula("size + 1")])
        case 21: _ = try await context.fetch(entity).where("id == %@ OR id == %@", first, second).delete()
        case 22: _ = try await context.fetch("task").where("project.id == %@", first).limit(2).update(["size": second])
        case 23:
            let object = try await context.get(entity, first)
            try await object.setValue(try await text(context), forKey: textKey)
            return ShownRows(objects: [object])
        case 24:
            let task = try await context.get("task", first)
            try await task.setValue(try await context.get("project", second), forKey: "project")
            return ShownRows(objects: [task])
        case 25:
            let task = try await context.get("task", first)
            let labels = try await task.set(forKey: "labelSet")
            let others = try await context.find("label", [first, second])
            if flag { try await labels.set(others) } else { try await labels.formUnion(others) }
            return ShownRows(objects: try await labels.objects)
        case 26:
            let project = try await context.get("project", first)
            let tasks = try await project.set(forKey: "taskSet")
            if flag {
                try await tasks.removeAll()
            } else {
                try await tasks.set(try await context.find("task", [first, second]))
            }
            return ShownRows(objects: try await tasks.objects)
        case 27: try await context.delete(try await context.get(entity, first))
        case 28:
            let object = try await context.get(entity, first)
            let data = Data("{\"\(textKey)\": \"\(try await text(context))\"}".utf8)
            try object.apply(try JSONDecoder().decode(ObjectPatch.self, from: data))
            try await context.save()
            return ShownRows(objects: [object])
        default:
            return try await context.transaction { () async throws in
                let objects = try await context.fetch(entity).where("id > %@", first).lock(.forUpdate).all()
                for object in objects { try await object.refresh() }
                return ShownRows(objects: objects)
            }
        }
        return ShownRows()
    }
}
