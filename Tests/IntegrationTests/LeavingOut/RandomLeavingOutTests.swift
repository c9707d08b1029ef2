import Kindred
import KindredTesting
import TestSupport
import Testing

private let schema = """
    CREATE TABLE plain (id integer PRIMARY KEY, a text, b text, c text, d text);
    CREATE TABLE versioned (id integer PRIMARY KEY, a text, b text, c text, d text, version integer NOT NULL DEFAULT 1);
    COMMENT ON COLUMN plain.d IS '@kindred {"lazy": true}';
    COMMENT ON COLUMN versioned.d IS '@kindred {"lazy": true}';
    COMMENT ON COLUMN versioned.version IS '@kindred {"version": true}';
    INSERT INTO plain SELECT i, 'x', 'x', 'x', 'x' FROM generate_series(1, 6) AS i;
    INSERT INTO versioned SELECT i, 'x', 'x', 'x', 'x' FROM generate_series(1, 6) AS i;
    """

/// Columns left out at random, read, written, refreshed, and changed by another connection.
///
/// An object's values in memory always belong to one state of its row; values that were just read belong to the current
/// state; and a write changes the columns that were staged, and no others.
@Suite struct RandomLeavingOutTests {
    @Test(
        .database(.sql(schema)), .timeLimit(.minutes(5)),
        arguments: ["plain", "versioned"], [UInt64.random(in: 0..<1_000_000), 1, 2])
    func memoryShowsStatesOfTheRows(table: String, seed: UInt64) async throws {
        try await withDatabase { database, context, other in
            var world = LeavingOutWorld(table: table, context: context, other: other, seed: seed)
            try await world.begin()
            for step in 0..<200 {
                let action = try await world.step()
                let problem = try await world.problem()
                #expect(problem == nil, "\(table), seed \(seed), step \(step), \(action): \(problem ?? "")")
                if problem != nil { return }
            }
        }
    }
}

/// A table, objects of its rows, and all states that each row has had.
private struct LeavingOutWorld {
    private typealias Values = [String: PostgresValue?]
    private static let columns = ["a", "b", "c", "d"]

    let table: String
    let context: DatabaseContext
    let other: PostgresClient
    private var generator: SeededGenerator
    private var objects: [DatabaseObject] = []
    private var states: [Int: [Values]] = [:]
    private var failure: String?
    private var count = 0

    init(table: String, context: DatabaseContext, other: PostgresClient, seed: UInt64) {
        (self.table, self.context, self.other) = (table, context, other)
        generator = SeededGenerator(seed: seed)
    }

    mutating func begin() async throws {
        objects = try await context.fetch(table).sorted("id").all()
        try await note()
    }

    private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    private mutating func randomColumn() -> String {
        let place = random(4)
        return Self.columns[place]
    }

    /// NULL, or a value that was never there before.
    private mutating func randomValue() -> String? {
        count += 1
        return random(6) == 0 ? nil : "v\(count)"
    }

    private mutating func randomColumns() -> [String] {
        Self.columns.filter { _ in Bool.random(using: &generator) }
    }

    /// The rows as the other connection sees them.
    private func rows() async throws -> [Int: Values] {
        let result = try await other.query("SELECT id, a, b, c, d FROM \(unsafeRaw: table)")
        var rows: [Int: Values] = [:]
        for row in result {
            var values: Values = [:]
            for column in Self.columns { values.updateValue(try row[column], forKey: column) }
            rows[try row.decode("id", as: Int.self) ?? 0] = values
        }
        return rows
    }

    /// Notes the states of the rows.
    private mutating func note() async throws {
        for (id, values) in try await rows() where states[id]?.last != values { states[id, default: []].append(values) }
    }

    private func values(of object: DatabaseObject) -> Values {
        object.dictionary.filter { Self.columns.contains($0.key) }
    }

    private func id(of object: DatabaseObject) -> Int { (try? object.value(forKey: "id", as: Int.self)) ?? 0 }

    /// Whether a state has some values.
    private func are(_ part: Values, in whole: Values) -> Bool {
        part.allSatisfy { whole[$0.key] == .some($0.value) }
    }

    /// The problem with memory, if any.
    mutating func problem() async throws -> String? {
        if let failure { return failure }
        for object in objects where !object.hasStagedChanges {
            let shown = values(of: object)
            guard states[id(of: object), default: []].contains(where: { are(shown, in: $0) }) else {
                return "\(object) shows \(shown), which its row never was"
            }
            for column in Self.columns {
                let isRead = (try? object.value(forKey: column, as: String.self)) != nil || shown[column] == .some(nil)
                if isRead != (shown[column] != nil) { return "\(object).\(column) can be read, or cannot, by mistake" }
            }
        }
        return nil
    }

    /// Checks that some columns of objects are as in the database.
    private mutating func requireCurrent(_ objects: [DatabaseObject], _ columns: [String]) async throws {
        let rows = try await rows()
        for object in objects where !object.hasStagedChanges {
            let part = values(of: object).filter { columns.contains($0.key) }
            guard part.count == columns.count, are(part, in: rows[id(of: object)] ?? [:]) else {
                failure =
                    "\(object) has \(values(of: object)), and should have \(columns) of \(rows[id(of: object)] ?? [:])"
                return
            }
        }
    }

    /// Does something at random; returns what.
    mutating func step() async throws -> String {
        let place = random(objects.count)
        let object = objects[place]
        let (column, value) = (randomColumn(), randomValue())
        switch random(10) {
        case 0, 1:
            let omitted = randomColumns()
            var request = try context.fetch(table).sorted("id")
            for column in omitted { request = try request.omitting(column) }
            if random(4) == 0 { request = request.limit(1 + random(3)) }
            let found = try await request.all()
            if found.contains(where: { !objects.contains($0) }) { failure = "an object was made twice" }
            try await requireCurrent(found, Self.columns.filter { !omitted.contains($0) && $0 != "d" })
            return "fetch omitting \(omitted)"
        case 2:
            let read = randomColumns() + ["a"]
            var request = try context.fetch(table).sorted("id")
            for column in read.prefix(1) { request = try request.only(column) }
            try await requireCurrent(try await request.all(), Array(read.prefix(1)))
            return "fetch only \(read.prefix(1))"
        case 3, 4:
            let isLoaded = object.dictionary[column] != nil
            let (loaded, recorder) = try await recordingStatements { try await object.loaded(column) }
            if recorder.statements.count != (isLoaded ? 0 : 1) { failure = "\(recorder.statements) were sent" }
            if !isLoaded {
                try await requireCurrent([object], [column])
                if loaded != (object.dictionary[column] ?? nil) { failure = "another value was given" }
            }
            return "load \(object).\(column)"
        case 5:
            let before = try await rows()[id(of: object)] ?? [:]
            do {
                try await object.setValue(value, forKey: column)
            } catch let error as KindredError where error.code == .staleObject {
                try await object.refresh()
                return "stale write of \(object)"
            }
            let new: Values = [column: value.map { PostgresValue.string($0) }]
            try await require(before.merging(new) { $1 }, of: object)
            return "write \(object).\(column)"
        case 6:
            let before = try await rows()[id(of: object)] ?? [:]
            for column in [column, randomColumn()] { object[column] = value.map { .string($0) } }
            if random(4) == 0 {
                object.rollback()
                return "stage and take back"
            }
            if random(3) == 0 { _ = try await object.loaded(randomColumn()) }
            // A value that equals the value in memory is no change.
            let staged = object.stagedValues
            do {
                try await context.save()
            } catch let error as KindredError where error.code == .staleObject {
                object.rollback()
                try await object.refresh()
                return "stale save of \(object)"
            }
            if !staged.isEmpty { try await require(before.merging(staged) { $1 }, of: object) }
            return "save \(staged.keys) of \(object)"
        case 7:
            let second = randomColumn()
            var set = "\(column) = \(value.map { "'\($0)'" } ?? "NULL")"
            if second != column, random(2) == 0 { set += ", \(second) = 'o\(count)'" }
            if table == "versioned" { set += ", version = version + 1" }
            try await other.query("UPDATE \(unsafeRaw: table) SET \(unsafeRaw: set) WHERE id % 3 <> \(random(3))")
            try await note()
            return "change by others"
        case 8:
            if random(2) == 0 {
                try await object.refresh()
                try await requireCurrent([object], ["a", "b", "c"])
                return "refresh \(object)"
            }
            let found = try await context.find(table, id(of: object))
            if found !== object || !["a", "b", "c"].allSatisfy({ object.dictionary[$0] != nil }) {
                failure = "find gave a part of the row"
            }
            return "find \(object)"
        default:
            await fail(context) {
                do {
                    try await object.setValue(value, forKey: column)
                    _ = try await object.loaded("d")
                } catch let error as KindredError where error.code == .staleObject {}
            }
            return "failed transaction"
        }
    }

    /// Checks a row in the database after a write.
    private mutating func require(_ expected: Values, of object: DatabaseObject) async throws {
        try await note()
        let stored = try await rows()[id(of: object)] ?? [:]
        if stored != expected { failure = "\(stored) was stored, and not \(expected)" }
        try await requireCurrent([object], ["a", "b", "c"])
    }
}
