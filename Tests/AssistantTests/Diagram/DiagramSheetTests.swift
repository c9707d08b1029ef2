import Foundation
import KindredAssistant
import KindredPostgres
import TestSupport
import Testing

/// Databases of hundreds of tables: one sheet of frames that a colleague can read, with no line lost.
@Suite struct DiagramSheetTests {
    /// Shapes of databases with many tables.
    enum Shape: String, CaseIterable {
        /// One schema whose tables refer to older ones.
        case grown
        /// Twelve schemas of very different sizes, with lines within and between them.
        case schemas
        /// Three tables that all others refer to, and nothing else.
        case hubs
        /// Many parts of two or three tables.
        case crumbs
        /// Parts of ten tables around one, and each of these around one table of all.
        case trees
        /// No foreign keys at all.
        case loose
    }

    private func model(_ shape: Shape, _ count: Int, seed: UInt64 = 7) -> ModelSchema {
        var random = SeededGenerator(seed: seed)
        var names = (0..<count).map { "table_\($0)" }
        var pairs: Set<String> = []
        switch shape {
        case .grown:
            for place in 1..<count {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let other = Int.random(in: max(0, place - 60)..<place, using: &random)
                    pairs.insert("\(names[other])>\(names[place])")
                }
            }
        case .schemas:
            names = names.enumerated().map { place, name in
                "s\(min(11, Int(Double.random(in: 0..<1, using: &random) * 4).advanced(by: place % 9))).\(name)"
            }
            for place in 1..<count {
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    pairs.insert("\(names[Int.random(in: 0..<place, using: &random)])>\(names[place])")
                }
                // Two that many refer to, of different schemas.
                if place % 3 == 0 || place == 1 { pairs.insert("\(names[0])>\(names[place])") }
                if place % 4 == 0 { pairs.insert("\(names[1])>\(names[place])") }
            }
        case .hubs:
            for place in 3..<count { for hub in 0..<3 { pairs.insert("\(names[hub])>\(names[place])") } }
        case .crumbs:
            for place in stride(from: 0, to: count - 2, by: 3) {
                pairs.insert("\(names[place])>\(names[place + 1])")
                if place % 2 == 0 { pairs.insert("\(names[place])>\(names[place + 2])") }
            }
        case .trees:
            for place in 1..<count {
                pairs.insert("\(names[place / 10 * 10 == place ? 0 : place / 10 * 10])>\(names[place])")
            }
        case .loose: break
        }
        return ModelSchema(names, pairs.sorted())
    }

    private func parts(_ groups: [Diagram.Group]) -> [Diagram.Group] {
        groups.flatMap { $0.groups.isEmpty ? [$0] : parts($0.groups) }
    }

    @Test(arguments: Shape.allCases, [101, 500])
    func eachEntityStandsInOneFrameAndEachLineIsDrawnOrSaidOnce(shape: Shape, count: Int) throws {
        let diagram = try model(shape, count).diagram()
        #expect(diagram.isCut && diagram.detail == .names)
        let parts = parts(diagram.groups)
        #expect(parts.flatMap(\.members).count == count && Set(parts.flatMap(\.members)).count == count)
        // No frame holds more than can be looked at, except a frame that is a list.
        let large = parts.filter { $0.members.count > Diagram.largestPart }
        #expect(large.allSatisfy { $0.kind == .unconnected }, "\(large.map(\.title))")
        let sheet = SheetReading(diagram.dot())
        #expect(sheet.frames.values.map { $0.count }.reduce(0, +) == count)
        #expect(sheet.lineCount == diagram.edges.count)
        let frames = Dictionary(uniqueKeysWithValues: sheet.frames.flatMap { title, ids in ids.map { ($0, title) } })
        let hubs = Set(diagram.hubs.map(\.description))
        var drawn: [[String]] = []
        var said: [String: [String: Int]] = [:]
        for edge in diagram.edges {
            let (from, to) = (edge.from.entity.description, edge.to.entity.description)
            if frames[from] == frames[to], hubs.contains(from) == hubs.contains(to) {
                drawn.append([from, to].sorted())
            } else {
                // The entity with the foreign key says it, unless it is a hub.
                let isAtHub = hubs.contains(to) && !hubs.contains(from)
                let (here, there) = isAtHub ? (edge.from.entity, edge.to.entity) : (edge.to.entity, edge.from.entity)
                let isNear = here.schema == there.schema
                said[here.description, default: [:]][isNear ? there.name : there.description, default: 0] += 1
            }
        }
        #expect(
            sheet.drawn.sorted { $0.lexicographicallyPrecedes($1) } == drawn.sorted { $0.lexicographicallyPrecedes($1) }
        )
        #expect(sheet.said.filter { !$0.value.isEmpty } == said)
        if shape == .schemas { #expect(Set(diagram.hubs.map(\.schema)).count > 1) }
    }

    @Test(arguments: Shape.allCases) func theSameTablesGiveTheSameSheet(shape: Shape) throws {
        let dots = try [300, 300].map { try model(shape, $0).diagram().dot() }
        #expect(dots[0] == dots[1])
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>) func aPartIsConnectedByTheLinesThatAreDrawn(seed: UInt64) throws {
        let diagram = try model(.grown, 320, seed: seed).diagram()
        let hubs = Set(diagram.hubs)
        for part in parts(diagram.groups) where part.kind == .part && !part.title.hasPrefix("others") {
            let members = Set(part.members)
            var (reached, waiting) = (Set([part.members[0]]), [part.members[0]])
            while let name = waiting.popLast() {
                for edge in diagram.edges where hubs.contains(edge.from.entity) == hubs.contains(edge.to.entity) {
                    let ends = [edge.from.entity, edge.to.entity]
                    guard ends.contains(name), members.isSuperset(of: ends) else { continue }
                    waiting += ends.filter { reached.insert($0).inserted }
                }
            }
            #expect(reached == members, "seed \(seed), \(part.title)")
        }
    }

    @Test(
        .enabled("Graphviz is installed") { await Graphviz().isInstalled() }, arguments: Shape.allCases,
        [101, 500])
    func theSheetIsAboutAsWideAsHigh(shape: Shape, count: Int) async throws {
        let dot = try model(shape, count).diagram().dot()
        let picture = String(decoding: try await Graphviz().draw(dot, as: .svg), as: UTF8.self)
        let proportion = try #require(SheetReading.proportion(ofSVG: picture))
        #expect((0.5...2).contains(proportion), "\(shape) with \(count): \(proportion)")
        #expect(picture.ranges(of: "class=\"node\"").count == count)
        #expect(picture.ranges(of: "class=\"edge\"").count == SheetReading(dot).drawn.count)
    }

    @Test(
        .enabled("Graphviz is installed") { await Graphviz().isInstalled() }, arguments: Shape.allCases, [25, 50, 100])
    func aSmallerDiagramIsNoTower(shape: Shape, count: Int) async throws {
        let diagram = try model(shape, count).diagram()
        #expect(!diagram.isCut)
        let picture = String(decoding: try await Graphviz().draw(diagram.dot(), as: .svg), as: UTF8.self)
        let proportion = try #require(SheetReading.proportion(ofSVG: picture))
        #expect((0.25...3).contains(proportion), "\(shape) with \(count): \(proportion)")
    }

    @Test func wordsTellWhereALineLeadsAndHowMany() throws {
        // Two schemas; `a.x` is referred to from the other one, twice by `b.y`, and once by each of the others.
        let names = (0..<60).map { "a.t\($0)" } + (0..<60).map { "b.u\($0)" } + ["a.x", "b.y"]
        let dot = try ModelSchema(names, ["a.x>b.y", "a.x>b.u1", "b.y>b.u1", "b.u3>a.t3"]).diagram().dot()
        #expect(dot.contains(##""b.u1" [label=<u1<BR/><FONT COLOR="#6b7785" POINT-SIZE="8">→ a.x</FONT>>"##), "\(dot)")
        #expect(dot.contains(##""a.t3" [label=<t3<BR/><FONT COLOR="#6b7785" POINT-SIZE="8">→ b.u3</FONT>>"##))
        #expect(dot.contains(#""a.x" [label="x (2 lines)""#) && dot.contains(#""b.u3" [label="u3 (1 line)""#))
        #expect(dot.contains(#""b.y" -> "b.u1" [arrowtail=normal, arrowhead=normalnormal"#))
        #expect(
            !dot.contains("newrank") && dot.contains(#"packmode="graph""#) && dot.contains("An arrow before a name"))
    }

    @Test func allLinesAreDrawnWhereThatIsAskedFor() throws {
        let model = model(.hubs, 120)
        let whole = try model.diagram { $0.labelsHubs = false }
        #expect(!whole.isCut && whole.hubs.isEmpty)
        #expect(SheetReading(whole.dot()).drawn.count == whole.edges.count)
    }

    @Test func otherLanguagesHoldEveryLine() throws {
        let diagram = try model(.schemas, 150).diagram()
        let counts = Array(DiagramReading(diagram) { $0.description }.lines.values).sorted()
        #expect(DiagramReading(dbml: diagram.dbml()).lines.values.sorted() == counts)
        #expect(try DiagramReading(json: diagram.json()).lines.values.sorted() == counts)
    }

    @Test func withColumnsTheNamesOfRelationshipsSayWhereLinesLead() throws {
        let names = (0..<60).map { "a.t\($0)" } + (0..<60).map { "b.u\($0)" }
        let dot = try ModelSchema(names, ["a.t1>b.u1"]).diagram { $0.detail = .columns }.dot()
        #expect(dot.contains(##">t1 <FONT COLOR="#6b7785" POINT-SIZE="8">→ a.t1</FONT></TD>"##), "\(dot)")
        #expect(dot.contains(##">u1Set <FONT COLOR="#6b7785" POINT-SIZE="8">→ b.u1</FONT></TD>"##))
        #expect(!dot.contains(#""a.t1":r1"#) && !dot.contains(#""b.u1":r1"#))
    }
}
