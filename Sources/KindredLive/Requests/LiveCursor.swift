import Kindred
import KindredPostgres

/// The last list that a client of a live request was shown, as a text that the client keeps: with it a request goes on where it
/// was, in this process or another, by ``Kindred/FetchRequest/live(since:atMostEvery:fileID:line:)``.
///
/// It holds the place in the stream of changes, and up to 200 rows' hashes: no names and no values. A client can make one of its
/// own, but gets nothing by it that the request does not show.
public struct LiveCursor: Sendable, Hashable {
    /// The place in the stream of changes: updates with equal places are of one snapshot.
    public let changes: ChangeCursor
    /// The hash of the request with its arguments, and of the role, settings and tenant that it was made with.
    let request: UInt64
    /// The list's rows; nil for longer lists.
    let list: LiveListHashes?
}

/// The hashes of a list's rows, in their order.
struct LiveListHashes: Sendable, Hashable {
    struct Row: Sendable, Hashable {
        let key: UInt64
        /// The hash of the row's values and of its prefetched relationships.
        let content: UInt64
    }

    static let maximumRows = 200
    /// The seed of the hashes that this process makes.
    static let seed = UInt64.random(in: 0 ... .max)

    let seed: UInt64
    let rows: [Row]

    init(seed: UInt64, rows: [Row]) {
        self.seed = seed
        self.rows = rows
    }

    /// nil for a list with too many rows.
    init?(of snapshot: LiveSnapshot) {
        guard snapshot.rows.count <= Self.maximumRows else { return nil }
        self.init(seed: Self.seed, rows: snapshot.rows.map { Self.row($0, in: snapshot, seed: Self.seed) })
    }

    /// The hashes of a row in an answer.
    static func row(_ member: Member, in snapshot: LiveSnapshot, seed: UInt64) -> Row {
        var (key, content) = (ContentHash(seed: seed), ContentHash(seed: seed))
        key.combine(member.key)
        content.combine(member.row)
        content.combine(snapshot.branches, of: member.row)
        return Row(key: key.value, content: content.value)
    }
}

extension ContentHash {
    /// Adds the members of an owner, down to the last level.
    fileprivate mutating func combine(_ branches: [LiveBranch], of owner: Row) {
        for branch in branches {
            let members = branch.members(of: owner)
            combine(members.count)
            for member in members {
                combine(member.key)
                combine(member.row)
                combine(branch.branches, of: member.row)
            }
        }
    }
}

extension LiveQuery {
    /// The hash of all that tells the request from others of the database, the same in every process.
    var hash: UInt64 {
        var hash = ContentHash(seed: 0)
        hash.combine(core.client.configuration.user ?? "")
        hash.combine(core.settings.sortedValues.count)
        for (name, value) in core.settings.sortedValues {
            hash.combine(name)
            hash.combine(value)
        }
        hash.combine(core.tenant?.column ?? "")
        hash.combine(core.tenant?.value.description ?? "")
        hash.combine(question)
        hash.combine(isSorted ? 1 : 0)
        hash.combine(prefetched)
        return hash.value
    }
}

extension ContentHash {
    fileprivate mutating func combine(_ tree: PrefetchTree) {
        combine(tree.branches.count)
        for branch in tree.branches {
            combine(branch.relationship.model.name)
            combine(branch.part?.limit ?? -1)
            if let part = branch.part { combine(part.statement) }
            let leftOut = branch.tree.leftOut.map(Array.init) ?? []
            combine(leftOut.count)
            for column in leftOut { combine(column) }
            combine(branch.tree)
        }
    }
}

// The content of a cursor, see `CursorText`: request, epoch, system, timeline, database, the snapshot's numbers as differences,
// and the seed and the number of the list's rows with their hashes.
extension LiveCursor: LosslessStringConvertible {
    private static let version: UInt8 = 1
    /// The longest text that is read: browsers send it in a header.
    private static let maximumSize = 16_384

    /// The cursor as a text of letters, digits, `-` and `_`, for the `id` of a server-sent event or an address.
    ///
    /// At most 4,400 bytes, and more where hundreds of transactions were running.
    public var description: String {
        var text = CursorText(version: Self.version)
        text.append(whole: request)
        text.append(changes.epoch)
        text.append(whole: UInt64(bitPattern: changes.system))
        text.append(changes.timeline)
        text.append(whole: UInt64(changes.database))
        text.append(changes.snapshot)
        text.append(list == nil ? 0 : 1)
        if let list {
            text.append(whole: list.seed)
            text.append(list.rows.count)
            for row in list.rows {
                text.append(whole: row.key)
                text.append(whole: row.content)
            }
        }
        return text.text
    }

    /// Reads a cursor from its text, such as the header `Last-Event-ID`; nil for anything else.
    public init?(_ text: String) {
        guard var reader = try? CursorText.Reader(text, version: Self.version, maximumSize: Self.maximumSize),
            let cursor = try? Self(&reader), reader.isAtEnd
        else { return nil }
        self = cursor
    }

    private init(_ reader: inout CursorText.Reader) throws {
        request = try reader.whole()
        let (epoch, system) = (try reader.text(), Int64(bitPattern: try reader.whole()))
        let (timeline, database) = (try reader.text(), try reader.whole())
        let snapshot = try reader.text()
        guard let database = UInt32(exactly: database), ChangeCursor.isSnapshot(snapshot) else {
            throw CursorText.Damage()
        }
        changes = ChangeCursor(
            epoch: epoch, system: system, timeline: timeline, database: database, snapshot: snapshot)
        guard try reader.number() == 1 else {
            list = nil
            return
        }
        let seed = try reader.whole()
        let rows = try reader.list { LiveListHashes.Row(key: try $0.whole(), content: try $0.whole()) }
        // A list has each row once.
        guard rows.count <= LiveListHashes.maximumRows, Set(rows.map(\.key)).count == rows.count else {
            throw CursorText.Damage()
        }
        list = LiveListHashes(seed: seed, rows: rows)
    }
}

extension LiveCursor: Codable {
    /// Reads the text.
    ///
    /// Throws `DecodingError` `.dataCorrupted` for anything that is not the text of a cursor.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let cursor = LiveCursor(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "The text is no cursor of a live request")
        }
        self = cursor
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
