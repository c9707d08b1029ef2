import Foundation
import Kindred
import KindredLive
import Synchronization

/// Answers the operations of the oracle of live requests over the public API alone.
///
/// It asks the database nothing by itself, compares nothing and sorts nothing: it returns the library's answers.
final class LiveAgent: Sendable {
    let database: Database
    private let tasks = Mutex<[String: Task<Void, Never>]>([:])
    private let contexts = Mutex<[String: AsyncStream<JSON>.Continuation]>([:])
    private let marker = Mutex<(shown: Int, waiting: [Int], isFollowed: Bool)>((.min, [], false))

    init(_ database: Database) { self.database = database }

    /// Handles a line; answers come later.
    func handle(_ operation: JSON) {
        let id = operation["id"]?.string ?? ""
        switch operation["op"]?.string {
        case "hello":
            Output.say("ready", ["protocol": .int(1), "agent": .string("kindred"), "values": .string("exact")])
        case "open": start(id) { try await self.follow(operation, as: id) }
        case "changes": start(id) { try await ChangeTeller(self.database, id).tell(operation) }
        case "sync": sync(operation["marker"]?.int ?? 0)
        case "context": makeContext(id)
        case "load", "stage", "save", "discard", "read":
            _ = contexts.withLock { $0[operation["context"]?.string ?? ""] }?.yield(operation)
        case "close":
            tasks.withLock { $0.removeValue(forKey: id) }?.cancel()
            contexts.withLock { $0.removeValue(forKey: id) }?.finish()
        default: Output.log("unknown operation")
        }
    }

    /// Runs a task until it is closed; begins again after a lost connection, and says every other error.
    private func start(_ id: String, _ body: @escaping @Sendable () async throws -> Void) {
        let task = Task.detached {
            do {
                try await Self.persistently(body)
            } catch is CancellationError {
            } catch {
                if !Task.isCancelled { Output.say("error", ["id": .string(id), "message": .string("\(error)")]) }
            }
        }
        tasks.withLock { $0[id] = task }
    }

    /// Tries again while the server is away.
    static func persistently<T: Sendable>(_ body: @Sendable () async throws -> T) async throws -> T {
        while true {
            do {
                return try await body()
            } catch let error as any CategorizedError where error.category == .unavailable {
                Output.log("again after \(error)")
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    // MARK: Live requests

    private func follow(_ operation: JSON, as id: String) async throws {
        let context = database.makeContext()
        var request = try context.fetch(operation["entity"]?.string ?? "")
        if let format = operation["where"]?.string {
            request = try request.where(format, arguments: (operation["arguments"]?.array ?? []).map(\.argument))
        }
        for key in operation["sort"]?.array ?? [] {
            request = try request.sorted(key["path"]?.string ?? "", ascending: key["ascending"]?.bool ?? true)
        }
        if let limit = operation["limit"]?.int { request = request.limit(limit) }
        if let offset = operation["offset"]?.int { request = request.offset(offset) }
        let prefetched = operation["prefetch"]?.strings ?? []
        for path in prefetched { request = try request.prefetch(path) }
        var number: Int64 = 0
        for try await update in try await request.live() {
            try Task.checkCancellation()
            Output.say("update", try await facts(update, prefetched, id, number))
            number += 1
        }
    }

    private func facts(
        _ update: LiveUpdate<DatabaseObject>, _ prefetched: [String], _ id: String, _ number: Int64
    ) async throws -> [String: JSON] {
        var rows: [JSON] = []
        for object in update.objects {
            var row = object.json
            var sets: [String: JSON] = [:]
            for path in prefetched {
                let members =
                    switch try await object.value(forKey: path) {
                    case .set(let set)?: try await set.objects
                    case .object(let member)?: [member]
                    default: [DatabaseObject]()
                    }
                sets[path] = .array(members.map { .object($0.json) })
            }
            row["sets"] = .object(sets)
            rows.append(.object(row))
        }
        var facts: [String: JSON] = [
            "id": .string(id), "n": .int(number), "rows": .array(rows), "removals": JSON(update.removals),
            "insertions": JSON(update.insertions), "updates": JSON(update.updates),
            "moves": .array(update.moves.map { JSON([$0.from, $0.to]) }),
        ]
        switch update.cause {
        case .first: facts["why"] = .string("first")
        case .change: facts["why"] = .string("change")
        case .unchanged: facts["why"] = .string("unchanged")
        case .everything(let reason):
            facts["why"] = .string("everything")
            facts["reason"] = .string(reason.rawValue)
        }
        return facts
    }

    // MARK: Synchronization

    private func sync(_ number: Int) {
        let (isSeen, isFirst) = marker.withLock { state in
            let isFirst = !state.isFollowed
            state.isFollowed = true
            if state.shown < number { state.waiting.append(number) }
            return (state.shown >= number, isFirst)
        }
        if isSeen { Output.say("synced", ["marker": .int(Int64(number))]) }
        guard isFirst else { return }
        start("the marker") {
            let request = try self.database.makeContext().fetch("public.sync_marker").where("id == 1")
            for try await update in try await request.live() {
                guard let value = try update.objects.first?.value(forKey: "value", as: Int.self) else { continue }
                self.show(value)
            }
        }
    }

    private func show(_ value: Int) {
        let seen = marker.withLock { state in
            state.shown = value
            defer { state.waiting.removeAll { $0 <= value } }
            return state.waiting.filter { $0 <= value }
        }
        for number in seen { Output.say("synced", ["marker": .int(Int64(number))]) }
    }

    // MARK: Contexts and schema

    /// Operations of one context come one after the other.
    private func makeContext(_ id: String) {
        let (operations, continuation) = AsyncStream<JSON>.makeStream()
        contexts.withLock { $0[id] = continuation }
        let context = TrackedContext(database)
        Task.detached {
            for await operation in operations { await context.handle(operation) }
        }
    }

    /// Tells changes of the schema, for ever.
    func followSchema() {
        start("the schema") {
            for try await entities in self.database.schemaChanges {
                Output.say("schema", ["entities": .array(entities.map { .string($0.description) })])
            }
        }
    }
}
