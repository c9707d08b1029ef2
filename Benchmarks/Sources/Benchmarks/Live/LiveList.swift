import CFloor
import Kindred
import KindredLive

/// One remote change in a live list of 10,000 rows.
struct LiveList: Sendable {
    private static let changes = 50
    private let database: Database
    private let writer: LiveWriter

    init(_ database: Database, _ writer: LiveWriter) { (self.database, self.writer) = (database, writer) }

    func measure() async throws -> [[String]] {
        let counter = StatementCounter(database.client)
        var updates = try await database.makeContext().fetch("entry").sorted("rank").live().makeAsyncIterator()
        guard let first = try await updates.next(), first.objects.count == 10_000 else { throw UnexpectedResult() }
        let changed: [(name: String, sql: SQL)] = [
            ("a value", "UPDATE entry SET text = text || '.' WHERE id = 5000"),
            ("a move", "UPDATE entry SET rank = 100010 - rank WHERE id = 1"),
        ]
        var lines: [[String]] = []
        for (name, sql) in changed {
            let (before, spent) = (counter.count, floor_processor_seconds())
            var elements = 0
            for _ in 0..<Self.changes {
                try await writer.client.query(sql)
                guard let update = try await updates.next() else { throw UnexpectedResult() }
                elements = max(elements, Set(update.updates).union(update.insertions).count)
            }
            let work = (floor_processor_seconds() - spent) / Double(Self.changes)
            // Each change is read by one statement, and asked for by another.
            let statements = Double(counter.count - before) / Double(Self.changes)
            lines.append(["list of 10,000, \(name), statements in all", CountTable.number(statements), ""])
            lines.append(["list of 10,000, \(name), elements of the difference", "\(elements)", "1"])
            lines.append(["list of 10,000, \(name), processor time", milliseconds(work), ""])
        }
        return lines
    }
}
