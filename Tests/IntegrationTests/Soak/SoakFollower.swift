import Kindred
import KindredLive
import Synchronization

/// Contexts that follow: what their objects show, without a statement.
final class SoakFollower: Sendable {
    private struct Followed {
        let entity: String
        let id: Int64
        let object: DatabaseObject
    }

    private let database: Database
    private let context: DatabaseContext
    private let objects = Mutex<[Followed]>([])
    private static let columns = ["account": "balance", "item": "value"]

    init(_ database: Database) {
        self.database = database
        context = database.makeContext(tracking: .automatic)
    }

    /// Loads all objects that there are.
    func load() async throws {
        var loaded: [Followed] = []
        for entity in Self.columns.keys {
            for object in try await context.fetch(entity).all() {
                guard case .integer(let id)? = object["id"] else { continue }
                loaded.append(Followed(entity: entity, id: id, object: object))
            }
        }
        objects.withLock { $0 = loaded }
    }

    /// The objects that show something else than SQL says; loads new ones if there are none.
    func differences(from server: PostgresClient) async throws -> [String] {
        try await database.tracking.catchUp()
        var stored: [String: [Int64: PostgresValue?]] = [:]
        for (entity, column) in Self.columns {
            for row in try await server.query("SELECT id, \(identifier: column) FROM \(identifier: entity)") {
                guard let id = try row.decode(0, as: Int64.self) else { continue }
                stored[entity, default: [:]].updateValue(try row[1], forKey: id)
            }
        }
        var differences: [String] = []
        for followed in objects.withLock({ $0 }) {
            let (entity, id, object) = (followed.entity, followed.id, followed.object)
            let value = stored[entity]?[id]
            if object.isDeleted {
                // A row that comes back is another object; accounts are never deleted.
                if entity == "account" { differences.append("the context has deleted \(entity) \(id)") }
            } else if let value {
                let shown = object[Self.columns[entity] ?? ""]
                if shown != value {
                    differences.append(
                        "the context has \(String(describing: shown)) in \(entity) \(id), not \(String(describing: value))"
                    )
                }
            } else {
                differences.append("the context has \(entity) \(id), which was deleted")
            }
        }
        if differences.isEmpty { try await load() }
        return differences
    }
}

/// A tenant's notes, of which one worker alone knows all.
actor SoakNotes {
    private let tenant: Int
    private let database: Database
    private let books: SoakBooks
    /// The notes by their keys; nil while it is not known what a failed write has done.
    private var known: [PostgresValue: PostgresValue?]? = [:]

    init(tenant: Int, _ database: Database, _ books: SoakBooks) {
        (self.tenant, self.database, self.books) = (tenant, database, books)
    }

    /// Writes a note, and compares all notes that the tenant sees with those that it has written.
    func work() async throws {
        let context = try database.makeContext(tenant: ["tenant_id": tenant], setting: "app.tenant_id")
        if let known {
            do { self.known = try await write(known, context) } catch {
                if (error as? any CategorizedError)?.mayHaveTakenEffect != false { self.known = nil }
                throw error
            }
        }
        var found: [PostgresValue: PostgresValue?] = [:]
        for note in try await context.fetch("note").all() {
            if note["tenant_id"] != .integer(Int64(tenant)) {
                books.note(.wrong, "the tenant \(tenant) sees a note of \(String(describing: note["tenant_id"]))")
            }
            if let id = note["id"] { found.updateValue(note["text"], forKey: id) }
        }
        if let known, known != found {
            books.note(.wrong, "the tenant \(tenant) has \(known.count) notes, and sees \(found.count) others")
        }
        known = found
    }

    private func write(
        _ known: [PostgresValue: PostgresValue?], _ context: DatabaseContext
    ) async throws -> [PostgresValue: PostgresValue?] {
        var known = known
        let text = "note \(Int.random(in: 0..<1_000_000))"
        if known.count < 20 || Int.random(in: 0..<3) == 0 && known.count < 60 {
            let note = try await context.create("note", ["text": text])
            if let id = note["id"] { known.updateValue(.string(text), forKey: id) }
        } else if let id = known.keys.randomElement(), case .integer(let key) = id {
            let note = try await context.get("note", key)
            if Bool.random() {
                try await context.delete(note)
                known[id] = nil
            } else {
                try await note.setValue(text, forKey: "text")
                known.updateValue(.string(text), forKey: id)
            }
        }
        return known
    }
}
