import KindredSchema

@testable import Kindred
@testable import KindredLive

/// Rows of one table, and the records that statements on them leave: the triggers' records before the statement's own.
struct SimulatedTable {
    /// The values of a row; each update changes one of two columns.
    typealias Values = [String: Int]

    static let name = QualifiedName(schema: "public", name: "thing")
    static let relation: UInt32 = 1
    static let columns: Set<String> = ["id", "a", "b"]
    static let layout = ChangeLayout(
        targets: [
            relation: [ChangeLayout.Target(name: name, key: ["id"], types: [.int4], table: nil)]
        ], keys: [relation: ["id"]])

    private(set) var rows: [Int: Values] = [:]
    /// The columns that statements have set, by key; keys that came or went had all of them set.
    private(set) var set: [Int: Set<String>] = [:]
    private var lastValue = 0

    mutating func forgetColumns() { set = [:] }

    /// A transaction of some statements over keys of a range.
    mutating func transaction(
        _ number: Int, keys: [Int], using random: inout some RandomNumberGenerator
    ) -> [ChangeRecord] {
        var records: [ChangeRecord] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            statement(number, keys: keys, depth: 1, &records, using: &random)
        }
        return records
    }

    private mutating func statement(
        _ number: Int, keys: [Int], depth: Int, _ records: inout [ChangeRecord],
        using random: inout some RandomNumberGenerator
    ) {
        var fires: Bool { depth < 4 && Int.random(in: 0..<4, using: &random) == 0 }
        if fires { statement(number, keys: keys, depth: depth + 1, &records, using: &random) }
        var record = ChangeRecord(
            transaction: Int64(number), relation: Self.relation, operation: .update, depth: depth, keys: [])
        let chosen = keys.filter { _ in Bool.random(using: &random) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            record.operation = .insert
            record.keys = chosen.filter { rows[$0] == nil }.map { insert($0, ["a": newValue(), "b": newValue()]) }
        case 1:
            record.operation = .delete
            record.keys = chosen.filter { rows[$0] != nil }.map { delete($0) }
        case 2:
            let column = Bool.random(using: &random) ? "a" : "b"
            record.columns = [column]
            record.keys = chosen.filter { rows[$0] != nil }.map { key in
                let value = newValue()
                rows[key]?[column] = value
                set[key, default: []].insert(column)
                return "\(key)"
            }
        default:
            // Rows change places, some stay.
            let moved = keys.filter { rows[$0] != nil }
            let places = moved.shuffled(using: &random)
            let old = moved.map { rows[$0] ?? [:] }
            record.columns = ["id"]
            record.keys = moved.map { "\($0)" }
            record.newKeys = places.map { "\($0)" }
            for (key, place) in zip(moved, places) where key == place { set[key, default: []].insert("id") }
            for (key, place) in zip(moved, places) where key != place { _ = delete(key) }
            for ((key, place), values) in zip(zip(moved, places), old) where key != place { _ = insert(place, values) }
        }
        if fires { statement(number, keys: keys, depth: depth + 1, &records, using: &random) }
        if record.keys?.isEmpty == false { records.append(record) }
    }

    private mutating func insert(_ key: Int, _ values: Values) -> String {
        rows[key] = values
        set[key] = Self.columns
        return "\(key)"
    }

    private mutating func delete(_ key: Int) -> String {
        rows[key] = nil
        set[key] = Self.columns
        return "\(key)"
    }

    private mutating func newValue() -> Int {
        lastValue += 1
        return lastValue
    }
}

extension TableChanges {
    /// Why they are not the difference of two states; nil if they are.
    func problem(
        from before: [Int: SimulatedTable.Values], to after: [Int: SimulatedTable.Values], set: [Int: Set<String>]
    ) -> String? {
        func keys(_ numbers: some Sequence<Int>) -> Set<ObjectKey> { Set(numbers.map { .integer(Int64($0)) }) }
        if gap != nil { return "a gap" }
        if inserted != keys(after.keys.filter { before[$0] == nil }) { return "inserted \(inserted)" }
        if deleted != keys(before.keys.filter { after[$0] == nil }) { return "deleted \(deleted)" }
        for (key, old) in before {
            guard let new = after[key] else { continue }
            let changed = Set(new.keys.filter { new[$0] != old[$0] })
            guard let told = updated[.integer(Int64(key))] else {
                if changed.isEmpty { continue }
                return "\(key) is not updated"
            }
            let columns = told.map { Set($0.map(\.text)) } ?? SimulatedTable.columns
            if !columns.isSuperset(of: changed) { return "\(key) lacks columns of \(changed)" }
            if !columns.isSubset(of: set[key] ?? []) { return "\(key) has columns that were not set" }
        }
        let both = keys(before.keys.filter { after[$0] != nil })
        return Set(updated.keys).isSubset(of: both) ? nil : "updated \(updated.keys)"
    }
}

extension NetChanges {
    /// The net effects where of the uncertain keys some have rows.
    func changes(present: [QualifiedName: Set<ObjectKey>] = [:]) -> [QualifiedName: TableChanges] {
        present.reduce(into: sum().batch) { $0.add(present: $1.value, of: $1.key) }.changes
    }
}
