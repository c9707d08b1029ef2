import Kindred
import Synchronization

/// The entries that writers were told are stored, those that failed, and those of which it is not known.
///
/// It keeps the exceptions alone, so that it does not grow with the soak.
final class SoakLedger: Sendable {
    private struct Writer {
        var last = 0
        var failed: Set<Int> = []
        /// Entries that are being written, too.
        var unknown: Set<Int> = []
    }

    private static let room = 10_000_000
    private let writers = Mutex<[Int: Writer]>([:])

    /// The number of acknowledged entries.
    var acknowledged: Int {
        writers.withLock { $0.values.reduce(0) { $0 + $1.last - $1.failed.count - $1.unknown.count } }
    }

    /// The number of entries of which it is not known.
    var unknown: Int { writers.withLock { $0.values.reduce(0) { $0 + $1.unknown.count } } }

    /// Writes an entry of a writer with a token of its own, and notes the outcome.
    ///
    /// - Parameter write: makes the entry; its error says whether it may be there.
    func record(_ writer: Int, _ write: (_ token: Int) async throws -> Void) async throws {
        let number = writers.withLock { writers in
            writers[writer, default: Writer()].last += 1
            let number = writers[writer]?.last ?? 0
            writers[writer]?.unknown.insert(number)
            return number
        }
        do {
            try await write(writer * Self.room + number)
            writers.withLock { _ = $0[writer]?.unknown.remove(number) }
        } catch {
            if let known = error as? any CategorizedError, !known.mayHaveTakenEffect {
                writers.withLock { writers in
                    writers[writer]?.unknown.remove(number)
                    writers[writer]?.failed.insert(number)
                }
            }
            throw error
        }
    }

    /// Compares the answers with the rows of a server, while nothing is written.
    func check(_ server: PostgresClient, _ books: SoakBooks) async throws {
        for (number, writer) in writers.withLock({ $0 }) {
            let first = number * Self.room
            let (unknown, failed) = (writer.unknown.map { first + $0 }, writer.failed.map { first + $0 })
            let row = try await server.query(
                """
                SELECT count(DISTINCT token) FILTER (WHERE NOT token = ANY (\(unknown)::int8[])),
                    count(*) - count(DISTINCT token), count(*) FILTER (WHERE token = ANY (\(failed)::int8[]))
                FROM entry WHERE token BETWEEN \(first) AND \(first + Self.room - 1)
                """)[0]
            let found = try row.decode(0, as: Int.self) ?? 0
            let doubled = try row.decode(1, as: Int.self) ?? 0
            let refused = try row.decode(2, as: Int.self) ?? 0
            let lost = writer.last - unknown.count - failed.count - (found - refused)
            if lost > 0 { books.note(.lost, "\(lost) entries of writer \(number)", count: lost) }
            if lost < 0 { books.note(.wrong, "\(-lost) entries that writer \(number) did not make") }
            if doubled > 0 { books.note(.doubled, "\(doubled) entries of writer \(number)", count: doubled) }
            if refused > 0 { books.note(.wrong, "\(refused) entries that had failed, of writer \(number)") }
        }
        let sum = try await server.value("SELECT sum(balance)::bigint FROM account")
        if sum != .integer(Int64(SoakSchema.accounts) * 1000) {
            books.note(.wrong, "the sum of all balances is \(String(describing: sum))")
        }
        let wrong = try await server.values(
            """
            SELECT id FROM account AS a WHERE balance <> 1000 + (
                SELECT coalesce(sum(CASE a.id WHEN target THEN amount ELSE -amount END), 0) FROM entry
                WHERE a.id IN (source, target))
            """)
        if !wrong.isEmpty { books.note(.wrong, "balances that are not the sum of their entries: \(wrong)") }
    }
}
