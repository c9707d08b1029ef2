import KindredPostgres
import KindredSchema
import Testing

@testable import KindredDoctor

/// Catalog rows made by hand: tables `parent` (id, tenant, code) and `child`, whose columns a, b, c, d refer to it.
struct DoctorWorld {
    static let parent: UInt32 = 20_000
    static let child: UInt32 = 20_001
    /// The equality of whole numbers, an operator class that can search for it, and an operator class that cannot.
    static let equality: UInt32 = 96
    static let searching: UInt32 = 1
    static let other: UInt32 = 2

    var facts = DoctorCatalog()
    private var next: UInt32 = 30_000

    init() {
        facts.settings.serverVersion = 180_001
        facts.families = [Self.searching: 10, Self.other: 20]
        facts.searchable = [.init(family: 10, operation: Self.equality)]
        addTable(Self.parent, "parent", ["id", "tenant", "code"])
        addTable(Self.child, "child", ["id", "a", "b", "c", "d"])
        addIndex(on: Self.parent, ["id"]) {
            $0.isUnique = true; $0.isPrimary = true
        }
    }

    mutating func addTable(
        _ oid: UInt32, _ name: String, _ columns: [String], kind: Character = "r", parent: UInt32 = 0, rows: Int = 5_000
    ) {
        facts.relations.append(
            DoctorCatalog.Relation(
                oid: oid, name: name, kind: kind.asciiValue ?? 0, isPartition: parent != 0, parent: parent,
                rows: kind == "r" ? rows : 0))
        for (place, column) in columns.enumerated() {
            facts.columns.append(DoctorCatalog.Column(relation: oid, number: Int16(place + 1), name: column))
        }
    }

    private func number(_ name: String, of relation: UInt32) -> Int16 {
        facts.columns.first { $0.relation == relation && $0.name == name }?.number ?? 0
    }

    /// A column of no such name stands for an expression.
    mutating func addIndex(
        on relation: UInt32 = Self.child, _ columns: [String], include: [String] = [],
        _ change: (inout DoctorCatalog.Index) -> Void = { _ in }
    ) {
        next += 1
        var index = DoctorCatalog.Index(
            oid: next, relation: relation, name: "index_\(next)",
            columns: (columns + include).map { number($0, of: relation) }, keyCount: columns.count)
        index.classes = columns.map { _ in Self.searching }
        index.collations = columns.map { _ in 0 }
        index.options = columns.map { _ in 0 }
        if columns.contains(where: { number($0, of: relation) == 0 }) {
            index.expressions = "lower(a)"
            index.namedColumns = [self.number("a", of: relation)]
        }
        change(&index)
        facts.indexes.append(index)
    }

    mutating func addKey(
        _ columns: [String], of relation: UInt32 = Self.child, to targets: [String],
        _ change: (inout DoctorCatalog.ForeignKey) -> Void = { _ in }
    ) {
        next += 1
        var key = DoctorCatalog.ForeignKey(
            oid: next, relation: relation, name: "key_\(columns.joined(separator: "_"))",
            columns: columns.map { number($0, of: relation) }, target: Self.parent,
            targetColumns: targets.map { number($0, of: Self.parent) })
        key.operators = columns.map { _ in Self.equality }
        change(&key)
        facts.foreignKeys.append(key)
    }

    var examination: Examination { Examination(Catalog(), facts) }

    /// The report of one rule, small tables included.
    func findings(of rule: String) -> [DoctorFinding] {
        var options = DoctorOptions()
        options.includesSmallTables = true
        return Doctor.report(on: examination, options).findings.filter { $0.rule == rule }
    }

    /// The names of the foreign keys without an index.
    var unindexed: [String] { findings(of: "K101").compactMap(\.object) }
}
