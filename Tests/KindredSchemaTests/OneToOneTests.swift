import KindredSchema
import Testing

@Suite struct OneToOneTests {
    /// The unique columns of the table that refers to person by `person_id`, or to region by `country_id` and `code`.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let isOneToOne: Bool
        let prove: @Sendable (inout TestCatalog) -> Void

        init(_ description: String, _ isOneToOne: Bool, _ prove: @escaping @Sendable (inout TestCatalog) -> Void) {
            testDescription = description
            self.isOneToOne = isOneToOne
            self.prove = prove
        }
    }

    private func catalog(_ prove: (inout TestCatalog) -> Void) -> TestCatalog {
        .make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("region", ["country_id", "code"], primaryKey: ["country_id", "code"])
            $0.table("badge", ["id", "person_id", "colour"])
            $0.table("site", ["id", "country_id", "code", "colour"])
            $0.foreignKey("badge_person_id_fkey", of: "badge", ["person_id"], to: "person")
            $0.foreignKey(
                "site_region_fkey", of: "site", ["country_id", "code"], to: "region", ["country_id", "code"])
            prove(&$0)
        }
    }

    @Test(arguments: [
        Case("nothing", false) { _ in },
        Case("primary key", true) { $0.constraint("k", of: "badge", .primaryKey, ["person_id"]) },
        Case("unique constraint", true) { $0.unique("k", of: "badge", ["person_id"]) },
        Case("unique index", true) { $0.index(of: "badge", ["person_id"]) },
        Case("unique index with an INCLUDE column", true) {
            $0.index(of: "badge", ["person_id", "colour"]) { $0.keyCount = 1 }
        },
        Case("unique over more columns", false) { $0.unique("k", of: "badge", ["person_id", "colour"]) },
        Case("unique over another column", false) { $0.unique("k", of: "badge", ["id"]) },
        Case("index that is not unique", false) { $0.index(of: "badge", ["person_id"]) { $0.isUnique = false } },
        Case("invalid index", false) { $0.index(of: "badge", ["person_id"]) { $0.isValid = false } },
        Case("index over an expression", false) {
            $0.index(of: "badge", ["person_id"]) { $0.hasExpressions = true }
        },
        Case("index with a place for an expression", false) {
            $0.index(of: "badge", ["person_id", "nothing"]) { $0.hasExpressions = false }
        },
        Case("partial by its own column", true) {
            $0.index(of: "badge", ["person_id"]) { $0.predicate = "(person_id IS NOT NULL)" }
        },
        Case("partial by another column", false) {
            $0.index(of: "badge", ["person_id"]) { $0.predicate = "(colour IS NOT NULL)" }
        },
        Case("partial by a condition", false) {
            $0.index(of: "badge", ["person_id"]) { $0.predicate = "(colour = 'red'::text)" }
        },
        Case("partial by its own column and a condition", false) {
            $0.index(of: "badge", ["person_id"]) { $0.predicate = "((person_id IS NOT NULL) AND (person_id > 5))" }
        },
        Case("unique without overlaps", false) {
            $0.constraint("k", of: "badge", .unique, ["person_id"]) { $0.hasPeriod = true }
        },
    ])
    func uniquenessOfOneColumnDecides(_ proof: Case) throws {
        let schema = try catalog(proof.prove).schema()
        let toOne = try #require(try schema.relationship("badge", "person"))
        let inverse = try #require(try schema.relationship("person", toOne.inverse))
        #expect(toOne.kind == (proof.isOneToOne ? .oneToOne : .manyToOne))
        #expect(inverse.kind == (proof.isOneToOne ? .oneToOne : .oneToMany))
        #expect(inverse.name == (proof.isOneToOne ? "badge" : "badgeSet"))
        #expect(!toOne.isToMany)
        #expect(inverse.isToMany == !proof.isOneToOne)
    }

    @Test(arguments: [
        Case("the same columns", true) { $0.unique("k", of: "site", ["country_id", "code"]) },
        Case("another order", true) { $0.unique("k", of: "site", ["code", "country_id"]) },
        Case("the primary key in another order", true) {
            $0.constraint("k", of: "site", .primaryKey, ["code", "country_id"])
        },
        Case("a part of the columns", true) { $0.unique("k", of: "site", ["code"]) },
        Case("one column too many", false) { $0.unique("k", of: "site", ["code", "country_id", "colour"]) },
        Case("a part and another column", false) { $0.unique("k", of: "site", ["code", "colour"]) },
        Case("partial by all of its columns", true) {
            $0.index(of: "site", ["country_id", "code"]) {
                $0.predicate = "((country_id IS NOT NULL) AND (code IS NOT NULL))"
            }
        },
        Case("partial by one of its columns", true) {
            $0.index(of: "site", ["country_id", "code"]) { $0.predicate = "(code IS NOT NULL)" }
        },
    ])
    func uniquenessWithinCompositeColumnsDecides(_ proof: Case) throws {
        let schema = try catalog(proof.prove).schema()
        let toOne = try #require(try schema.relationship("site", "region"))
        #expect(toOne.kind == (proof.isOneToOne ? .oneToOne : .manyToOne))
        #expect(toOne.columns == ["country_id", "code"])
        #expect(toOne.destinationColumns == ["country_id", "code"])
    }

    @Test func sharedPrimaryKeyCounts() throws {
        let schema = try TestCatalog.make {
            $0.table("person", ["id"], primaryKey: ["id"])
            $0.table("employee", ["id", "salary"], primaryKey: ["id"])
            $0.foreignKey("employee_id_fkey", of: "employee", ["id"], to: "person")
        }.schema()
        let expected = "person employee_id_fkey public_employee_employee_id_fkey: oneToOne public.person employee"
        #expect(try schema.summary("employee") == [expected])
        #expect(try schema.relationship("person", "employee")?.kind == .oneToOne)
        #expect(try schema.relationship("employee", "person")?.clearedColumns == [])
    }

    @Test(arguments: [
        ("(uid IS NOT NULL)", ["uid"]),
        ("((a IS NOT NULL) AND (b IS NOT NULL))", ["a", "b"]),
        ("(((a IS NOT NULL) AND (b IS NOT NULL)) AND (c IS NOT NULL))", ["a", "b", "c"]),
        (#"("User Id" IS NOT NULL)"#, ["User Id"]),
        (#"("a""b" IS NOT NULL)"#, [#"a"b"#]),
        (#"("NOT" IS NOT NULL)"#, ["NOT"]),
    ])
    func notNullPredicatesAreRead(_ predicate: String, _ columns: [String]) throws {
        let catalog = TestCatalog.make {
            $0.table("t", ["id"], primaryKey: ["id"])
            $0.table("r", columns)
            $0.foreignKey("r_fkey", of: "r", [columns[0]], to: "t")
            // Unique over the key's column alone, and partial by all columns: one-to-one if that is one column.
            $0.index(of: "r", [columns[0]]) { $0.predicate = predicate }
        }
        let relationship = try #require(try catalog.schema().relationship("r", "t"))
        #expect(relationship.kind == (columns.count == 1 ? .oneToOne : .manyToOne))
    }

    @Test(arguments: [
        "", "()", "a", "(a IS NULL)", "(NOT (a IS NOT NULL))", "((a IS NOT NULL) OR (a IS NOT NULL))",
        "((a)::text IS NOT NULL)", "(f(a) IS NOT NULL)", "(a IS NOT NULL) AND", #"("a IS NOT NULL)"#,
        "(a IS NOT NULL b)",
        "((a).b IS NOT NULL)", "(ROW(a, a) IS NOT NULL)", "(a IS NOT DISTINCT FROM a)", "a IS NOT NULL AND a",
    ])
    func otherPredicatesProveNothing(_ predicate: String) throws {
        let catalog = TestCatalog.make {
            $0.table("t", ["id"], primaryKey: ["id"])
            $0.table("r", ["a"])
            $0.foreignKey("r_fkey", of: "r", ["a"], to: "t")
            $0.index(of: "r", ["a"]) { $0.predicate = predicate }
        }
        #expect(try catalog.schema().relationship("r", "t")?.kind == .manyToOne)
    }
}
