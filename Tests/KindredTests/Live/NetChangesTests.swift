import KindredSchema
import Testing

@testable import Kindred
@testable import KindredLive

/// The sum of records is the difference of the states before and after them.
@Suite struct NetChangesTests {
    private static let name = SimulatedTable.name

    private static func net(_ records: ChangeRecord..., limit: Int = 100) -> NetChanges {
        var net = NetChanges(limit: limit)
        net.add(records, SimulatedTable.layout)
        return net
    }

    private static func changes(_ records: ChangeRecord...) -> TableChanges? {
        var net = NetChanges()
        net.add(records, SimulatedTable.layout)
        return net.changes()[name]
    }

    private static func record(
        _ operation: ChangeRecord.Operation, _ keys: [String]?, new: [String]? = nil, columns: [String]? = nil,
        transaction: Int64 = 1, depth: Int = 1, reason: String? = nil
    ) -> ChangeRecord {
        ChangeRecord(
            transaction: transaction, relation: SimulatedTable.relation, operation: operation, depth: depth, keys: keys,
            newKeys: new, columns: columns, reason: reason)
    }

    @Test func aRowThatCameAndWentIsNotTold() {
        #expect(Self.changes(Self.record(.insert, ["1"]), Self.record(.delete, ["1"])) == nil)
        #expect(
            Self.changes(Self.record(.insert, ["1"]), Self.record(.update, ["1"], columns: ["a"], transaction: 2))
                == TableChanges(inserted: [.integer(1)]))
    }

    @Test func updatesNameAllTheirColumns() {
        #expect(
            Self.changes(
                Self.record(.update, ["1"], columns: ["a"]),
                Self.record(.update, ["1", "2"], columns: ["b"], transaction: 2))
                == TableChanges(updated: [.integer(1): ["a", "b"], .integer(2): ["b"]]))
    }

    @Test func aChangedKeyIsADeletionAndAnInsertion() {
        #expect(
            Self.changes(Self.record(.update, ["1", "5"], new: ["2", "5"], columns: ["id", "a"]))
                == TableChanges(
                    inserted: [.integer(2)], updated: [.integer(5): ["id", "a"]], deleted: [.integer(1)]))
    }

    /// 1 to 2 and 2 to 3: two rows have moved on, and another has the key 2, or one row twice, and the key 2 was never there.
    @Test func aKeyThatARecordTakesAndGivesIsLookedUp() {
        let net = Self.net(Self.record(.update, ["1", "2"], new: ["2", "3"], columns: ["id"]))
        #expect(net.sum().uncertain == [Self.name: [.integer(2)]])
        #expect(
            net.changes(present: [Self.name: [.integer(2)]])
                == [
                    Self.name: TableChanges(
                        inserted: [.integer(3)], updated: [.integer(2): nil], deleted: [.integer(1)])
                ])
        #expect(
            net.changes(present: [:])
                == [Self.name: TableChanges(inserted: [.integer(3)], deleted: [.integer(1)])])
        // The transaction has inserted it, and another one has deleted it: no look-up.
        let known = Self.net(
            Self.record(.insert, ["2"]), Self.record(.update, ["1", "2"], new: ["2", "3"], columns: ["id"]),
            Self.record(.delete, ["2"], transaction: 2))
        #expect(known.sum().uncertain == [:])
    }

    @Test func recordsOfTriggersComeBeforeTheStatementThatFiredThem() {
        // The row was inserted, and then updated by a trigger of the same statement.
        #expect(
            Self.changes(Self.record(.update, ["1"], columns: ["a"], depth: 2), Self.record(.insert, ["1"]))
                == TableChanges(inserted: [.integer(1)]))
        // It was inserted and deleted by a trigger, or replaced by a trigger before.
        var net = Self.net(Self.record(.delete, ["1"], depth: 2), Self.record(.insert, ["1"]))
        #expect(net.sum().uncertain == [Self.name: [.integer(1)]])
        #expect(net.changes(present: [:]) == [:])
        #expect(
            net.changes(present: [Self.name: [.integer(1)]])
                == [Self.name: TableChanges(updated: [.integer(1): nil])])
        // Another transaction tells.
        net = Self.net(
            Self.record(.delete, ["1"], depth: 2), Self.record(.insert, ["1"]),
            Self.record(.delete, ["1"], transaction: 2))
        #expect(net.sum().uncertain == [:])
        #expect(net.changes() == [Self.name: TableChanges(deleted: [.integer(1)])])
    }

    @Test func whatAStatementReplacesByItsWITHIsLookedUp() {
        // DELETE … RETURNING in the WITH of an INSERT that has not read all of it: recorded behind the INSERT.
        for depth in [1, 2] {
            let net = Self.net(
                Self.record(.insert, ["1"], depth: depth), Self.record(.delete, ["1", "2"], depth: depth))
            #expect(net.sum().uncertain == [Self.name: [.integer(1)]])
            #expect(net.changes() == [Self.name: TableChanges(deleted: [.integer(2)])])
            #expect(
                net.changes(present: [Self.name: [.integer(1)]])
                    == [Self.name: TableChanges(updated: [.integer(1): nil], deleted: [.integer(2)])])
        }
        // A row that came and went, and came, was not there.
        let net = Self.net(
            Self.record(.insert, ["1"]), Self.record(.delete, ["1"]), Self.record(.insert, ["1"]))
        #expect(net.sum().uncertain == [:])
        #expect(net.changes() == [Self.name: TableChanges(inserted: [.integer(1)])])
    }

    @Test func aTableThatWasRenamedOrMadeAnewIsToldUnderItsFormerNames() {
        let former = QualifiedName(schema: "public", name: "former")
        var layout = SimulatedTable.layout
        layout.former = [SimulatedTable.relation: [former], 9: [Self.name]]
        func changes(_ records: ChangeRecord...) -> [QualifiedName: TableChanges] {
            var net = NetChanges()
            net.add(records, layout)
            return net.changes()
        }
        #expect(
            changes(Self.record(.schema, nil))
                == [Self.name: TableChanges(gap: .schemaChanged), former: TableChanges(gap: .schemaChanged)])
        #expect(
            changes(Self.record(.insert, ["1"])) == [Self.name: TableChanges(inserted: [.integer(1)])])
        var dropped = Self.record(.schema, nil)
        dropped.relation = 9
        #expect(changes(dropped) == [Self.name: TableChanges(gap: .schemaChanged)])
    }

    @Test func aGapTakesTheTablesKeys() {
        let insert = Self.record(.insert, ["1"])
        for (record, gap) in [
            (Self.record(.update, nil), Tracking.Gap.bulk), (Self.record(.truncate, nil), .bulk),
            (Self.record(.schema, nil), .schemaChanged), (Self.record(.unread, nil, reason: "unread"), .unrecorded),
            (Self.record(.gap, nil, reason: "trigger missing"), .unrecorded),
            (Self.record(.gap, nil, reason: "changed"), .schemaChanged),
            (Self.record(.delete, nil, reason: "policy"), .unnamed),
            // A key that is none.
            (Self.record(.insert, ["x"]), .unnamed),
        ] {
            #expect(Self.changes(insert, record, insert) == TableChanges(gap: gap))
        }
        #expect(Self.net(Self.record(.schema, nil)).changedTables == [SimulatedTable.relation])
        let many = Self.net(Self.record(.insert, (1...11).map(String.init)), limit: 10)
        #expect(many.changes() == [Self.name: TableChanges(gap: .overflow)])
    }

    @Test func aLargeTableTakesNoNamesFromOthers() {
        let small = QualifiedName(schema: "public", name: "small")
        let layout = ChangeLayout(
            targets: SimulatedTable.layout.targets.merging([
                2: [ChangeLayout.Target(name: small, key: ["id"], types: [.int4], table: nil)]
            ]) { first, _ in first }, keys: [1: ["id"], 2: ["id"]])
        var (net, record) = (NetChanges(limit: 10), Self.record(.insert, ["1"]))
        record.relation = 2
        // The key of the small table is the one too many.
        net.add([Self.record(.insert, (1...10).map(String.init)), record], layout)
        net.add([Self.record(.insert, ["11"]), Self.record(.insert, ["12"])], layout)
        #expect(
            net.changes() == [
                Self.name: TableChanges(gap: .overflow), small: TableChanges(inserted: [.integer(1)]),
            ])
    }

    @Test func tablesThatTheModelDoesNotKnowAreLeftOut() {
        var net = NetChanges()
        var record = Self.record(.insert, ["1"])
        record.relation = 2
        net.add([record], SimulatedTable.layout)
        #expect(net.changes().isEmpty)
    }

    @Test func aRowOfAnInheritingTableIsOneOfItsParentsToo() {
        let parent = QualifiedName(schema: "public", name: "parent")
        let layout = ChangeLayout(
            targets: [
                1: [
                    ChangeLayout.Target(name: Self.name, key: ["id", "part"], types: [.int4, .text], table: nil),
                    ChangeLayout.Target(name: parent, key: ["id"], types: [.int4], table: .integer(1)),
                ]
            ], keys: [1: ["part", "id"]])
        var net = NetChanges()
        net.add([Self.record(.insert, ["x", "7", "y", "8"])], layout)
        #expect(
            net.changes()[Self.name]?.inserted
                == [ObjectKey([.integer(7), .string("x")]), ObjectKey([.integer(8), .string("y")])])
        #expect(
            net.changes()[parent]?.inserted
                == [ObjectKey([.integer(7), .integer(1)]), ObjectKey([.integer(8), .integer(1)])])
    }

    @Test(arguments: 0..<40)
    func addUpToTheDifference(seed: Int) {
        var random = Generator(state: UInt64(seed))
        var table = SimulatedTable()
        var (number, merged) = (0, TableChanges())
        let start = table.rows
        var ever: [Int: Set<String>] = [:]
        for _ in 0..<100 {
            let before = table.rows
            table.forgetColumns()
            var net = NetChanges()
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                // Two transactions at once, which cannot change the same rows.
                var first = table.transaction(number + 1, keys: [1, 3, 5, 7], using: &random)
                var second = table.transaction(number + 2, keys: [2, 4, 6], using: &random)
                number += 2
                while !first.isEmpty || !second.isEmpty {
                    let takesFirst = second.isEmpty || !first.isEmpty && Bool.random(using: &random)
                    let record = takesFirst ? first.removeFirst() : second.removeFirst()
                    net.add([record], SimulatedTable.layout)
                }
            }
            let uncertain = net.sum().uncertain.mapValues { keys in
                Set(keys.filter { key in table.rows.keys.contains { .integer(Int64($0)) == key } })
            }
            let changes = net.changes(present: uncertain)[Self.name] ?? TableChanges()
            for (key, columns) in table.set { ever[key, default: []].formUnion(columns) }
            let problem = changes.problem(from: before, to: table.rows, set: table.set)
            #expect(problem == nil, "seed \(seed): \(before.keys.sorted()) to \(table.rows.keys.sorted())")
            merged.merge(changes)
            let sum = merged.problem(from: start, to: table.rows, set: ever)
            #expect(sum == nil, "merged, seed \(seed)")
        }
    }
}
