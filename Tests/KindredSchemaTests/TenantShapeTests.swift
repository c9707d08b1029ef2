import KindredPostgres
import Testing

@testable import KindredSchema

/// Catalogs of tenants' schemas: names are marked where they are the schema's, and equal tables have an equal shape.
@Suite struct TenantShapeTests {
    @Test(arguments: [
        ("(mood = 'busy'::acme.mood)", "(mood = 'busy'::\"\0\".mood)"),
        ("(\"acme\".f(x) AND acme.g(x))", "(\"\0\".f(x) AND \"\0\".g(x))"),
        ("x OPERATOR(acme.=) y", "x OPERATOR(\"\0\".=) y"),
        ("'acme.mood'::text", "'acme.mood'::text"),
        ("'it''s acme.'::text || acme.f()", "'it''s acme.'::text || \"\0\".f()"),
        ("myacme.f() + acmes.f() + acme + \"my acme\".f()", "myacme.f() + acmes.f() + acme + \"my acme\".f()"),
        ("\"ac\"\"me\".f()", "\"ac\"\"me\".f()"),
    ])
    func theSchemaIsMarkedWhereItStandsBeforeAPoint(_ text: String, _ expected: String) {
        var catalog = Catalog()
        catalog.indexes = [.init(relation: 1, columns: [1], keyCount: 1, predicate: text)]
        #expect(catalog.marking("acme", as: "template").indexes[0].predicate == expected)
    }

    @Test func namesInQuotesAreMarked() {
        var catalog = Catalog()
        catalog.columns = [.init(relation: 1, number: 1, name: "a", typeName: "\"A \"\"b\"\".c\".mood[]")]
        #expect(catalog.marking("A \"b\".c", as: "template").columns[0].typeName == "\"\0\".mood[]")
    }

    /// Two tables, an enum and a foreign key, with OIDs from a number on, in one order or the other.
    private func catalog(_ schema: String, from first: UInt32, isReversed: Bool = false) -> Catalog {
        var catalog = Catalog()
        catalog.relations = [
            .init(oid: first, schema: schema, name: "person"), .init(oid: first + 1, schema: schema, name: "email"),
        ]
        catalog.columns = [
            .init(relation: first, number: 1, name: "id", isNotNull: true),
            .init(relation: first, number: 2, name: "mood", type: first + 5, typeName: "\(schema).mood"),
            .init(relation: first + 1, number: 1, name: "id", isNotNull: true),
            .init(relation: first + 1, number: 2, name: "person_id"),
        ]
        catalog.constraints = [
            .init(oid: first + 2, relation: first, name: "person_pkey", kind: .primaryKey, columns: [1]),
            .init(oid: first + 3, relation: first + 1, name: "email_pkey", kind: .primaryKey, columns: [1]),
            .init(
                oid: first + 4, relation: first + 1, name: "email_fk", kind: .foreignKey, columns: [2], target: first,
                targetColumns: [1]),
        ]
        catalog.types = [
            .init(oid: first + 5, schema: schema, name: "mood", kind: UInt8(ascii: "e"), array: first + 6),
            .init(oid: first + 6, schema: schema, name: "_mood", category: UInt8(ascii: "A"), element: first + 5),
        ]
        catalog.enumLabels = [
            .init(type: first + 5, position: 1, label: "calm"), .init(type: first + 5, position: 2, label: "busy"),
        ]
        guard isReversed else { return catalog }
        catalog.relations.reverse()
        catalog.columns.reverse()
        catalog.constraints.reverse()
        catalog.types.reverse()
        catalog.enumLabels.reverse()
        return catalog
    }

    private func shape(_ catalog: Catalog, _ schema: String) throws -> (catalog: Catalog, types: [UInt32]) {
        try #require(catalog.marking(schema, as: "template").shape())
    }

    @Test func equalTablesHaveOneShape() throws {
        let first = try shape(catalog("acme", from: 20_000), "acme")
        let second = try shape(catalog("beta", from: 90_000, isReversed: true), "beta")
        #expect(first.catalog == second.catalog)
        #expect(first.types == [20_006, 20_005] && second.types == [90_006, 90_005])
    }

    @Test func whateverDiffersMakesAnotherShape() throws {
        let known = try shape(catalog("acme", from: 20_000), "acme").catalog
        let changes: [(inout Catalog) -> Void] = [
            { $0.columns[1].isNotNull = true }, { $0.columns[3].type = 23 }, { $0.enumLabels[1].label = "gone" },
            { $0.constraints[2].deleteAction = UInt8(ascii: "c") }, { $0.relations[0].hasInsertTrigger = true },
            { $0.constraints.removeLast() }, { $0.columns.append(.init(relation: 90_000, number: 3, name: "new")) },
            { $0.relations[0].children = [90_001] }, { $0.comments = [.init(object: .relation(90_000), text: "x")] },
        ]
        for (number, change) in changes.enumerated() {
            var other = catalog("beta", from: 90_000)
            change(&other)
            #expect(try shape(other, "beta").catalog != known, "change \(number)")
        }
    }

    @Test func aNumberThatCouldBeAnOrdinalMakesNone() {
        #expect(catalog("acme", from: 0xF000_0000).marking("acme", as: "template").shape() == nil)
    }

    @Test func theModelNamesTablesByTheTemplateAndTheMark() throws {
        let schema = try DatabaseSchema(catalog: catalog("acme", from: 20_000).marking("acme", as: "template"))
        let person = try schema.entity(named: "person")
        #expect(person.name == QualifiedName(schema: "template", name: "person"))
        #expect(try person.name.quoted == "\"\0\".\"person\"")
        #expect(person.attributes[1].typeName == "mood" && person.attributes[1].sqlType == "\"\0\".mood")
        #expect(try QualifiedName(schema: "a\"b", name: "c").quoted == "\"a\"\"b\".\"c\"")
    }
}
