import Kindred
import KindredPostgres

/// A place in the stream of a database's changes: everything that was committed before it has been told.
///
/// `Codable`, and good in any process: of one database on one server, as long as the records behind it are kept.
public struct ChangeCursor: Sendable, Hashable, Codable {
    /// The installation of change tracking; it changes when records are thrown away.
    let epoch: String
    /// The server's system identifier, its timeline and the database.
    let system: Int64
    let timeline: String
    let database: UInt32
    /// The transactions that have been told, as a `pg_snapshot`.
    let snapshot: String

    /// Whether a text is a `pg_snapshot`, so that the server takes it: `xmin:xmax:running,running`.
    static func isSnapshot(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let oldest = number(parts[0]), let next = number(parts[1]), oldest <= next else {
            return false
        }
        if parts[2].isEmpty { return true }
        var last: Int64?
        for part in parts[2].split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
            guard let running = number(part), oldest <= running, running < next, last.map({ $0 < running }) ?? true
            else { return false }
            last = running
        }
        return true
    }

    /// A number of a transaction.
    private static func number(_ digits: Substring.UTF8View) -> Int64? {
        guard digits.count <= 19, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return Int64(String(Substring(digits))).flatMap { $0 > 0 ? $0 : nil }
    }

    /// The reason why another cursor is of no use in this cursor's stream; nil if it is of the same stream.
    func refusal(of cursor: ChangeCursor) -> Tracking.Gap? {
        guard cursor.system == system, cursor.timeline == timeline, cursor.database == database else {
            return .foreignCursor
        }
        return cursor.epoch == epoch ? nil : .expired
    }
}

extension ChangeCursor {
    /// Throws `DecodingError` `.dataCorrupted` where the place could not be one of any server.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            epoch: try container.decode(String.self, forKey: .epoch),
            system: try container.decode(Int64.self, forKey: .system),
            timeline: try container.decode(String.self, forKey: .timeline),
            database: try container.decode(UInt32.self, forKey: .database),
            snapshot: try container.decode(String.self, forKey: .snapshot))
        guard Self.isSnapshot(snapshot) else {
            throw DecodingError.dataCorruptedError(
                forKey: .snapshot, in: container, debugDescription: "The snapshot is none of a server")
        }
    }
}
