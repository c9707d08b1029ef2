import KindredTesting
import Synchronization
import TestSupport
import Testing

@testable import Kindred

/// Random writes to the rows of several tenants: what each is shown is what SQL says with its role and its settings.
@Suite(.database(.sql(notesOfTenants)), .timeLimit(.minutes(5))) struct RandomTenantLiveTests {
    private static let tenants = 1...3

    /// A row as it is shown.
    private struct Note: Hashable, Sendable {
        let id: Int64?
        let text: PostgresValue?
        let rank: PostgresValue?
    }

    /// What a tenant's list shows.
    private final class Shown: Sendable {
        let notes = Mutex<[Note]>([])
    }

    @Test(arguments: 1...3) func eachIsShownWhatSQLSays(seed: UInt64) async throws {
        try await withLiveTenants { tenants, other in
            var random = SeededGenerator(seed: seed)
            try await other.query("INSERT INTO topic VALUES (3, 'three')")
            var shown: [Int: Shown] = [:]
            var contexts: [Int: (topics: [DatabaseObject], notes: [DatabaseObject])] = [:]
            for tenant in Self.tenants {
                shown[tenant] = Shown()
                let context = try tenants.context(of: tenant, tracking: .automatic)
                let topics = try await context.fetch("topic").sorted("id").all()
                for topic in topics { _ = try await topic.set(forKey: "noteSet").objects }
                contexts[tenant] = (topics, try await context.fetch("note").all())
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (tenant, shown) in shown {
                    group.addTask {
                        let request = try tenants.context(of: tenant).fetch("note").where("rank < 5").sorted("id")
                        for try await update in try await request.live() {
                            let notes = update.objects.map { Note(id: $0.number, text: $0["text"], rank: $0["rank"]) }
                            shown.notes.withLock { $0 = notes }
                        }
                    }
                }
                for round in 0..<10 {
                    for _ in 0..<8 { try await write(&random, other) }
                    try await tenants.database.tracking.catchUp()
                    for (tenant, context) in contexts {
                        let place: Comment = "seed \(seed), round \(round), tenant \(tenant)"
                        let rows = try await rows(of: tenant, tenants.role, other)
                        let expected = rows.filter { $0.rank < 5 }.map(\.note)
                        try await eventually("\(place)") { shown[tenant]?.notes.withLock { $0 } == expected }
                        for topic in context.topics where !topic.isDeleted {
                            let members = rows.filter { $0.topic == topic.number }.compactMap(\.note.id)
                            #expect(try await topic.membersInMemory("noteSet") == members, place)
                        }
                        for note in context.notes where !note.isDeleted {
                            let row = rows.first { $0.note.id == note.number }
                            #expect(row?.note.text == note["text"] && row != nil, place)
                        }
                    }
                }
                group.cancelAll()
                while (try? await group.next()) != nil {}
            }
        }
    }

    private func write(_ random: inout SeededGenerator, _ other: PostgresClient) async throws {
        let (id, tenant) = (Int.random(in: 1...20, using: &random), Self.tenants.randomElement(using: &random) ?? 1)
        let number = Int.random(in: 0...9, using: &random)
        let topic = Int.random(in: 1...3, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: try await other.query("DELETE FROM note WHERE id = \(id)")
        case 1: try await other.query("UPDATE note SET tenant = \(tenant) WHERE id = \(id)")
        case 2: try await other.query("UPDATE note SET topic_id = \(topic) WHERE id BETWEEN \(id) AND \(id + 2)")
        case 3: try await other.query("UPDATE note SET rank = \(number), text = \("t\(number)") WHERE id = \(id)")
        default:
            try await other.query(
                """
                INSERT INTO note VALUES (\(id), \(tenant), \(topic), \("n\(number)"), \(number))
                ON CONFLICT (id) DO UPDATE SET text = excluded.text
                """)
        }
    }

    private func rows(
        of tenant: Int, _ role: String, _ other: PostgresClient
    ) async throws -> [(note: Note, topic: Int64?, rank: Int64)] {
        try await other.withTransaction { _ in
            try await other.query(
                "SELECT set_config('app.tenant', \("\(tenant)"), true), set_config('role', \(role), true)")
            return try await other.query("SELECT id, text, rank, topic_id FROM note ORDER BY id").map { row in
                let note = Note(id: try row.decode(0, as: Int64.self), text: try row[1], rank: try row[2])
                return (note, try row.decode(3, as: Int64.self), try row.decode(2, as: Int64.self) ?? 0)
            }
        }
    }
}
