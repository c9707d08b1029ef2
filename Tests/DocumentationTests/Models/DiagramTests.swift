import Kindred
import KindredAssistant
import KindredTesting
import Testing

/// The examples of the article about diagrams.
@Suite(
    .database(
        .file("../../../sql/demo.sql") + """
            COMMENT ON TABLE book IS '@kindred {"group": "catalogue"} What can be bought';
            """))
struct DiagramTests {
    @Test func aDiagramIsText() async throws {
        let database = try await TestDatabase.current.connect()
        var options = Diagram.Options()
        options.around = ["person"]
        options.distance = 2
        let diagram = try Diagram(of: database.schema, options: options)
        print(diagram.mermaid())
        #expect(diagram.nodes.contains { $0.entity.name == "stock" } && diagram.mermaid().hasPrefix("classDiagram"))
        let all = try Diagram(of: database.schema)
        #expect(all.groups.map(\.title) == ["catalogue"])
        #expect(all.nodes.first { $0.entity.name == "book" }?.comment == "What can be bought")
    }

    @Test(.enabled("Graphviz is installed") { await Graphviz().isInstalled() })
    func aDiagramIsAPicture() async throws {
        let database = try await TestDatabase.current.connect()
        let diagram = try Diagram(of: database.schema)
        let picture = try await Graphviz().draw(diagram.dot(), as: .svg)
        let pages = try await DiagramSite.pages(of: database.schema)
        #expect(!picture.isEmpty && pages.count == 17)
    }
}
