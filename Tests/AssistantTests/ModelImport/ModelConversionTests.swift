import KindredModelImport
import KindredTesting
import Testing

/// The values of a column in the next version of a model.
@Suite struct ModelConversionTests {
    @Test(.database) func anAttributeThatIsDerivedNoMoreKeepsItsValues() async throws {
        func model(_ type: String, _ more: String) throws -> CoreDataModel {
            try ModelFixture.model(
                xml: """
                    <entity name="E"><attribute name="a" attributeType="\(type)" optional="YES"/>
                    <attribute name="copy" attributeType="Integer 16" optional="YES" \(more)/></entity>
                    """)
        }
        let (old, new) = (
            try model("Integer 16", "derived='YES' derivationExpression='a'"), try model("Integer 64", "")
        )
        try await withClient { client in
            try await ModelImport(old).apply(to: client)
            try await client.query("INSERT INTO \"E\" (a) VALUES (7)")
            try await ModelMigration(from: old, to: new).apply(to: client)
            try await client.query("UPDATE \"E\" SET a = 8")
            let row = try #require(try await client.query("SELECT copy FROM \"E\"").first)
            #expect(try row.decode(0, as: Int.self) == 7)
        }
    }

    private func attribute(_ more: String) throws -> CoreDataModel {
        try ModelFixture.model(xml: "<entity name='E'><attribute name='x' \(more)/></entity>")
    }

    /// The values of the one column, in their order.
    private func values(_ client: PostgresClient) async throws -> [String?] {
        try await client.query("SELECT x::text FROM \"E\" ORDER BY id").map { try $0.decode(0, as: String.self) }
    }

    @Test(.database) func aDefaultTakesThePlaceOfNoValueWhereOneIsRequired() async throws {
        let old = try attribute("attributeType='Integer 16' optional='YES' minValueString='10'")
        let new = try attribute("attributeType='Integer 32' defaultValueString='5'")
        try await withClient { client in
            try await ModelImport(old).apply(to: client)
            try await client.query("INSERT INTO \"E\" (x) VALUES (NULL), (12)")
            try await ModelMigration(from: old, to: new).apply(to: client)
            #expect(try await values(client) == ["5", "12"])
        }
    }

    @Test(.database) func aConversionThatChangesValuesWaitsForDropsToBeAllowed() async throws {
        let old = try attribute("attributeType='Double' optional='YES'")
        let exact = try attribute("attributeType='Decimal' optional='YES'")
        let whole = try attribute("attributeType='Integer 32' optional='YES' maxValueString='9' defaultValueString='7'")
        try await withClient { client in
            try await ModelImport(old).apply(to: client)
            try await client.query("INSERT INTO \"E\" (x) VALUES (0.30000000000000004), (1.5)")
            try await ModelMigration(from: old, to: exact).apply(to: client)
            #expect(try await values(client) == ["0.30000000000000004", "1.5"])
            let careful = try ModelMigration(from: exact, to: whole)
            #expect(careful.reports.map(\.description).first?.hasPrefix("omitted: E.x: some values of numeric") == true)
            #expect(careful.statements == [])
            try await ModelMigration(from: exact, to: whole, .init(allowsDrops: true)).apply(to: client)
            #expect(try await values(client) == ["0", "2"])
        }
    }

    @Test(.database) func booleansAndNumbersBecomeEachOther() async throws {
        try await withClient { client in
            for number in ["Integer 16", "Integer 32", "Integer 64", "Decimal", "Double", "Float"] {
                let (old, new) = (
                    try attribute("attributeType='Boolean' optional='YES'"),
                    try attribute("attributeType='\(number)' optional='YES'")
                )
                try await ModelImport(old).apply(to: client)
                try await client.query("INSERT INTO \"E\" (x) VALUES (true), (NULL), (false)")
                try await ModelMigration(from: old, to: new).apply(to: client)
                #expect(try await values(client) == ["1", nil, "0"], "\(number)")
                try await client.query("INSERT INTO \"E\" (x) VALUES (7)")
                #expect(try ModelMigration(from: new, to: old).statements == [])
                try await ModelMigration(from: new, to: old, .init(allowsDrops: true)).apply(to: client)
                #expect(try await values(client) == ["true", nil, "false", "true"], "\(number)")
                try await emptyDatabase(client)
            }
        }
    }
}
