import KindredPostgres
public import KindredSchema

/// Static pages of a database: an index, and a page for each entity with its neighbourhood, its attributes, its
/// relationships, and every name with where it comes from.
///
/// The pages need no server, run no script, and load nothing from elsewhere.
public struct DiagramSite: Sendable {
    /// A page.
    public struct Page: Sendable, Hashable {
        /// Where the page belongs, below the folder of the site: `index.html`, `public/person.html`.
        ///
        /// Capital letters and unusual characters are written by their bytes, so that no two entities have the same file
        /// on any disk.
        public let path: String
        /// The page's HTML.
        public let text: String

        static let mark = "<!-- Written by kindred diagram: changes will be lost. -->"

        /// Whether a file's text is a page that this library wrote.
        public static func isOne(_ text: String) -> Bool { text.hasPrefix("<!DOCTYPE html>\n\(mark)\n") }
    }

    /// Entities drawn by one run of Graphviz.
    private static let drawnAtOnce = 50

    /// Makes the pages of a schema: a function of it and of the pictures, which asks no database.
    ///
    /// Where Graphviz is not installed, or does not draw a diagram in time, the diagram is shown as the text of a Mermaid
    /// diagram.
    ///
    /// - Parameters:
    ///   - schema: The schema.
    ///   - options: Which entities have a page, and how they are drawn. `around` has no effect; `distance` is how far a
    ///     page's diagram reaches from its entity.
    ///   - graphviz: How to draw; nil to draw nothing.
    /// - Returns: The pages, the index first, then sorted by entity.
    /// - Throws: The errors of ``Diagram/init(of:options:)``, and `CancellationError` if the task is cancelled.
    public static func pages(
        of schema: DatabaseSchema,
        options: Diagram.Options = Diagram.Options(),
        graphviz: Graphviz? = Graphviz()
    ) async throws -> [Page] {
        let site = try DiagramSite(schema, options)
        var diagrams = [(try site.overview(), QualifiedName?.none)]
        for name in site.entities.map(\.name) { diagrams.append((try site.neighbourhood(of: name), name)) }
        let dots = diagrams.map { diagram, name in
            diagram.dot(emphasis: name) { site.link(to: $0, fromIndex: name == nil) }
        }
        let pictures = try await draw(dots, with: graphviz)
        var pages: [Page] = []
        for ((diagram, name), picture) in zip(diagrams, pictures) {
            let shown: Markup = picture.map(Markup.init(picture:)) ?? "<pre>\(lines(diagram.mermaid()))</pre>"
            if let name, let entity = schema[name] {
                pages.append(EntityPage(site: site, entity: entity, picture: shown).page)
            } else {
                pages.append(IndexPage(site: site, picture: shown, isLarge: diagram.isCut).page)
            }
        }
        return pages
    }

    /// Draws diagrams; nil for each diagram that Graphviz does not draw.
    private static func draw(_ dots: [String], with graphviz: Graphviz?) async throws -> [String?] {
        guard let graphviz else { return dots.map { _ in nil } }
        // The index's may be large, and is drawn by itself.
        var groups = dots.prefix(1).map { [$0] }
        for start in stride(from: 1, to: dots.count, by: drawnAtOnce) {
            groups.append(Array(dots[start..<min(start + drawnAtOnce, dots.count)]))
        }
        var pictures: [String?] = []
        for group in groups {
            do {
                pictures += try await graphviz.drawForPages(group)
            } catch let error as GraphvizError {
                if error.code == .notInstalled { return dots.map { _ in nil } }
                pictures += group.map { _ in nil }
            }
        }
        return pictures
    }

    private static func lines(_ text: String) -> Markup {
        text.split(separator: "\n").map { "\(String($0))" as Markup }.joined("\n")
    }

    let schema: DatabaseSchema
    /// The entities that have a page.
    let entities: [Entity]
    private let options: Diagram.Options
    private let pairs: [Diagram.Edge]
    private let names: Set<QualifiedName>

    init(_ schema: DatabaseSchema, _ options: Diagram.Options) throws {
        self.schema = schema
        self.options = options
        pairs = DiagramBuilder.pairs(of: schema)
        var all = options
        all.around = []
        all.showsHelpers = true
        all.showsViews = true
        all.detail = .names
        let shown = Set(try Diagram(of: schema, options: all).nodes.map(\.entity))
        entities = schema.entities.filter { shown.contains($0.name) }
        names = shown
    }

    private func overview() throws -> Diagram {
        var options = options
        options.around = []
        return try Diagram(of: schema, options: options)
    }

    private func neighbourhood(of name: QualifiedName) throws -> Diagram {
        var options = options
        options.around = []
        let builder = DiagramBuilder(schema, options, start: [name], pairs: pairs)
        try builder.select()
        return builder.diagram()
    }

    /// The address of an entity's page; nil if it has none.
    func link(to name: QualifiedName, fromIndex: Bool) -> String? {
        names.contains(name) ? (fromIndex ? "" : "../") + Self.path(of: name) : nil
    }

    static func path(of name: QualifiedName) -> String { "\(encoded(name.schema))/\(encoded(name.name)).html" }

    private static func encoded(_ text: String) -> String {
        text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += "~" + byte.hexadecimal.lowercased()
            }
        }
    }
}
