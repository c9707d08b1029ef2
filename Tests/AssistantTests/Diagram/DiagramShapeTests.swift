import KindredDiagram
import KindredPostgres
import Testing

/// What a diagram shows of a model, without a server.
@Suite struct DiagramShapeTests {
    private func name(_ text: String) -> QualifiedName {
        let parts = text.split(separator: ".").map(String.init)
        return parts.count == 2
            ? QualifiedName(schema: parts[0], name: parts[1]) : QualifiedName(schema: "public", name: text)
    }

    /// A schema of entities with an `id` and a `note`, and one-to-many relationships `from>to` between them.
    private func schema(_ names: [String], _ pairs: [String] = [], groups: [String: String] = [:]) -> DatabaseSchema {
        var relationships: [QualifiedName: [Relationship]] = [:]
        for pair in pairs {
            let ends = pair.split(separator: ">").map { name(String($0)) }
            let (one, many) = ("\(ends[1].name)Set", ends[0].name == ends[1].name ? "parent" : ends[0].name)
            relationships[ends[0], default: []].append(
                Relationship(
                    name: one, aliases: [], kind: .oneToMany, isOptional: true, source: ends[0], destination: ends[1],
                    inverse: many, deleteRule: .noAction, foreignKey: "k", columns: ["id"],
                    destinationColumns: ["ref"], holdsForeignKey: false))
            relationships[ends[1], default: []].append(
                Relationship(
                    name: many, aliases: [], kind: .manyToOne, isOptional: false, source: ends[1],
                    destination: ends[0], inverse: one, deleteRule: .nullify, foreignKey: "k", columns: ["ref"],
                    destinationColumns: ["id"], holdsForeignKey: true))
        }
        let entities = names.map(name).sorted().map { entity in
            Entity(
                name: entity, kind: .table, oid: 1,
                attributes: [
                    Attribute(name: "id", number: 1, typeName: "integer", type: .int4, isNotNull: true),
                    Attribute(name: "ref", number: 2, typeName: "integer", type: .int4),
                    Attribute(name: "note", number: 3, typeName: "text", type: .text),
                ],
                primaryKey: ["id"],
                relationships: (relationships[entity] ?? []).sorted { $0.name < $1.name },
                group: groups[entity.description])
        }
        return DatabaseSchema(entities: entities, searchPath: ["public"])
    }

    @Test(arguments: [
        (40, Diagram.Detail.columns), (41, .keys), (100, .keys), (101, .names),
    ])
    func theMoreEntitiesTheLessOfEach(count: Int, detail: Diagram.Detail) throws {
        let names = (1...count).map { "t\($0)" }
        let schema = schema(names, ["t1>t2"])
        let diagram = try Diagram(of: schema)
        #expect(diagram.detail == detail)
        #expect(diagram.dot().contains("note") == (detail == .columns))
        #expect(diagram.mermaid().contains("note") == (detail == .columns))
        #expect(diagram.dot().contains("t2Set</TD>") == (detail != .names))
        var options = Diagram.Options()
        options.detail = .columns
        #expect(try Diagram(of: schema, options: options).dot().contains("note"))
    }

    @Test func groupsAreThoseOfCommentsThenSchemasThenParts() throws {
        let small = schema(["a.x", "a.y", "b.z", "b.w"], ["a.x>b.z"], groups: ["a.y": "sales", "b.w": "sales"])
        let groups = try Diagram(of: small).groups
        #expect(groups.map(\.title) == ["sales", "a", "b"])
        #expect(groups.map(\.kind) == [.annotation, .schema, .schema])
        #expect(groups[0].members.map(\.description) == ["a.y", "b.w"])
        let one = schema(["x", "y"], ["x>y"])
        #expect(try Diagram(of: one).groups.isEmpty)
        let names = (1...110).map { "t\($0)" }
        let large = try Diagram(of: schema(names, ["t1>t2", "t1>t3", "t5>t6", "t7>t7"]))
        #expect(large.groups.map(\.title) == ["t1", "t5", "no relationships"])
        #expect(large.groups.map(\.kind) == [.part, .part, .unconnected])
        #expect(large.groups.map(\.members.count) == [3, 2, 105])
        #expect(large.dot().contains("style=invis"))
    }

    @Test func schemasAndPatternsChooseEntities() throws {
        let schema = schema(["a.x", "a.y", "b.x", "person"], ["a.x>a.y", "a.x>b.x"])
        func names(_ change: (inout Diagram.Options) -> Void) throws -> [String] {
            var options = Diagram.Options()
            change(&options)
            return try Diagram(of: schema, options: options).nodes.map(\.title)
        }
        #expect(try names { $0.schemas = ["a"] } == ["x", "y"])
        #expect(try names { $0.included = ["x"] } == ["a.x", "b.x"])
        #expect(try names { $0.included = ["a.*", "pers*n"] } == ["a.x", "a.y", "public.person"])
        #expect(try names { $0.excluded = ["*.x"] } == ["a.y", "public.person"])
        #expect(throws: SchemaError.self) { try names { $0.schemas = ["c"] } }
        #expect(throws: SchemaError.self) { try names { $0.included = ["nothing*"] } }
        let part = try Diagram(
            of: schema,
            options: {
                var options = Diagram.Options(); options.schemas = ["a"]; return options
            }())
        #expect(part.nodes.map(\.hiddenRelationships) == [1, 0])
    }

    @Test func theHeadsOfLinesTellHowMany() throws {
        let schema = schema(["x", "y"], ["x>y", "x>x"])
        var options = Diagram.Options()
        let arrows = try Diagram(of: schema, options: options).dot()
        #expect(
            arrows.contains(#""public.x":r3 -> "public.y":r1 [arrowtail=normal, arrowhead=normalnormal"#), "\(arrows)")
        #expect(arrows.contains(#""public.x":r2:w -> "public.x":r1:w [arrowtail=normal, "#), "\(arrows)")
        options.notation = .crow
        let crow = try Diagram(of: schema, options: options)
        #expect(crow.dot().contains("[arrowtail=teetee, arrowhead=crowodot"))
        #expect(crow.mermaid().contains(#"public_x ||--o{ public_y : "ySet / x""#))
        #expect(try Diagram(of: schema).mermaid().contains(#"public_x "1" <--> "*" public_y : ySet / x"#))
    }

    @Test func theOrderOfEntitiesDoesNotMatter() throws {
        let names = ["b", "a", "c"]
        let diagrams = try [names, names.reversed(), names.sorted()].map {
            try Diagram(of: schema($0, ["b>a", "c>b"]))
        }
        #expect(Set(diagrams).count == 1 && Set(diagrams.map { $0.dot() }).count == 1)
    }
}
