import Kindred
import KindredModelImport
import KindredTesting
import Testing

/// Relationships that are alike on both sides, or have one side only.
@Suite struct ModelEndTests {
    private func end(_ name: String, _ destination: String, _ inverse: String?, _ more: String) -> String {
        let back = inverse.map { " inverseName='\($0)' inverseEntity='\(destination)'" } ?? ""
        return "<relationship name='\(name)' destinationEntity='\(destination)'\(back) \(more)/>"
    }

    private func pair(_ left: String, _ right: String) throws -> CoreDataModel {
        try ModelFixture.model(
            xml:
                "<entity name='A'>\(end("b", "B", "a", left))</entity><entity name='B'>\(end("a", "A", "b", right))</entity>"
        )
    }

    @Test(
        .database,
        arguments: [
            ("maxCount='1'", "maxCount='1' optional='YES'", "A", 0),
            ("maxCount='1' optional='YES'", "maxCount='1'", "B", 0),
            ("maxCount='1' optional='YES' deletionRule='Cascade'", "maxCount='1' optional='YES'", "B", 0),
            ("maxCount='1' optional='YES'", "maxCount='1' optional='YES' deletionRule='Cascade'", "A", 0),
            ("maxCount='1' deletionRule='Cascade'", "maxCount='1' optional='YES'", "A", 0),
            ("maxCount='1'", "maxCount='1'", "B", 1),
        ])
    func aOneToOneKeyStandsOnTheRequiredOrTheOwnedSide(
        _ left: String, _ right: String, _ holder: String, _ reports: Int
    ) async throws {
        let model = try pair(left, right)
        #expect(try ModelImport(model).reports.filter { $0.reason.hasPrefix("it is required, but") }.count == reports)
        let database = try await importModel(model)
        try ModelExpectation(model: model).check(database.schema)
        let key = try #require(try database.schema.entity(named: holder).relationships.first)
        #expect(key.holdsForeignKey && key.kind == .oneToOne)
    }

    @Test(.database) func endsWithoutAnInverseStillLeadSomewhere() async throws {
        let model = try ModelFixture.model(
            xml: """
                <entity name="A">\(end("one", "B", nil, "maxCount='1' optional='YES'"))
                  \(end("many", "B", nil, "toMany='YES' optional='YES' deletionRule='Cascade'"))
                  \(end("wrong", "B", "nothing", "maxCount='1' optional='YES'"))
                  \(end("askew", "B", "back", "maxCount='1' optional='YES'"))</entity>
                <entity name="B">\(end("back", "B", nil, "maxCount='1' optional='YES'"))</entity>
                """)
        let reports = try ModelImport(model).reports.filter { $0.level == .changed }
        #expect(Set(reports.map(\.subject)) == ["A.one", "A.many", "A.wrong", "A.askew", "B.back"])
        let schema = try await importModel(model).schema
        let a = try schema.entity(named: "A")
        #expect(a.relationship(named: "one")?.kind == .manyToOne && a.relationship(named: "askew")?.kind == .manyToOne)
        let many = try #require(a.relationship(named: "many"))
        #expect(many.kind == .oneToMany && many.deleteRule == .cascade && many.destination.name == "B")
        #expect(try schema.entity(named: "B").relationship(named: "back")?.destination.name == "B")
    }

    @Test(.database, arguments: ModelImportOptions.Inheritance.allCases)
    func anInverseMayBelongToAnAncestor(_ inheritance: ModelImportOptions.Inheritance) async throws {
        let model = try ModelFixture.model(
            xml: """
                <entity name="A">\(end("x", "B", "y", "maxCount='1' optional='YES'"))</entity>
                <entity name="B" parentEntity="P"/>
                <entity name="P">\(end("y", "A", "x", "toMany='YES' optional='YES'"))</entity>
                """)
        let schema = try await importModel(model, ModelImportOptions(inheritance: inheritance)).schema
        let back = try #require(try schema.entity(named: "P").relationship(named: "y"))
        #expect(back.kind == .oneToMany && back.inverse == "x" && back.destination.name == "A")
        #expect(try schema.entity(named: "A").relationship(named: "x")?.destination.name == "P")
        #expect(try ModelImport(model, .init(inheritance: inheritance)).reports.contains { $0.subject == "A.x" })
    }

    @Test(.database) func aRelationshipThatIsItsOwnInverseHasTwoEnds() async throws {
        let model = try ModelFixture.model(
            xml:
                "<entity name='P'>\(end("spouse", "P", "spouse", "maxCount='1' optional='YES' deletionRule='Deny'"))</entity>"
        )
        #expect(try ModelImport(model).reports.contains { $0.subject == "P.spouse" && $0.level == .changed })
        let person = try await importModel(model).schema.entity(named: "P")
        let spouse = try #require(person.relationship(named: "spouse"))
        #expect(spouse.kind == .oneToOne && spouse.inverse == "spouse_inverse" && spouse.deleteRule == .deny)
        #expect(person.relationship(named: "spouse_inverse")?.deleteRule == .deny)
    }

    @Test(.database) func aCircleOfRequiredKeysIsCheckedAtTheEnd() async throws {
        let model = try ModelFixture.model(
            xml: """
                <entity name="A">\(end("b", "B", "as", "maxCount='1'"))\(end("bs", "B", "a", "toMany='YES' optional='YES'"))</entity>
                <entity name="B">\(end("a", "A", "bs", "maxCount='1'"))\(end("as", "A", "b", "toMany='YES' optional='YES'"))</entity>
                <entity name="C">\(end("c", "C", "cs", "maxCount='1' optional='YES'"))\(end("cs", "C", "c", "toMany='YES' optional='YES'"))</entity>
                """)
        let tables = try ModelImport(model)
        #expect(tables.reports.filter { $0.reason.contains("part of a circle") }.map(\.subject) == ["A", "B"])
        try await withClient { client in
            try await tables.apply(to: client)
            try await client.withTransaction { _ in
                try await client.query("INSERT INTO \"A\" (id, b_id) VALUES (1, 2)")
                try await client.query("INSERT INTO \"B\" (id, a_id) VALUES (2, 1)")
            }
            await #expect(throws: PostgresError.self) { try await client.query("INSERT INTO \"A\" (b_id) VALUES (7)") }
        }
    }

    @Test(.database) func numbersOfObjectsAreAnnotated() async throws {
        let model = try ModelFixture.model(
            xml: """
                <entity name="A">\(end("some", "B", "a1", "toMany='YES'"))
                  \(end("few", "B", "a2", "toMany='YES' optional='YES' minCount='2' maxCount='4'"))
                  \(end("any", "B", "a3", "toMany='YES' optional='YES' minCount='1' maxCount='0'"))
                  \(end("none", "B", "a4", "toMany='YES' optional='YES' minCount='5' maxCount='3'"))</entity>
                <entity name="B">\(["some", "few", "any", "none"].enumerated().map {
                    end("a\($0 + 1)", "A", $1, "maxCount='1' optional='YES'")
                }.joined())</entity>
                """)
        let a = try await importModel(model).schema.entity(named: "A")
        func counts(_ name: String) -> [Int?] {
            [a.relationship(named: name)?.minimumCount, a.relationship(named: name)?.maximumCount]
        }
        #expect(counts("some") == [1, nil] && counts("few") == [2, 4] && counts("any") == [nil, nil])
        #expect(counts("none") == [5, nil])
        let reports = try ModelImport(model).reports.map { "\($0.level.rawValue) \($0.subject)" }
        #expect(reports.contains("changed A.few") && reports.contains("omitted A.none"))
    }
}
