import KindredTesting
import Testing

@testable import Kindred
@testable import KindredLive

/// Follows some tables in each way that the library has, and compares what these ways show with what SQL says.
///
/// A change sequence of all tables is added up; of the table `list`, which has the columns `id` and `value`, a live request
/// shows some rows, and a tracking context holds all.
struct Followers {
    /// An element that names no rows; its entities without the table of marks.
    struct Gap: Equatable, CustomStringConvertible {
        let reason: Tracking.Gap
        let entities: [String]

        init(_ reason: Tracking.Gap, _ entities: String...) { self.init(reason, of: entities) }

        init(_ reason: Tracking.Gap, of entities: [String]) {
            self.reason = reason
            self.entities = entities
        }

        var description: String { "\(reason) \(entities)" }
    }

    let database: Database
    let other: PostgresClient
    private let tables: [String]
    private let list: String
    /// The columns of the list's key.
    private let key: String
    private var changes: ChangeSequence.AsyncIterator
    private var updates: LiveRequest<DatabaseObject>.AsyncIterator
    private var shown: [[PostgresValue?]]
    private var objects: [String: DatabaseObject] = [:]
    private var owners: [DatabaseObject] = []
    /// The rows by table and key, as the sequence has told them.
    private var told: [String: [String: String]] = [:]
    private var faults: [String] = []
    private var gaps: [Gap] = []
    private var mark: Int64 = 0
    /// The place up to which the sequence was taken.
    private(set) var cursor: ChangeCursor

    /// Begins to follow.
    ///
    /// - Parameters:
    ///   - database: the database of the followers.
    ///   - other: the connection of another program, which says what there is.
    init(
        _ database: Database, seenBy other: PostgresClient, tables: [String] = FaultWorld.tables, list: String = "item",
        key: String = "id"
    ) async throws {
        (self.database, self.other, self.tables, self.list, self.key) = (database, other, tables, list, key)
        let context = database.makeContext()
        let sequence = try await context.changes(of: tables + ["mark"])
        cursor = sequence.cursor
        changes = sequence.makeAsyncIterator()
        updates = try await context.fetch(list).where("value >= %@", 0).sorted("id").live().makeAsyncIterator()
        shown = Self.values(try await updates.update())
        let tracking = database.makeContext(tracking: .automatic)
        for object in try await tracking.fetch(list).all() {
            objects[object.objectID.map(Self.text) ?? ""] = object
        }
        if tables.contains("parent") {
            owners = try await tracking.fetch("parent").all()
            for owner in owners { _ = try await owner.set(forKey: "itemSet").objects }
        }
        for table in tables + ["mark"] { told[table] = try await rows(of: table) }
        mark = Int64(told["mark"]?.keys.compactMap { Int64($0) }.max() ?? 0)
    }

    private static func text(_ id: ObjectID) -> String { id.values.map(\.description).joined(separator: ",") }

    private static func values(_ update: LiveUpdate<DatabaseObject>) -> [[PostgresValue?]] {
        update.objects.map { [$0["id"], $0["value"]] }
    }

    /// A table's rows by SQL, by their keys.
    private func rows(of table: String) async throws -> [String: String] {
        let key = table == list ? key : "id"
        var rows: [String: String] = [:]
        let found = try await other.query(
            "SELECT concat_ws(',', \(unsafeRaw: key)), t::text FROM \(identifier: table) AS t")
        for row in found { rows[try row.decode(0, as: String.self) ?? ""] = try row.decode(1, as: String.self) }
        return rows
    }

    // MARK: Expectations

    /// Expects that the sequence, the live request and the context show what SQL says, that nothing was told twice, and
    /// which gap was said since the last call.
    ///
    /// - Parameter reasons: the reasons of gaps that may come or not.
    /// - Returns: all gaps that were said.
    @discardableResult
    mutating func expectAgreement(
        after gap: Gap? = nil, allowing reasons: Set<Tracking.Gap> = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [Gap] {
        let said = try await expectTold(sourceLocation: sourceLocation)
        #expect(
            said.filter { !reasons.contains($0.reason) } == [gap].compactMap(\.self), sourceLocation: sourceLocation)
        try await expectList(sourceLocation: sourceLocation)
        try await expectObjects(sourceLocation: sourceLocation)
        return said
    }

    /// Expects that the changes told add up to what SQL says; returns the gaps.
    private mutating func expectTold(sourceLocation: SourceLocation) async throws -> [Gap] {
        mark += 1
        try await other.query("INSERT INTO mark VALUES (\(Int32(clamping: mark)))")
        try await database.tracking.catchUp()
        var isComplete = false
        while !isComplete {
            let element = try #require(try await changes.next(), sourceLocation: sourceLocation)
            try await take(element)
            isComplete = element.cursor != nil && told["mark"]?["\(mark)"] != nil
            cursor = element.cursor ?? cursor
        }
        for table in tables {
            let rows = try await rows(of: table)
            #expect(told[table] == rows, "the sequence of \(table)", sourceLocation: sourceLocation)
        }
        #expect(faults == [], sourceLocation: sourceLocation)
        defer { (faults, gaps) = ([], []) }
        return gaps
    }

    /// Expects that the live request shows what SQL says.
    private mutating func expectList(sourceLocation: SourceLocation) async throws {
        var expected: [[PostgresValue?]] = []
        for row in try await other.query(
            "SELECT id, value FROM \(identifier: list) WHERE value >= 0 ORDER BY id")
        {
            expected.append([try row[0], try row[1]])
        }
        // It was caught up with: an update that was not taken has all.
        if shown != expected { shown = Self.values(try await updates.update()) }
        #expect(shown == expected, "the live request", sourceLocation: sourceLocation)
    }

    /// Expects that the context's objects and sets show what SQL says, without a statement.
    private mutating func expectObjects(sourceLocation: SourceLocation) async throws {
        var expected: [String: PostgresValue?] = [:]
        for row in try await other.query("SELECT concat_ws(',', \(unsafeRaw: key)), value FROM \(identifier: list)") {
            expected.updateValue(try row[1], forKey: try row.decode(0, as: String.self) ?? "")
        }
        for (key, object) in objects {
            if let value = expected[key] {
                #expect(!object.isDeleted && object["value"] == value, "\(list) \(key)", sourceLocation: sourceLocation)
            } else {
                #expect(object.isDeleted, "\(list) \(key)", sourceLocation: sourceLocation)
                // A row that comes back is another object.
                objects[key] = nil
            }
        }
        for owner in owners where !owner.isDeleted {
            guard let id = owner.number else { continue }
            let members = try await FollowedWorld.keys(other, "SELECT id FROM item WHERE parent_id = \(id) ORDER BY id")
            let shown = try await owner.membersInMemory("itemSet")
            #expect(shown == members, "the set of \(id)", sourceLocation: sourceLocation)
        }
        owners.removeAll(where: \.isDeleted)
    }

    /// Adds an element to the told changes.
    private mutating func take(_ element: ChangeSequence.Element) async throws {
        switch element {
        case .changes(let changes):
            for id in changes.deleted where told[id.entity.name]?.removeValue(forKey: Self.text(id)) == nil {
                faults.append("\(id) was deleted, but not known")
            }
            var rows: [String: [String: String]] = [:]
            for id in changes.inserted.union(changes.updated.keys) {
                let (table, key) = (id.entity.name, Self.text(id))
                if (told[table]?[key] == nil) != changes.inserted.contains(id) {
                    faults.append("\(id) was inserted twice, or updated and not known")
                }
                if rows[table] == nil { rows[table] = try await self.rows(of: table) }
                told[table]?[key] = rows[table]?[key]
            }
        case .everything(let reason, let entities, _):
            let names = entities.map(\.name)
            for name in names where told[name] != nil { told[name] = try await rows(of: name) }
            gaps.append(Gap(reason, of: names.filter { $0 != "mark" }))
        }
    }
}

extension PostgresClient {
    private struct Undone: Error {}

    /// Runs writes in a transaction, or behind a savepoint, that is rolled back.
    func undone(_ body: () async throws -> Void) async throws {
        do {
            try await withTransaction { _ async throws -> Void in
                try await body()
                throw Undone()
            }
        } catch is Undone {}
    }
}
