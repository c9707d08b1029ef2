import Kindred
import KindredLive
import Synchronization

/// A client that shows a live list: what it shows is made of the updates alone, over all programs that serve it.
final class SoakList: Sendable {
    /// The way to the server.
    enum Way {
        case address, pooler
    }

    private struct Shown {
        var lines: [String] = []
        var cursor: LiveCursor?
    }

    let name: String
    /// What SQL says of the list, one line for each row.
    let question: SQL
    let way: Way
    private let columns: [String]
    private let request: @Sendable (Database) throws -> FetchRequest<DatabaseObject>
    /// The sum of a column in each committed state.
    private let sum: Int64?
    private let shown = Mutex(Shown())

    init(
        _ name: String, over way: Way = .address, columns: [String] = ["id", "value"], sum: Int64? = nil,
        _ question: SQL, _ request: @escaping @Sendable (Database) throws -> FetchRequest<DatabaseObject>
    ) {
        (self.name, self.way, self.columns, self.sum) = (name, way, columns, sum)
        (self.question, self.request) = (question, request)
    }

    /// All lists of the soak: short and long, over relationships, views, tenants' rows and a pooler.
    static func all(hasPooler: Bool) -> [SoakList] {
        var lists: [SoakList] = []
        for place in 1...2 {
            lists += [
                SoakList(
                    "accounts \(place)", columns: ["id", "balance"], sum: Int64(SoakSchema.accounts) * 1000,
                    "SELECT concat_ws(' ', id, balance) FROM account ORDER BY balance, id"
                ) { try $0.makeContext().fetch("account").sorted("balance") },
                SoakList(
                    "first items \(place)",
                    "SELECT concat_ws(' ', id, value) FROM item WHERE value > 300 ORDER BY value, id LIMIT 20"
                ) { try $0.makeContext().fetch("item").where("value > %@", 300).sorted("value").limit(20) },
                SoakList(
                    "all items \(place)", "SELECT concat_ws(' ', id, value) FROM item WHERE value >= 0 ORDER BY id"
                ) { try $0.makeContext().fetch("item").where("value >= %@", 0).sorted("id") },
                SoakList(
                    "items of shelves \(place)",
                    """
                    SELECT concat_ws(' ', i.id, i.value) FROM item AS i JOIN shelf AS s ON s.id = shelf_id
                    WHERE s.rank < 4 ORDER BY i.id
                    """
                ) { try $0.makeContext().fetch("item").where("shelf.rank < %@", 4).sorted("id").prefetch("shelf") },
                SoakList(
                    "notes of tenant \(place)", columns: ["id", "tenant_id", "text"],
                    """
                    SELECT concat_ws(' ', id, tenant_id, text) FROM note WHERE tenant_id = \(place)
                    ORDER BY text, id
                    """
                ) { database in
                    try database.makeContext(tenant: ["tenant_id": place], setting: "app.tenant_id")
                        .fetch("note").sorted("text")
                },
            ]
        }
        lists.append(
            SoakList("the slow view", "SELECT concat_ws(' ', id, value) FROM item WHERE id <= 20 ORDER BY id") {
                try $0.makeContext().fetch("heavy").sorted("id")
            })
        guard hasPooler else { return lists }
        lists += [
            SoakList(
                "items over the pooler", over: .pooler,
                "SELECT concat_ws(' ', id, value) FROM item WHERE value < 200 ORDER BY value DESC, id LIMIT 30"
            ) {
                try $0.makeContext().fetch("item").where("value < %@", 200).sorted("value", ascending: false).limit(30)
            },
            SoakList(
                "accounts over the pooler", over: .pooler, columns: ["id", "balance"],
                sum: Int64(SoakSchema.accounts) * 1000,
                "SELECT concat_ws(' ', id, balance) FROM account ORDER BY balance, id"
            ) { try $0.makeContext().fetch("account").sorted("balance") },
        ]
        return lists
    }

    /// Follows the list in a program until the task is cancelled; goes on from the cursor of the last update.
    func follow(_ database: Database, _ books: SoakBooks) async {
        while !Task.isCancelled {
            var (hasBegun, pause) = (false, Duration.milliseconds(50))
            do {
                let updates = try await request(database).live(since: shown.withLock { $0.cursor })
                for try await update in updates {
                    take(update, isFirst: !hasBegun, books)
                    hasBegun = true
                }
                if !Task.isCancelled { books.note(.ended, "\(name), without an error") }
            } catch {
                guard !Task.isCancelled, !(error is CancellationError) else { return }
                // Before the first update a server that does not answer is an error.
                if !hasBegun, (error as? any CategorizedError)?.category == .unavailable {
                    books.refused(error, "a list begins")
                } else {
                    books.note(.ended, "\(name): \(error)")
                    pause = .seconds(1)
                }
            }
            try? await Task.sleep(for: pause)
        }
    }

    private static func name(_ cause: LiveCause) -> String {
        guard case .everything(let gap) = cause else { return "\(cause)" }
        return "everything, " + (String(describing: gap).split(separator: ".").last ?? "")
    }

    private func line(_ object: DatabaseObject) -> String {
        columns.map { object[$0]?.description ?? "" }.joined(separator: " ")
    }

    /// Applies an update to the shown lines, and compares them with the whole list of the update.
    private func take(_ update: LiveUpdate<DatabaseObject>, isFirst: Bool, _ books: SoakBooks) {
        let whole = update.objects.map(line)
        let cursor = update.cursor
        books.noteCause((isFirst ? "first of a program: " : "") + Self.name(update.cause))
        let wrong: String? = shown.withLock { shown in
            var lines = shown.lines
            if !isFirst || update.cause == .change {
                let removals = update.removals
                guard removals.allSatisfy(lines.indices.contains) else { return "removals \(removals)" }
                for offset in removals.reversed() { lines.remove(at: offset) }
                for offset in update.insertions {
                    guard offset <= lines.count, whole.indices.contains(offset) else { return "insertion \(offset)" }
                    lines.insert(whole[offset], at: offset)
                }
                for offset in update.updates {
                    guard lines.indices.contains(offset), whole.indices.contains(offset) else {
                        return "update \(offset)"
                    }
                    lines[offset] = whole[offset]
                }
            } else if update.cause != .unchanged {
                lines = whole
            }
            shown = Shown(lines: whole, cursor: cursor)
            return lines == whole ? nil : "\(update.cause) leads to \(lines) and not to \(whole)"
        }
        if let wrong { books.note(.wrong, "\(name): \(wrong)") }
        guard let sum else { return }
        let found = update.objects.reduce(Int64(0)) { total, object in
            if case .integer(let value)? = object[columns[1]] { total + value } else { total }
        }
        if found != sum { books.note(.wrong, "\(name): the sum of a state is \(found)") }
    }

    /// Nil where the list shows what SQL says.
    func difference(from server: PostgresClient) async throws -> String? {
        let stored = try await server.query(question).map { try $0.decode(0, as: String.self) ?? "" }
        let lines = shown.withLock { $0.lines }
        guard lines != stored else { return nil }
        let place = zip(lines, stored).enumerated().first { $1.0 != $1.1 }?.offset ?? min(lines.count, stored.count)
        func text(_ lines: [String]) -> String { lines.indices.contains(place) ? lines[place] : "nothing" }
        return "\(name) has \(text(lines)) and not \(text(stored)) at \(place), \(lines.count) rows of \(stored.count)"
    }
}
