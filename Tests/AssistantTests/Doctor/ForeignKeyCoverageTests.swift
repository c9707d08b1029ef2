import KindredSchema
import Testing

@testable import KindredDoctor

/// Which indexes find the rows of a foreign key: by catalog rows alone, without a server.
@Suite struct ForeignKeyCoverageTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let key: [String]
        let index: [String]
        var include: [String] = []
        var isCovered: Bool
        var change: @Sendable (inout DoctorCatalog.Index) -> Void = { _ in }

        init(
            _ name: String, key: [String] = ["a"], index: [String], include: [String] = [], _ isCovered: Bool,
            _ change: @escaping @Sendable (inout DoctorCatalog.Index) -> Void = { _ in }
        ) {
            testDescription = name
            self.key = key
            self.index = index
            self.include = include
            self.isCovered = isCovered
            self.change = change
        }
    }

    static let cases: [Case] = [
        Case("the column", index: ["a"], true),
        Case("the column first", index: ["a", "b"], true),
        Case("the column second", index: ["b", "a"], false),
        Case("both columns", key: ["a", "b"], index: ["a", "b"], true),
        Case("both columns in another order", key: ["a", "b"], index: ["b", "a"], true),
        Case("both columns first, in another order", key: ["a", "b"], index: ["b", "a", "c"], true),
        Case("another column between them", key: ["a", "b"], index: ["a", "c", "b"], false),
        Case("another column before them", key: ["a", "b"], index: ["c", "a", "b"], false),
        Case("the first column alone", key: ["a", "b"], index: ["a"], false),
        Case("the second column alone", key: ["a", "b"], index: ["b"], false),
        Case("three columns in any order", key: ["a", "b", "c"], index: ["c", "a", "b"], true),
        Case("INCLUDE", index: ["b"], include: ["a"], false),
        Case("one column by INCLUDE", key: ["a", "b"], index: ["a"], include: ["b"], false),
        Case("INCLUDE of something else", index: ["a"], include: ["b"], true),
        Case("a unique index", index: ["a"], true) { $0.isUnique = true },
        Case("a unique index on one of two columns", key: ["a", "b"], index: ["b"], true) { $0.isUnique = true },
        Case("a unique index with INCLUDE on one of two", key: ["a", "b"], index: ["b"], include: ["c"], true) {
            $0.isUnique = true
        },
        Case("a unique index with another column", key: ["a", "b"], index: ["b", "c"], false) { $0.isUnique = true },
        Case("a primary key that begins with it", index: ["a", "b"], true) {
            $0.isUnique = true
            $0.isPrimary = true
        },
        Case("a primary key that ends with it", index: ["b", "a"], false) {
            $0.isUnique = true
            $0.isPrimary = true
        },
        Case("an expression", index: ["lower(a)"], false),
        Case("an expression behind it", index: ["a", "lower(b)"], true),
        Case("an expression between", key: ["a", "b"], index: ["a", "lower(b)", "b"], false),
        Case("an invalid index", index: ["a"], false) { $0.isValid = false },
        Case("an index that is not ready", index: ["a"], false) { $0.isReady = false },
        Case("an index that is being dropped", index: ["a"], false) { $0.isLive = false },
        Case("a hash index", index: ["a"], true) { $0.method = "hash" },
        Case("a hash index of one of two columns", key: ["a", "b"], index: ["a"], false) { $0.method = "hash" },
        Case("a GiST index", index: ["a", "b"], true) { $0.method = "gist" },
        Case("a BRIN index", index: ["a"], false) { $0.method = "brin" },
        Case("a GIN index", index: ["a"], false) { $0.method = "gin" },
        Case("an operator class without equality", index: ["a"], false) { $0.classes = [DoctorWorld.other] },
        Case("another operator class behind it", index: ["a", "b"], true) {
            $0.classes = [DoctorWorld.searching, DoctorWorld.other]
        },
        Case("another collation", index: ["a"], false) { $0.collations = [950] },
        Case("descending", index: ["a"], true) { $0.options = [3] },
        Case("partial by the column", index: ["a"], true) { $0.predicate = "(a IS NOT NULL)" },
        Case("partial by another column", index: ["a"], false) { $0.predicate = "(b IS NOT NULL)" },
        Case("partial by both columns", key: ["a", "b"], index: ["b", "a"], true) {
            $0.predicate = "((a IS NOT NULL) AND (b IS NOT NULL))"
        },
        Case("partial by one of two columns", key: ["a", "b"], index: ["a", "b"], true) {
            $0.predicate = "(b IS NOT NULL)"
        },
        Case("partial by a value", index: ["a"], false) { $0.predicate = "(a > 0)" },
        Case("partial by the column and more", index: ["a"], false) { $0.predicate = "((a IS NOT NULL) AND (b > 0))" },
        Case("partial by the column or more", index: ["a"], true) { $0.predicate = "((a IS NOT NULL) OR (b > 0))" },
        Case("partial by the opposite", index: ["a"], false) { $0.predicate = "(a IS NULL)" },
        Case("partial and unique, not implied", index: ["a"], false) {
            $0.isUnique = true
            $0.predicate = "(d = 1)"
        },
    ]

    @Test(arguments: cases) func anIndexDoesOrDoesNot(_ example: Case) {
        var world = DoctorWorld()
        world.addKey(example.key, to: ["tenant", "code", "id"].suffix(example.key.count).map { $0 })
        // A key to (code, id) would be decided by id alone; here no column of the parent is unique.
        world.facts.indexes.removeAll()
        world.addIndex(example.index, include: example.include, example.change)
        #expect(world.unindexed.isEmpty == example.isCovered)
    }

    @Test func withoutAnyIndexEachKeyIsFound() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"])
        world.addKey(["b", "c"], to: ["tenant", "id"])
        #expect(world.unindexed == ["key_a", "key_b_c"])
        world.addIndex(["a"])
        #expect(world.unindexed == ["key_b_c"])
    }

    /// (tenant, id) where id alone is the primary key: the column that refers to it leads to the same rows.
    @Test func columnsThatReferToAUniqueKeyAreEnough() {
        var world = DoctorWorld()
        world.addKey(["a", "b"], to: ["tenant", "id"])
        world.addIndex(["a"])
        #expect(world.unindexed == ["key_a_b"])
        world.addIndex(["b", "d"])
        #expect(world.unindexed.isEmpty)
    }

    @Test func aPartialUniqueKeyOfTheParentDecidesNothing() {
        var world = DoctorWorld()
        world.facts.indexes.removeAll()
        world.addIndex(on: DoctorWorld.parent, ["tenant", "id"]) { $0.isUnique = true }
        world.addIndex(on: DoctorWorld.parent, ["id"]) {
            $0.isUnique = true
            $0.predicate = "(code > 0)"
        }
        world.addKey(["a", "b"], to: ["tenant", "id"])
        world.addIndex(["b"])
        #expect(world.unindexed == ["key_a_b"])
    }

    @Test func twoIndexesTogetherAreNotEnough() {
        var world = DoctorWorld()
        world.facts.indexes.removeAll()
        world.addKey(["a", "b"], to: ["tenant", "id"])
        world.addIndex(["a"])
        world.addIndex(["b"])
        #expect(world.unindexed == ["key_a_b"])
    }

    @Test func aPeriodIsNoPartOfWhatIsLookedFor() {
        var world = DoctorWorld()
        world.facts.indexes.removeAll()
        world.addKey(["a", "b"], to: ["tenant", "id"]) { $0.hasPeriod = true }
        world.addIndex(["b"])
        #expect(world.unindexed == ["key_a_b"])
        world.addIndex(["a", "c"])
        #expect(world.unindexed.isEmpty)
    }

    @Test func keysThatRepeatEachOtherAreFoundEachAndRepairedOnce() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"])
        world.addKey(["a"], to: ["id"]) { $0.name = "again" }
        let findings = world.findings(of: "K101")
        #expect(findings.map(\.object) == ["again", "key_a"])
        #expect(findings[0].repair == findings[1].repair && findings[0].repair.count == 1)
    }

    @Test func partsOfAKeyOfAPartitionedTableAreNotCountedAgain() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"])
        world.addKey(["b"], to: ["id"]) { $0.parent = 12 }
        #expect(world.unindexed == ["key_a"])
    }

    /// Such as a table of an extension, which is not among the relations.
    @Test func aKeyToAnUnknownTableNeedsAnIndex() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"]) { $0.target = 99 }
        #expect(world.unindexed == ["key_a"])
        world.addIndex(["a"])
        #expect(world.unindexed.isEmpty)
    }

    // MARK: Partitions

    /// A partitioned table with a partition whose columns have other numbers, and a partition that is partitioned
    /// again.
    private func partitioned() -> DoctorWorld {
        var world = DoctorWorld()
        world.addTable(1, "whole", ["id", "a"], kind: "p")
        world.addTable(2, "part_1", ["x", "a", "id"], parent: 1)
        world.addTable(3, "part_2", ["id", "a"], kind: "p", parent: 1)
        world.addTable(4, "part_2_1", ["a", "id"], parent: 3)
        world.addTable(5, "part_2_2", ["id", "a"], parent: 3)
        world.addTable(6, "part_3", ["id", "a"], kind: "f", parent: 1)
        world.addKey(["a"], of: 1, to: ["id"]) { $0.name = "whole_key" }
        return world
    }

    @Test func everyPartitionNeedsAnIndexThoseOfOtherServersNot() throws {
        var world = partitioned()
        var finding = try #require(world.findings(of: "K101").first)
        #expect(finding.repair == [#"CREATE INDEX IF NOT EXISTS "whole_a_idx" ON "public"."whole" ("a")"#])
        world.addIndex(on: 1, ["a"]) {
            $0.isPartitioned = true; $0.isValid = false
        }
        world.addIndex(on: 2, ["a"])
        world.addIndex(on: 4, ["a", "id"])
        finding = try #require(world.findings(of: "K101").first)
        #expect(finding.object == "whole_key" && finding.entity == "public.whole")
        #expect(
            finding.repair == [
                #"CREATE INDEX CONCURRENTLY IF NOT EXISTS "part_2_2_a_idx" ON "public"."part_2_2" ("a")"#
            ])
        world.addIndex(on: 5, ["id", "a"])
        #expect(world.unindexed == ["whole_key"])
        world.addIndex(on: 5, ["a"])
        #expect(world.unindexed.isEmpty)
    }

    @Test func withoutPartitionsTheIndexOfTheWholeCounts() {
        var world = DoctorWorld()
        world.addTable(1, "whole", ["id", "a"], kind: "p")
        world.addKey(["a"], of: 1, to: ["id"])
        #expect(world.unindexed == ["key_a"])
        world.addIndex(on: 1, ["a"]) { $0.isPartitioned = true }
        #expect(world.unindexed.isEmpty)
    }

    @Test func aKeyOfASinglePartitionNeedsThatPartitionsIndex() {
        var world = partitioned()
        world.facts.foreignKeys.removeAll()
        world.addKey(["a"], of: 3, to: ["id"])
        world.addIndex(on: 4, ["a"])
        #expect(world.unindexed == ["key_a"])
        world.addIndex(on: 5, ["a"])
        #expect(world.unindexed.isEmpty)
    }

    // MARK: Repairs

    @Test func oneIndexIsProposedForKeysThatBeginAlike() {
        var world = DoctorWorld()
        world.facts.indexes.removeAll()
        world.addKey(["a", "b"], to: ["tenant", "id"])
        world.addKey(["b"], to: ["id"])
        world.addKey(["c"], to: ["id"])
        let repairs = world.findings(of: "K101").map(\.repair)
        #expect(repairs[0] == repairs[1])
        #expect(
            repairs[0] == [#"CREATE INDEX CONCURRENTLY IF NOT EXISTS "child_b_a_idx" ON "public"."child" ("b", "a")"#])
        #expect(repairs[2] == [#"CREATE INDEX CONCURRENTLY IF NOT EXISTS "child_c_idx" ON "public"."child" ("c")"#])
    }

    @Test func aNameThatIsTakenIsNotProposed() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"])
        world.addIndex(["b"]) { $0.name = "child_a_idx" }
        #expect(world.findings(of: "K101").first?.repair.first?.contains("\"child_a_idx1\"") == true)
    }

    @Test func smallTablesAreLeftOutUnlessAskedFor() {
        var world = DoctorWorld()
        world.addKey(["a"], to: ["id"])
        world.addTable(7, "little", ["id", "a"], rows: 999)
        world.addKey(["a"], of: 7, to: ["id"])
        let report = Doctor.report(on: world.examination, DoctorOptions())
        #expect(report.findings.filter { $0.rule == "K101" }.map(\.entity) == ["public.child"])
        #expect(report.smallTableCount == 1)
        #expect(world.findings(of: "K101").count == 2)
    }

    @Test func whatCostsMostIsFirst() {
        var world = DoctorWorld()
        world.addTable(7, "large", ["id", "a"], rows: 1_000_000)
        world.addTable(8, "middle", ["id", "a"], rows: 100_000)
        for table: UInt32 in [DoctorWorld.child, 8, 7] { world.addKey(["a"], of: table, to: ["id"]) }
        let ranked = Doctor.report(on: world.examination, DoctorOptions()).ranked.filter { $0.rule == "K101" }
        #expect(ranked.map(\.entity) == ["public.large", "public.middle", "public.child"])
    }
}
