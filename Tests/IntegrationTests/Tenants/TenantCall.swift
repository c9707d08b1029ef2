import Foundation
import Kindred
import KindredLive
import TestSupport
import Testing

/// The rows that a call shows to the program.
struct ShownRows {
    var objects: [DatabaseObject] = []
    var text = ""
    /// The entity all of whose rows the objects should be.
    var whole: String?
    /// The request whose first update the objects are.
    var live: LiveRequest<DatabaseObject>?
}

/// One call of a context, with keys that may belong to any tenant.
struct TenantCall: CustomStringConvertible {
    private static let entities = ["project", "task", "label", "note"]

    let number: Int
    let entity: String
    let (first, second): (Int, Int)
    let flag: Bool

    init(_ random: inout SeededGenerator) {
        number = Int.random(in: 0..<52, using: &random)
        entity = random.pick(Self.entities)
        first = Int.random(in: 1...24, using: &random)
        second = Int.random(in: 1...24, using: &random)
        flag = random.chance(50)
    }

    var description: String { "call \(number) on \(entity) with \(first), \(second), \(flag)" }

    /// A text that is the tenant's.
    func text(_ context: DatabaseContext) async throws -> String {
        let tenant = try await context.query("SELECT current_setting('app.tenant_id')").first?[0]
        return "<\(tenant?.description ?? "")> \(first)"
    }

    var textKey: String { Self.textKey(of: entity) }

    private static func textKey(of entity: String) -> String {
        switch entity {
        case "task": "title"
        case "note": "text"
        default: "name"
        }
    }

    /// The texts of an object, and of its prefetched objects.
    static func text(of object: DatabaseObject) async -> String {
        let text = object.shown(textKey(of: object.entity.name.name))
        guard object.entity.name.name == "task" else { return text }
        // Where they were prefetched.
        let members = try? await object.members("labelSet", "name")
        return "\(text) \(members ?? "")"
    }

    func run(_ context: DatabaseContext) async throws -> ShownRows {
        switch number {
        case ..<18: try await read(context)
        case ..<23: try await follow(context)
        case ..<29: try await runSQL(context)
        default: try await write(context)
        }
    }

    // MARK: Reading

    private func read(_ context: DatabaseContext) async throws -> ShownRows {
        let request = try context.fetch(entity)
        let tasks = try context.fetch("task")
        switch number {
        case 0: return ShownRows(objects: try await request.unfiltered().all(), whole: entity)
        case 1: return ShownRows(objects: try await request.where("id <= %@ OR id > 0", first).all(), whole: entity)
        case 2: return ShownRows(objects: try await context.find(entity, [first, second]))
        case 3: return ShownRows(objects: [try await context.get(entity, first)])
        case 4: return ShownRows(objects: [try await context.get(uri: "kindred:/public/\(entity)?id=\(first)")])
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
        case 13:
            let greatest = try await request.maximum(textKey)
            let found = try await tasks.where("ANY labelSet.id == %@ OR project.id == %@", first, second).all()
            return ShownRows(objects: found, text: greatest?.description ?? "")
        case 14:
            let least = try await request.minimum(textKey)
            let first = try await request.sorted(textKey).first()
            #expect(try await request.exists() == (first != nil))
            return ShownRows(objects: [first].compactMap(\.self), text: least?.description ?? "")
        case 15:
            let view = try await context.get("task", first).view("*", "project.*", "labelSet.*")
            return ShownRows(text: String(decoding: try JSONEncoder().encode(view), as: UTF8.self))
        case 16:
            return ShownRows(text: "\(try await context.deletionPlan(for: try await context.get(entity, first)))")
        default:
            _ = try flag ? context.locks(of: entity) : nil
            _ = try await context.changes(of: entity)
            Issue.record("The changes of all tenants are shown")
            return ShownRows()
        }
    }

    /// Live requests: their first updates, which is all that the call waits for.
    private func follow(_ context: DatabaseContext) async throws -> ShownRows {
        let request = try context.fetch(entity).sorted(textKey)
        let live: LiveRequest<DatabaseObject>
        switch number {
        case 18: live = try await request.live()
        case 19:
            live = try await context.fetch("task").where("size <= %@ OR ANY labelSet.id == %@", second, first)
                .prefetch("project", "labelSet").live()
        case 20: live = try await context.live(try await context.get("task", first), prefetch: "labelSet")
        case 21: live = try await context.get("project", first).set(forKey: "taskSet").live()
        default:
            var updates = try await request.live().sections(by: textKey).makeAsyncIterator()
            let sections = try #require(try await updates.next()).sections
            return ShownRows(objects: sections.flatMap(\.objects), whole: entity)
        }
        var updates = live.makeAsyncIterator()
        let objects = try await updates.update().objects
        var text = ""
        for object in objects { text += await Self.text(of: object) }
        return ShownRows(objects: objects, text: text, whole: number == 18 ? entity : nil, live: live)
    }

    /// SQL of the program's own: what a policy lets through, and objects of rows to which none applies.
    private func runSQL(_ context: DatabaseContext) async throws -> ShownRows {
        switch number {
        case 23:
            return ShownRows(text: try await context.query("SELECT text FROM note", as: String.self).joined())
        case 24:
            let rows = "SELECT * FROM \(identifier: entity) WHERE id <> \(first)" as SQL
            return ShownRows(objects: try await context.query(rows, as: entity))
        case 25:
            let text = try await text(context)
            let rows = "UPDATE note SET text = \(text) WHERE id IN (\(first), \(second)) RETURNING *" as SQL
            return ShownRows(objects: try await context.query(rows, as: "note"))
        case 26:
            let (tenant, text) = (second % 3 + 1, try await text(context))
            try await context.query("INSERT INTO note VALUES (\(first), \(tenant), \(text))")
        case 27:
            let text = try await text(context)
            try await context.query(
                """
                INSERT INTO note SELECT \(first), current_setting('app.tenant_id')::integer, \(text)
                ON CONFLICT (id) DO UPDATE SET text = excluded.text
                """)
        default: try await context.query("DELETE FROM note WHERE id = \(first) OR id = \(second)")
        }
        return ShownRows()
    }
}
