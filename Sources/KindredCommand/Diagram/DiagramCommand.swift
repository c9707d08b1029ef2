import ArgumentParser
import Kindred
import KindredAssistant
import KindredPostgres

/// `kindred diagram`: a picture of the entities and relationships.
struct DiagramCommand: ToolCommand {
    static let configuration = CommandConfiguration(
        commandName: "diagram",
        abstract: "Draws the entities of a database and the relationships between them.",
        discussion: """
            One line is a pair of inverse relationships: a single arrow head points to one object, a double one to many. \
            The formats svg, png and pdf need Graphviz's program dot.

            Examples:
              kindred diagram --output schema.svg
              kindred diagram --around person --distance 2 --format mermaid
              kindred diagram --output docs/schema.mmd --check
              kindred diagram --site docs/schema
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case dot, mermaid, dbml, json, svg, png, pdf
    }

    enum Notation: String, ExpressibleByArgument, CaseIterable {
        case arrows, crow
    }

    enum Detail: String, ExpressibleByArgument, CaseIterable {
        case automatic, columns, keys, names
    }

    @OptionGroup var connection: ConnectionOptions

    @Option(help: "The language or kind of picture; by default what the file's name ends with, else dot.")
    var format: Format?

    @Option(name: .shortAndLong, help: ArgumentHelp("The file to write.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Write pages instead: an index, and a page for each entity.", valueName: "folder"))
    var site: String?

    @Flag(help: "Write nothing; end with status 1 if the file or the pages differ from the database.")
    var check = false

    @Option(help: "arrows, as a model editor draws them, or crow, for crow's feet.")
    var notation: Notation = .arrows

    @Option(
        help: "columns, keys or names; automatic shows columns of up to 40 entities, identifying ones of up to 100.")
    var detail: Detail = .automatic

    @Flag(help: "Show helper tables as entities instead of as one line.")
    var helpers = false

    @Flag(help: "Show views, too; those that --around or --entity names are shown without it.")
    var views = false

    @Flag(
        help:
            "Draw all lines: those of entities that have more than 20, and those between the frames of large diagrams.")
    var hubLines = false

    @Option(help: ArgumentHelp("Only what is near this entity; may be repeated.", valueName: "entity"))
    var around: [String] = []

    @Option(
        help: ArgumentHelp("How many lines away from it, or from each page's entity; 1 by default.", valueName: "lines")
    )
    var distance: Int?

    @Option(
        name: .customLong("schema"),
        help: ArgumentHelp("Only entities of this schema; may be repeated.", valueName: "name"))
    var schemas: [String] = []

    @Option(
        name: .customLong("entity"),
        help: ArgumentHelp(
            "Only entities like this, such as person or sales.*; may be repeated.", valueName: "pattern"))
    var patterns: [String] = []

    @Option(
        name: .customLong("exclude"),
        help: ArgumentHelp("No entities like this; may be repeated.", valueName: "pattern"))
    var excluded: [String] = []

    @Option(
        help: ArgumentHelp(
            "How long Graphviz may take, before only names are drawn; 60 by default.", valueName: "seconds"))
    var drawTimeout: Int = 60

    func validate() throws {
        if !(1...86_400).contains(drawTimeout) {
            throw ValidationError("--draw-timeout is a number of seconds, from 1 on.")
        }
        if let distance, distance < 0 { throw ValidationError("--distance is a number of lines, from 0 on.") }
        if distance != nil, around.isEmpty, site == nil { throw ValidationError("--distance needs --around.") }
        if site != nil {
            if output != nil { throw ValidationError("--site writes pages, --output one file: give one of them.") }
            if format != nil { throw ValidationError("--site writes pages, which have no --format.") }
            return
        }
        if check, output == nil { throw ValidationError("--check needs the file to compare: --output, or --site.") }
        if output == nil, format == .png || format == .pdf {
            throw ValidationError("A picture of this kind is written to a file: give --output.")
        }
        if check, chosenFormat == .pdf { throw ValidationError("A PDF holds the time, so --check cannot compare it.") }
    }

    private var chosenFormat: Format {
        if let format { return format }
        let ending = output?.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return switch ending {
        case "mmd": .mermaid
        default: Format(rawValue: ending) ?? .dot
        }
    }

    func run(in terminal: Terminal) async throws {
        let schema = try await connection.readSchema(in: terminal)
        connection.print(schema.filterProblems(), in: terminal)
        let graphviz = Graphviz(searchPath: terminal.environment["PATH"], timeLimit: .seconds(drawTimeout))
        do {
            if let site {
                let pages = try await DiagramSite.pages(of: schema, options: options, graphviz: graphviz)
                try SiteFolder(path: site).update(with: pages, check: check, in: terminal)
            } else {
                try await printOrWrite(schema, graphviz, in: terminal)
            }
        } catch let error as GraphvizError {
            throw CommandFailure(error.code == .notInstalled ? .unavailable : .failure, error.message)
        }
    }

    private var options: Diagram.Options {
        var options = Diagram.Options()
        options.notation = notation == .crow ? .crow : .arrows
        options.detail = Diagram.Detail(rawValue: detail.rawValue) ?? .automatic
        options.showsHelpers = helpers
        options.showsViews = views
        options.labelsHubs = !hubLines
        options.around = around
        options.distance = distance ?? 1
        options.schemas = Set(schemas)
        options.included = patterns
        options.excluded = excluded
        if site == nil, chosenFormat == .dbml {
            // DBML describes tables; a program that reads it wants all of their columns.
            options.showsHelpers = true
            if detail == .automatic { options.detail = .columns }
        }
        return options
    }

    private func printOrWrite(_ schema: DatabaseSchema, _ graphviz: Graphviz, in terminal: Terminal) async throws {
        let diagram = try Diagram(of: schema, options: options)
        if diagram.nodes.isEmpty { try sayWhyEmpty(schema, in: terminal) }
        let bytes: [UInt8]
        switch chosenFormat {
        case .dot: bytes = Array(diagram.dot().utf8)
        case .mermaid: bytes = Array(diagram.mermaid().utf8)
        case .dbml: bytes = Array(diagram.dbml().utf8)
        case .json: bytes = Array(diagram.json().utf8)
        case .svg: bytes = try await draw(diagram, as: .svg, schema, graphviz, in: terminal)
        case .png: bytes = try await draw(diagram, as: .png, schema, graphviz, in: terminal)
        case .pdf: bytes = try await draw(diagram, as: .pdf, schema, graphviz, in: terminal)
        }
        guard let output else { return terminal.printLines(String(decoding: bytes, as: UTF8.self)) }
        let file = DiagramFile(
            path: output, bytes: bytes, isText: Graphviz.Format(rawValue: chosenFormat.rawValue) == nil)
        if check { try file.compare(in: terminal) } else { try file.write(in: terminal) }
    }

    private func sayWhyEmpty(_ schema: DatabaseSchema, in terminal: Terminal) throws {
        var options = options
        options.showsViews = true
        let count = try Diagram(of: schema, options: options).nodes.count
        if count > 0 {
            terminal.printError("The diagram is empty: all that it could show are views (\(count)); give --views.")
        }
    }

    /// Draws the diagram; if that takes too long with columns, with names alone.
    private func draw(
        _ diagram: Diagram, as kind: Graphviz.Format, _ schema: DatabaseSchema, _ graphviz: Graphviz,
        in terminal: Terminal
    ) async throws -> [UInt8] {
        do {
            return try await graphviz.draw(diagram.dot(), as: kind)
        } catch let error as GraphvizError where error.code == .timeout && diagram.detail != .names {
            terminal.printError("Graphviz took longer than \(drawTimeout) seconds, so only names are drawn.")
            var options = options
            options.detail = .names
            return try await graphviz.draw(Diagram(of: schema, options: options).dot(), as: kind)
        }
    }
}
