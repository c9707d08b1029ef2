import Kindred
import KindredTesting
import TestSupport
import Testing

/// Random saves over tables whose values are unique in different ways, compared with what SQL has afterwards.
///
/// A save whose final state is valid is carried out, unless values form a cycle that the constraint allows in no
/// order; then the error says so.
@Suite struct UniqueValueModelTests {
    private enum Kind: String, CaseIterable {
        case nullable, required, deferrable, deferred, equalNulls, partial

        var sql: String {
            let table =
                "CREATE TABLE \"\(rawValue)\" (id integer PRIMARY KEY, isOn boolean NOT NULL DEFAULT true, note text, code integer"
            return switch self {
            case .nullable: "\(table) UNIQUE);"
            case .required: "\(table) NOT NULL UNIQUE);"
            case .deferrable: "\(table) NOT NULL UNIQUE DEFERRABLE);"
            case .deferred: "\(table) NOT NULL UNIQUE DEFERRABLE INITIALLY DEFERRED);"
            case .equalNulls: "\(table), UNIQUE NULLS NOT DISTINCT (code));"
            case .partial: "\(table) NOT NULL); CREATE UNIQUE INDEX ON \"partial\" (code) WHERE isOn;"
            }
        }

        /// Whether NULL is a value that rows may have.
        var hasNulls: Bool { self == .nullable || self == .equalNulls }
    }

    private struct Row: Equatable {
        var code: Int?
        var isOn = true
        var note = 0
    }

    private static let schema = Kind.allCases.map(\.sql).joined(separator: "\n")

    @Test(.database(.sql(schema)), arguments: UInt64(1)...TestAmount.of(12, full: 60, long: 600))
    func savesAreCarriedOutWhereAnOrderAllowsThem(seed: UInt64) async throws {
        let kind = Kind.allCases[Int(seed) % Kind.allCases.count]
        var random = SeededGenerator(seed: seed)
        try await withDatabase { database, context, other in
            var stored: [Int: Row] = [:]
            var nextID = 1
            for step in 0..<15 {
                let objects = try await context.fetch(kind.rawValue).sorted("id").all()
                var wanted = stored
                var new: [Int] = []
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    wanted[nextID] = Row()
                    new.append(nextID)
                    nextID += 1
                }
                var deleted: [Int] = []
                for id in stored.keys.sorted() where random.once(in: 8) {
                    deleted.append(id)
                    wanted[id] = nil
                }
                Self.change(&wanted, new, kind, &random)
                for object in objects {
                    guard case .integer(let id) = object["id"], let row = wanted[Int(id)] else {
                        try context.stageDeletion(of: object)
                        continue
                    }
                    guard let old = stored[Int(id)], old != row else { continue }
                    if old.code != row.code { object["code"] = row.code.map { .integer(Int64($0)) } }
                    if old.isOn != row.isOn { object["ison"] = .bool(row.isOn) }
                    if old.note != row.note { object["note"] = .string("\(row.note)") }
                }
                for id in new {
                    let row = wanted[id] ?? Row()
                    try context.add(
                        kind.rawValue, ["id": id, "code": row.code, "ison": row.isOn, "note": "\(row.note)"])
                }
                do {
                    try await context.save()
                    stored = wanted
                } catch let error as KindredError {
                    let mayFail = Self.mayFail(stored, wanted, kind)
                    try #require(mayFail, "\(kind), seed \(seed), step \(step): \(error)")
                    #expect(error.message.contains("cycle"), "\(kind), seed \(seed), step \(step): \(error)")
                    context.rollback()
                }
                let rows = try await other.query("SELECT id, code, ison FROM \(identifier: kind.rawValue) ORDER BY id")
                let found = try rows.map { row in
                    let (id, code) = (try row.decode(0, as: Int.self), try row.decode(1, as: Int.self))
                    return "\(id ?? 0) \(code ?? 0) \(try row.decode(2, as: Bool.self) ?? false)"
                }
                let expected = stored.sorted { $0.key < $1.key }.map { "\($0) \($1.code ?? 0) \($1.isOn)" }
                try #require(found == expected, "\(kind), seed \(seed), step \(step)")
            }
        }
    }

    /// Gives rows other codes, such that all are unique again in the end: other rows' codes, and new codes.
    private static func change(
        _ rows: inout [Int: Row], _ new: [Int], _ kind: Kind, _ random: inout SeededGenerator
    ) {
        var free = Array(1...14).shuffled(using: &random)
        var changing = new
        for (id, row) in rows.sorted(by: { $0.key < $1.key }) where !new.contains(id) {
            if kind == .partial, random.once(in: 4) { rows[id]?.isOn.toggle() }
            if random.once(in: 2) {
                changing.append(id)
            } else if let code = row.code {
                free.removeAll { $0 == code }
            }
            if random.once(in: 3) { rows[id]?.note += 1 }
        }
        // A chain moves by one, as rows of a list do; other rows take any free code.
        let isChain = random.once(in: 3)
        if isChain { free.sort() }
        var hasNull = rows.contains { !changing.contains($0.key) && $0.value.code == nil }
        for id in isChain ? changing.sorted() : changing.shuffled(using: &random) {
            let mayBeNull = kind == .nullable || kind == .equalNulls && !hasNull
            if free.isEmpty || mayBeNull && random.once(in: 5) {
                if kind.hasNulls, mayBeNull {
                    rows[id]?.code = nil
                    hasNull = true
                    continue
                }
            }
            rows[id]?.code = free.isEmpty ? 100 + id : free.removeFirst()
        }
    }

    /// Whether changed rows pass values on in a cycle, and no NULL can take them out of it.
    private static func mayFail(_ old: [Int: Row], _ new: [Int: Row], _ kind: Kind) -> Bool {
        if kind == .nullable || kind == .deferrable || kind == .deferred { return false }
        func value(_ row: Row?) -> String? {
            guard let row, kind != .partial || row.isOn else { return nil }
            return row.code.map(String.init) ?? "NULL"
        }
        let hasNull = (Array(old.values) + new.values).contains { $0.code == nil }
        if kind == .equalNulls, !hasNull { return false }
        let holders = Dictionary(
            old.compactMap { id, row in value(row).map { ($0, id) } }, uniquingKeysWith: { first, _ in first })
        return new.keys.contains { start in
            var (id, seen) = (start, Set<Int>())
            while let next = value(new[id]).flatMap({ holders[$0] }), next != id, new[next] != nil,
                value(old[id]) != value(new[id]), seen.insert(id).inserted
            {
                if next == start { return true }
                id = next
            }
            return false
        }
    }
}
