import KindredDiagram
import KindredPostgres
import Testing

/// A diagram of a model, without a server.
@Suite struct DiagramShapeTests {
    private func schema(_ names: [String], _ pairs: [String] = [], groups: [String: String] = [:]) -> DatabaseSchema {
        ModelSchema(names, pairs, groups: groups).schema
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
        // The names of relationships stand for the columns that refer to other objects; diagrams with keys have these
        // columns, too.
        #expect(
            diagram.dot().contains(">ref</") == (detail == .columns)
                && diagram.dot().contains(">ref<") == (detail == .columns))
        var keys = Diagram.Options()
        keys.detail = .keys
        #expect(try Diagram(of: schema, options: keys).dot().contains("<I>ref</I>"))
        #expect(diagram.dbml().contains(#""ref" "integer""#))
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

    @Test func theNameOfOneSchemaIsLeftOut() throws {
        let names = (1...25).map { "a.t\($0)" }
        let alone = try Diagram(of: schema(["a.x"] + names, names.map { "a.x>\($0)" }))
        #expect(
            alone.hubs.map(\.name) == ["x"] && !alone.dot().contains(">a.")
                && alone.nodes.allSatisfy { $0.title == $0.entity.name })
        #expect(alone.dot().contains(#"@a.t1" [label="x""#) && alone.mermaid().contains("#8594; x"))
        // With several schemas, each frame names its own once; an entity that stands elsewhere has both names.
        let several = try Diagram(of: schema(["a.x", "b.u"] + names, names.map { "a.x>\($0)" } + ["a.x>b.u"])).dot()
        #expect(
            several.contains(#"label="a"; labeljust=l"#) && several.contains("<B>x</B>") && several.contains("<B>u</B>")
        )
        #expect(several.contains(#""a.x@a.t1" [label="x""#) && several.contains(#""a.x@b.u" [label="a.x""#))
        #expect(several.contains("→ t1<") && several.contains("→ b.u<"))
        // A frame that a comment asks for does not say it.
        let named = try Diagram(of: schema(["a.x", "b.u"], groups: ["a.x": "sales"])).dot()
        #expect(named.contains("<B>a.x</B>") && named.contains("<B>u</B>"))
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
