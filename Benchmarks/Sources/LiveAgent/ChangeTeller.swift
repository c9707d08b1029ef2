import Foundation
import Kindred
import KindredLive

/// Tells what a sequence of changes gives.
struct ChangeTeller {
    private let database: Database
    private let id: String

    init(_ database: Database, _ id: String) { (self.database, self.id) = (database, id) }

    func tell(_ operation: JSON) async throws {
        let names = operation["entities"]?.strings ?? []
        let since = try operation["since"]?.string.map {
            try JSONDecoder().decode(ChangeCursor.self, from: Data($0.utf8))
        }
        let sequence = try await database.makeContext().changes(of: names, since: since)
        if since == nil { Output.say("started", ["id": .string(id), "cursor": try text(sequence.cursor)]) }
        // The named changes of the transactions whose other changes are not named.
        var named: ChangeBatch?
        for try await element in sequence {
            switch element {
            case .changes(let changes):
                guard let cursor = changes.cursor else {
                    named = changes
                    continue
                }
                Output.say("changes", try facts(changes, unnamed: [], cursor))
            case .everything(let reason, let entities, let cursor):
                if entities.count < Set(names).count {
                    Output.say("changes", try facts(named, unnamed: entities.map(\.description), cursor))
                } else {
                    Output.say(
                        "everything",
                        ["id": .string(id), "reason": .string(reason.rawValue), "cursor": try text(cursor)])
                }
                named = nil
            }
        }
    }

    private func facts(_ changes: ChangeBatch?, unnamed: [String], _ cursor: ChangeCursor) throws -> [String: JSON] {
        let updated = (changes?.updated ?? [:]).map { id, columns in
            JSON.object(id.named.merging(["columns": .array(columns.map { .string($0) })]) { first, _ in first })
        }
        return [
            "id": .string(id), "inserted": .array((changes?.inserted ?? []).map { .object($0.named) }),
            "updated": .array(updated), "deleted": .array((changes?.deleted ?? []).map { .object($0.named) }),
            "unnamed": .array(unnamed.map { .string($0) }), "cursor": try text(cursor),
        ]
    }

    private func text(_ cursor: ChangeCursor) throws -> JSON {
        .string(String(decoding: try JSONEncoder().encode(cursor), as: UTF8.self))
    }
}
