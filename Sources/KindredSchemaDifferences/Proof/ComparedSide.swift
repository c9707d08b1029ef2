import KindredDDL
import KindredPostgres

/// One side of a comparison: where it comes from, and its schema as it was read.
struct ComparedSide {
    /// The schema as it was read.
    let original: SchemaSnapshot
    /// The name of the side in sentences: `the old side`.
    let name: String
    /// The script that makes it, and the database in which it has run.
    let script: (text: ScratchScript, client: PostgresClient)?
    /// The statements of the script that were not run.
    var leftOut: [ScratchScript.LeftOutStatement] = []
    /// The schema without the things that are left out of both sides.
    private(set) var snapshot: SchemaSnapshot

    init(
        _ snapshot: SchemaSnapshot, name: String, script: (text: ScratchScript, client: PostgresClient)? = nil,
        leftOut: [ScratchScript.LeftOutStatement] = []
    ) {
        (original, self.snapshot, self.name, self.script, self.leftOut) = (snapshot, snapshot, name, script, leftOut)
    }

    /// Whether it can be made on another server as it is, since it is a script; a database is copied from its snapshot,
    /// and so is a side with things that are left out.
    private(set) var isExact = false

    /// The side without the things that are left out of both sides.
    func without(_ leftOut: LeftOut) -> ComparedSide {
        var result = self
        result.snapshot = leftOut.rest(of: original)
        result.isExact = script != nil && leftOut.isEmpty && self.leftOut.isEmpty
        return result
    }

    /// A scratch database that has the side.
    struct Made {
        let client: PostgresClient
        let snapshot: SchemaSnapshot
        /// The things that the database lacks of the side.
        let lacking: [String]
    }

    /// Lends the database in which the script has run, or a copy.
    ///
    /// - Throws: `SchemaCopy.Failure` where the server refuses a statement of a copy.
    func withMade<T>(
        on server: ScratchServer, after first: [FirstExtension], _ body: (Made) async throws -> T
    ) async throws -> T {
        if isExact, first.isEmpty, let script {
            return try await body(Made(client: script.client, snapshot: snapshot, lacking: []))
        }
        return try await withCopy(on: server, after: first, body)
    }

    /// Lends a database of its own.
    func withCopy<T>(
        on server: ScratchServer, after first: [FirstExtension], _ body: (Made) async throws -> T
    ) async throws -> T {
        if isExact, let script {
            return try await script.text.withDatabase(of: server, after: first) { client, _ in
                try await body(Made(client: client, snapshot: snapshot, lacking: []))
            }
        }
        return try await server.withDatabase(first) { client in
            let copy = SchemaCopy(snapshot, of: name)
            try await copy.make(on: client, of: server)
            let made = try await server.snapshot(of: client)
            return try await body(Made(client: client, snapshot: made, lacking: copy.lacking(in: made)))
        }
    }
}

extension SchemaCopy {
    /// Names things of the original that a copy lacks, or has in another form.
    ///
    /// The texts of expressions are not compared: the server writes some of them in another way after it has read them
    /// again.
    ///
    /// - Parameter copy: The copy's snapshot.
    package func lacking(in copy: SchemaSnapshot) -> [String] {
        snapshot.items.sorted { $0.key < $1.key }.compactMap { name, item in
            guard let other = copy[name] else { return "the \(name.described)" }
            if Self.plain(item.content) != Self.plain(other.content) { return "the \(name.described) as it is" }
            return item.grants == other.grants ? nil : "the privileges on the \(name.described)"
        }
    }

    /// A content without the texts of expressions.
    private static func plain(_ content: ItemContent) -> ItemContent {
        switch content {
        case .domain(var domain):
            domain.defaultText = domain.defaultText.map { _ in "" }
            return .domain(domain)
        case .table(var table):
            table.partitionKey = table.partitionKey.map { _ in "" }
            table.bound = table.bound.map { _ in "" }
            table.overrides = table.overrides.mapValues {
                ColumnOverride(defaultText: $0.defaultText.map { _ in "" }, isNotNull: $0.isNotNull)
            }
            return .table(table)
        case .column(var column):
            column.defaultText = column.defaultText.map { _ in "" }
            column.generation = column.generation.map { _ in "" }
            return .column(column)
        case .constraint(var constraint):
            (constraint.definition, constraint.index) = ("", nil)
            return .constraint(constraint)
        case .index(var index):
            (index.definition, index.unnamed) = ("", "")
            return .index(index)
        case .view(var view):
            view.query = ""
            return .view(view)
        case .schema, .enumeration, .composite, .sequence: return content
        default: return .other("")
        }
    }
}
