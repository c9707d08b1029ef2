import Kindred
import KindredDiagram
import KindredTesting
import Testing

/// Diagrams of random tables with hostile names, compared with what the server says of its constraints.
@Suite(.database) struct DiagramOracleTests {
    /// Makes random tables in the test's database.
    private func make(_ seed: UInt64, count: Int = 24) async throws -> (RandomTables, Database) {
        let tables = try RandomTables(seed: seed, count: count)
        let database = try await TestDatabase.current.connect()
        try await database.client.runScript(tables.sql)
        return (tables, database)
    }

    /// The number of tables, and each foreign key as the table that holds it and its name, by the catalog alone.
    private func catalog(_ database: Database) async throws -> (tables: Int, keys: [String: Int]) {
        let tables =
            try await database.client.query(
                """
                SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
                WHERE relkind IN ('r', 'p', 'v', 'm') AND nspname !~ '^pg_' AND nspname <> 'information_schema'
                """
            ).map { try $0.decode(0, as: Int.self) ?? 0 }.first ?? 0
        // Keys that compare the same columns are one relationship, which has the name of one of them.
        let rows = try await database.client.query(
            """
            SELECT nspname || '.' || relname || ' ' || confrelid::bigint FROM pg_constraint
            JOIN pg_class ON pg_class.oid = conrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
            WHERE contype = 'f' GROUP BY nspname, relname, conrelid, confrelid, conkey, confkey
            """)
        var keys: [String: Int] = [:]
        for row in rows { keys[try row.decode(0, as: String.self) ?? "", default: 0] += 1 }
        return (tables, keys)
    }

    @Test(arguments: 1...12 as ClosedRange<UInt64>) func everyEntityAndEveryKeyStandsThereOnce(seed: UInt64)
        async throws
    {
        let (tables, database) = try await make(seed)
        let (count, keys) = try await catalog(database)
        let schema = try await SchemaReader.read(from: database.client)
        var options = Diagram.Options()
        options.showsHelpers = true
        let full = try Diagram(of: schema, options: options)
        #expect(full.nodes.count == count)
        var found: [String: Int] = [:]
        for edge in full.edges {
            let target = schema[edge.from.entity]?.oid ?? 0
            found["\(edge.to.entity) \(target)", default: 0] += 1
        }
        #expect(found == keys, "seed \(seed)")
        let joins = full.nodes.flatMap(\.joins)
        #expect(joins.count == tables.helpers, "seed \(seed)")

        options.showsHelpers = false
        let folded = try Diagram(of: schema, options: options)
        #expect(folded.nodes.count == count - tables.foldedHelpers, "seed \(seed)")
        #expect(folded.edges.count == keys.values.reduce(0, +) - tables.foldedHelpers, "seed \(seed)")
        #expect(folded.edges.count { $0.helper != nil } == tables.foldedHelpers, "seed \(seed)")
    }

    @Test(arguments: 21...28 as ClosedRange<UInt64>) func everyLanguageHoldsWhatTheDiagramHolds(seed: UInt64)
        async throws
    {
        let (_, database) = try await make(seed)
        let schema = try await SchemaReader.read(from: database.client)
        for notation in Diagram.Notation.allCases {
            for detail in Diagram.Detail.allCases {
                var options = Diagram.Options()
                options.notation = notation
                options.detail = detail
                let diagram = try Diagram(of: schema, options: options)
                let counts = Array(DiagramReading(diagram) { $0.description }.lines.values).sorted()
                let dot = DiagramReading(dot: diagram.dot())
                let mermaid = DiagramReading(mermaid: diagram.mermaid())
                let dbml = DiagramReading(dbml: diagram.dbml())
                let json = try DiagramReading(json: diagram.json())
                for (language, reading) in [("DOT", dot), ("Mermaid", mermaid), ("DBML", dbml), ("JSON", json)] {
                    #expect(reading.entities.count == diagram.nodes.count, "\(language), seed \(seed)")
                    #expect(reading.entities.values.allSatisfy { $0 == 1 }, "\(language), seed \(seed)")
                    #expect(reading.lines.values.sorted() == counts, "\(language), seed \(seed)")
                    #expect(reading.lines.values.reduce(0, +) == diagram.edges.count, "\(language), seed \(seed)")
                }
                #expect(diagram.dot() == (try Diagram(of: schema, options: options)).dot())
            }
        }
    }

    @Test(
        .enabled("Graphviz is installed") { await Graphviz().isInstalled() }, arguments: 31...36 as ClosedRange<UInt64>)
    func graphvizDrawsEveryEntityAndLine(seed: UInt64) async throws {
        let (_, database) = try await make(seed)
        let schema = try await SchemaReader.read(from: database.client)
        for notation in Diagram.Notation.allCases {
            for detail in [Diagram.Detail.columns, .keys, .names] {
                var options = Diagram.Options()
                options.notation = notation
                options.detail = detail
                let diagram = try Diagram(of: schema, options: options)
                let picture = String(decoding: try await Graphviz().draw(diagram.dot(), as: .svg), as: UTF8.self)
                #expect(picture.ranges(of: "class=\"node\"").count == diagram.nodes.count, "seed \(seed)")
                let lines = picture.ranges(of: "class=\"edge\"").count
                #expect(lines == diagram.edges.count, "seed \(seed), \(detail)")
                #expect(!picture.contains("<script") && !picture.contains("\u{1B}"), "seed \(seed)")
            }
        }
    }

    @Test(.enabled("Graphviz is installed") { await Graphviz().isInstalled() })
    func hostileNamesOnASheetAreText() async throws {
        let tables = try RandomTables(seed: 401, count: 130, schemas: 5)
        let database = try await TestDatabase.current.connect()
        try await database.client.runScript(tables.sql)
        let diagram = try Diagram(of: try await SchemaReader.read(from: database.client))
        #expect(diagram.isCut)
        for detail in [Diagram.Detail.names, .keys] {
            var options = Diagram.Options()
            options.detail = detail
            let sheet = try Diagram(of: try await SchemaReader.read(from: database.client), options: options)
            let picture = String(decoding: try await Graphviz().draw(sheet.dot(), as: .svg), as: UTF8.self)
            #expect(picture.ranges(of: "class=\"node\"").count == diagram.nodes.count, "\(detail)")
            #expect(!picture.contains("<script") && !picture.contains("\u{1B}") && !picture.contains("<b>"))
        }
    }

    @Test(.enabled("Graphviz is installed") { await Graphviz().isInstalled() })
    func manyTablesAreNamesInGroupsAndAreDrawn() async throws {
        let tables = try RandomTables(seed: 400, count: 350, schemas: 3, isHostile: false)
        let database = try await TestDatabase.current.connect()
        try await database.client.runScript(tables.sql)
        let schema = try await SchemaReader.read(from: database.client)
        let diagram = try Diagram(of: schema)
        #expect(diagram.detail == .names && diagram.groups.contains { !$0.groups.isEmpty })
        #expect(Set(diagram.groups.flatMap(\.names)) == Set(diagram.nodes.map(\.entity)))
        let picture = String(decoding: try await Graphviz().draw(diagram.dot(), as: .svg), as: UTF8.self)
        // Each entity is drawn, and each line is drawn or said.
        let sheet = SheetReading(diagram.dot())
        #expect(!diagram.hubs.isEmpty && sheet.lineCount == diagram.edges.count)
        #expect(picture.ranges(of: "class=\"node\"").count == diagram.nodes.count)
        #expect(picture.ranges(of: "class=\"edge\"").count == sheet.drawn.count && !sheet.drawn.isEmpty)
        let proportion = try #require(SheetReading.proportion(ofSVG: picture))
        #expect((0.5...2).contains(proportion), "\(proportion)")
    }
}

extension Diagram.Group {
    /// The entities of the group and of the groups within it.
    fileprivate var names: [QualifiedName] { members + groups.flatMap(\.names) }
}
