import KindredDiagram
import KindredPostgres
import Testing

/// Entities that everything refers to: their lines are labels at the other ends.
@Suite struct DiagramHubTests {
    /// `user` with so many tables that refer to it, of which `t01` does so twice and refers to `t02`, too.
    private func diagram(_ count: Int, _ change: (inout Diagram.Options) -> Void = { _ in }) throws -> Diagram {
        let names = (1...count).map { $0 < 10 ? "t0\($0)" : "t\($0)" }
        var relationships: [String: [Relationship]] = [:]
        func relate(_ one: String, _ many: String, _ column: String) {
            func name(_ text: String) -> QualifiedName { QualifiedName(schema: "public", name: text) }
            let inverse = "\(many)_\(column)Set"
            relationships[one, default: []].append(
                Relationship(
                    name: inverse, aliases: [], kind: .oneToMany, isOptional: true, source: name(one),
                    destination: name(many), inverse: column, deleteRule: .noAction, foreignKey: "k", columns: ["id"],
                    destinationColumns: [column], holdsForeignKey: false))
            relationships[many, default: []].append(
                Relationship(
                    name: column, aliases: [], kind: .manyToOne, isOptional: false, source: name(many),
                    destination: name(one), inverse: inverse, deleteRule: .nullify, foreignKey: "k", columns: [column],
                    destinationColumns: ["id"], holdsForeignKey: true))
        }
        for name in names { relate("user", name, "owner") }
        relate("user", "t01", "editor")
        relate("t02", "t01", "next")
        relate("user", "user", "boss")
        let entities = (names + ["user"]).map { name in
            Entity(
                name: QualifiedName(schema: "public", name: name), kind: .table, oid: 1,
                attributes: [Attribute(name: "id", number: 1, typeName: "integer", type: .int4, isNotNull: true)],
                primaryKey: ["id"], relationships: (relationships[name] ?? []).sorted { $0.name < $1.name })
        }
        var options = Diagram.Options()
        change(&options)
        return try Diagram(of: DatabaseSchema(entities: entities, searchPath: ["public"]), options: options)
    }

    private func lines(_ text: String, _ part: String) -> [String] {
        text.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { $0.contains(part) }.map(String.init)
    }

    @Test func anEntityWithMoreThanTwentyLinesIsAHub() throws {
        // 18 tables, another key, and itself are twenty lines.
        let (below, hub) = (try diagram(18), try diagram(19))
        #expect(below.hubs.isEmpty && !below.dot().contains("@"))
        #expect(hub.hubs.map(\.name) == ["user"] && hub.edges.count == 22)
        let plain = try diagram(19) { $0.labelsHubs = false }
        #expect(plain.hubs.isEmpty && !plain.dot().contains("@") && plain.edges == hub.edges)
        // The entity that the picture is about keeps its lines.
        #expect(try diagram(19) { $0.around = ["user"] }.hubs.isEmpty)
        #expect(
            hub.json().hasSuffix(##""hubs": ["public.user"]}"## + "\n") && below.json().hasSuffix("\"hubs\": []}\n"))
        #expect(hub.dbml() == plain.dbml())
    }

    @Test func inDOTEachLineLeadsToALabelBesideTheOtherEnd() throws {
        let dot = try diagram(30).dot()
        // One label for each table, although one has two lines to it.
        #expect(lines(dot, #""public.user@"#).filter { $0.contains("[label=") }.count == 30)
        #expect(
            lines(dot, #""public.user@public.t01" ->"#) == [
                #""public.user@public.t01" -> "public.t01":r1 [arrowtail=normal, arrowhead=normalnormal, tooltip="user.t01_editorSet, t01.editor (k)"];"#,
                #""public.user@public.t01" -> "public.t01":r3 [arrowtail=normal, arrowhead=normalnormal, tooltip="user.t01_ownerSet, t01.owner (k)"];"#,
            ])
        // Of the hub itself only the line to itself is left, and it says where the others lead to.
        let own = lines(dot, "->").filter { $0.contains(#""public.user":"#) }
        #expect(own.count == 1 && own[0].contains(#"-> "public.user":"#), "\(own)")
        #expect(lines(dot, "t07_ownerSet <FONT").first?.contains(">→ t07<") == true)
        #expect(lines(dot, #""public.t02":r2 -> "public.t01":r2"#).count == 1, "\(lines(dot, "->"))")
    }

    @Test func whereOnlyNamesAreDrawnTheHubHasTheirNumber() throws {
        let dot = try diagram(90) { $0.detail = .names }.dot()
        #expect(dot.contains(#"label="user (91 lines)""#))
        #expect(lines(dot, #""public.user@"#).filter { $0.contains("->") }.count == 91)
        let again = try diagram(90) { $0.detail = .names }.dot()
        #expect(dot == again)
    }

    @Test func ofMoreThanAHundredEntitiesEachSaysItsLinesToAHub() throws {
        let dot = try diagram(101).dot()
        #expect(dot.contains(#"label="user (102 lines)""#) && !dot.contains("@"))
        let said = SheetReading(dot).said.filter { !$0.value.isEmpty }
        #expect(said.count == 101 && said.values.allSatisfy { $0.keys.elementsEqual(["user"]) })
        #expect(said["public.t01"] == ["user": 2] && said.values.flatMap(\.values).reduce(0, +) == 102)
        let again = try diagram(101).dot()
        #expect(dot == again)
    }

    @Test func inMermaidEachLineLeadsToABoxWithTheNameOfTheHub() throws {
        let classes = try diagram(21).mermaid()
        #expect(lines(classes, ##"class to_public_user_of_public_t09["#8594; user"]"##).count == 1)
        #expect(lines(classes, ##""#8594; user""##).count == 21)
        #expect(
            lines(classes, #"to_public_user_of_public_t09 "1""#) == [
                #"to_public_user_of_public_t09 "1" <--> "*" public_t09 : t09_ownerSet / owner"#
            ])
        let crow = try diagram(21) { $0.notation = .crow }.mermaid()
        #expect(lines(crow, #"to_public_user_of_public_t01 ||--o{ public_t01"#).count == 2)
        #expect(lines(crow, "public_user ||--o{ public_user").count == 1)
        let plain = try diagram(21) { $0.labelsHubs = false }.mermaid()
        #expect(!plain.contains("to_public_user"))
    }

    @Test(.enabled("Graphviz is installed") { await Graphviz().isInstalled() }, arguments: [30, 99])
    func graphvizDrawsLabels(count: Int) async throws {
        let diagram = try diagram(count)
        let picture = String(decoding: try await Graphviz().draw(diagram.dot(), as: .svg), as: UTF8.self)
        #expect(picture.ranges(of: "class=\"node\"").count == count + 1 + count)
        #expect(picture.ranges(of: "class=\"edge\"").count == diagram.edges.count)
    }
}
