import Foundation
import KindredAssistant
import KindredPostgres
import Testing

/// The surroundings of one entity, from a few neighbours to a table that everything refers to.
@Suite struct DiagramNeighbourhoodTests {
    /// `user` with so many tables that refer to it in each of two schemas, each of which also refers to the table
    /// before it.
    private func model(_ count: Int) -> ModelSchema {
        let names = (0..<count).map { "\($0 % 2 == 0 ? "a" : "b").t\($0)" }
        let rows = zip(names, names.dropFirst()).map { "\($0)>\($1)" }
        return ModelSchema(names + ["a.user", "a.far"], names.map { "a.user>\($0)" } + rows + ["a.t0>a.far"])
    }

    private func around(_ count: Int, _ change: (inout Diagram.Options) -> Void = { _ in }) throws -> Diagram {
        try model(count).diagram { options in
            options.around = ["a.user"]
            change(&options)
        }
    }

    /// The rows of an entity's box, without markup.
    private func box(_ id: String, _ dot: String) -> String {
        let text = dot.components(separatedBy: "\"\(id)\" [label=<").dropFirst().first ?? ""
        return (text.components(separatedBy: "</TABLE>").first ?? "").replacing(/<[^>]*>/, with: " ")
    }

    @Test func theEntityHasAllOfItsColumnsAndItsNeighboursWhatIdentifiesThem() throws {
        let few = try around(4)
        #expect(few.around.map(\.description) == ["a.user"] && !few.isCut)
        let dot = few.dot()
        #expect(box("a.user", dot).contains(" note ") && box("a.user", dot).contains(" ref "))
        #expect(box("a.t2", dot).contains(" id ") && box("a.t2", dot).contains("… 2 more"), "\(box("a.t2", dot))")
        #expect(!box("a.t2", dot).contains(" ref ") && !box("a.t2", dot).contains(" note "))
        #expect(dot.contains(##"BGCOLOR="#c8553d"><FONT COLOR="white"><B>user<"##), "It stands out")
        // A program that draws the diagram itself has the columns that lines compare.
        #expect(few.nodes.first { $0.entity.name == "t2" }?.columns.map(\.name) == ["id", "ref"])
        let all = try around(4) { $0.detail = .columns }.dot()
        #expect(box("a.t2", all).contains(" note "))
        let twenty = try around(20).dot()
        #expect(
            !box("a.t2", twenty).contains(" id ") && box("a.t2", twenty).contains(" user "), "\(box("a.t2", twenty))")
    }

    @Test func itsSchemaIsLeftOutAndNoFrameStandsAroundIt() throws {
        let few = try around(4)
        #expect(few.nodes.map(\.title) == ["t0", "t2", "user", "b.t1", "b.t3"])
        #expect(few.groups.map(\.title) == ["a", "b"] && !few.dot().contains("subgraph"))
        // Of two that are of different schemas, neither is at home.
        let two = try around(4) { $0.around = ["a.user", "b.t1"] }
        #expect(two.nodes.map(\.title).contains("a.user") && two.nodes.map(\.title).contains("b.t1"))
        let one = try around(4) { $0.schemas = ["a"] }
        #expect(one.nodes.map(\.title) == ["t0", "t2", "user"])
    }

    @Test func manyLinesLeaveOutThoseBetweenNeighbours() throws {
        // Ten tables have ten lines to it and nine between them; eleven have eleven and ten.
        let (few, many) = (try around(10), try around(11))
        #expect(few.edges.count == 19 && few.edges.contains { $0.from.entity.name != "user" })
        #expect(many.edges.count == 11 && many.edges.allSatisfy { $0.from.entity.name == "user" })
        // They are counted, not forgotten.
        #expect(many.nodes.first { $0.entity.name == "t5" }?.hiddenRelationships == 2)
        #expect(few.nodes.first { $0.entity.name == "t5" }?.hiddenRelationships == 0)
        // With a distance of two, lines between the nearer neighbours are shown.
        let wide = try around(11) { $0.distance = 2 }
        #expect(wide.edges.count == 22 && wide.nodes.count == 13)
    }

    @Test func anEntityWithMoreThanFortyNeighboursIsASheet() throws {
        let (whole, cut) = (try around(39), try around(40))
        #expect(!whole.isCut && whole.hubs.isEmpty && SheetReading(whole.dot()).drawn.count == 39)
        #expect(cut.isCut && cut.detail == .names && cut.groups.map(\.title) == ["a", "b"])
        let sheet = SheetReading(cut.dot())
        #expect(sheet.drawn.isEmpty && sheet.lineCount == 40)
        #expect(sheet.said["a.t0"] == ["user": 1] && sheet.said["b.t1"] == ["a.user": 1])
        #expect(cut.dot().contains(##""a.user" [label="a.user (40 lines)", fillcolor="#c8553d""##), "\(cut.dot())")
        #expect(!sheet.frames.values.joined().contains("a.user"))
        #expect(try !around(40) { $0.labelsHubs = false }.isCut)
    }

    @Test(
        .enabled("Graphviz is installed") { await Graphviz().isInstalled() }, arguments: [12, 15, 25, 39, 40, 90, 150])
    func theNeighbourhoodOfAHubCanBeRead(count: Int) async throws {
        let diagram = try around(count)
        let picture = String(decoding: try await Graphviz().draw(diagram.dot(), as: .svg), as: UTF8.self)
        let proportion = try #require(SheetReading.proportion(ofSVG: picture))
        #expect((0.4...2.5).contains(proportion), "\(count): \(proportion)")
        #expect(picture.ranges(of: "class=\"node\"").count == count + 1)
    }
}
