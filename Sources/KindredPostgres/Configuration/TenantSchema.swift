/// The schema of a tenant whose tables have the names of all other tenants' tables; it sets the tenant's statements
/// apart.
///
/// Tenants share the texts of statements, which have a mark where the schema stands. The mark gets its name here, on
/// the way to the connection, so that each tenant's texts are prepared by themselves. Types have the numbers that the
/// shared model knows; the tenant's own numbers are sent in their place, and the `TypeRegistry` knows the numbers in
/// results.
package final class TenantSchema: Sendable {
    /// The library's statements that run with the schema in the search path, since they run functions that depend on
    /// it.
    package enum PathUse: Int, Sendable, Comparable {
        case none, writes, all

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The place of the schema's name in a text: a quoted name that no object can have.
    package static let mark = "\"\0\""

    /// A text for people, without the mark and the dot behind it.
    package static func unmarked(_ text: String) -> String { text.replacing("\(mark).", with: "") }

    /// Whether no schema of this name can be a tenant's: schemas of the server and of the library, texts that are no
    /// name, and `$user`, by which a search path means the schema of the session's role.
    package static func isReserved(_ name: String) -> Bool {
        name.utf8.isEmpty || name.utf8.count > SQLIdentifier.maximumBytes || name.utf8.contains(0)
            || name.hasPrefix("pg_") || ["$user", "information_schema", "kindred", "kindred_ddl"].contains(name)
    }

    package let name: String
    /// The search path, as a setting has it: the schema, then the shared schemas.
    let path: String
    let pathUse: PathUse
    /// The name as it stands between quotes.
    private let nameInQuotes: String
    /// Ends texts of the program's own, which name tables by the search path: no other tenant's may be taken for them.
    private let label: String
    /// The tenant's types by the model's types.
    private let types: [PostgresDataType: PostgresDataType]

    /// - Parameters:
    ///   - oid: the schema's number, which tells it from a later schema of the same name.
    ///   - shared: the schemas behind it in the search path.
    ///   - types: the tenant's types by the model's types, where they differ.
    package init(
        named name: String, oid: UInt32, before shared: [String], types: [PostgresDataType: PostgresDataType],
        pathUse: PathUse
    ) throws {
        self.name = name
        nameInQuotes = String(try SQLIdentifier.quote(name).dropFirst().dropLast())
        // Temporary tables last, as in all sessions: else they would come before all.
        path = (try ([name] + shared).map { try SQLIdentifier.quote($0) } + ["pg_temp"]).joined(separator: ", ")
        label = "\n/* schema \(oid) */"
        self.types = types
        self.pathUse = pathUse
    }

    /// A statement with the schema's name and types.
    func resolved(_ statement: Statement) -> Statement {
        var resolved = statement
        resolved.text = text(of: statement.text)
        if !types.isEmpty { resolved.bindings = statement.bindings.retyped(types) }
        return resolved
    }

    /// Whether some statements need the schema in the search path.
    func needsPath(_ statements: [Statement]) -> Bool {
        switch pathUse {
        case .all: true
        case .writes: statements.contains { $0.text.mayWrite }
        case .none: statements.contains { $0.text.mayChangeSession }
        }
    }

    /// Made anew for each use: kept texts of many tenants would take more memory than all else, and this less than a
    /// hundredth of the time of a statement.
    private func text(of shared: StatementText) -> StatementText {
        let parts = shared.text.utf8.split(separator: 0, omittingEmptySubsequences: false)
        guard parts.count > 1 || shared.mayChangeSession else { return shared }
        // The quotes around the NUL become the quotes of the name.
        var text = parts.map { String(Substring($0)) }.joined(separator: nameInQuotes)
        if shared.mayChangeSession { text += label }
        return shared.isOneTime
            ? StatementText(oneTime: text, effect: shared.effect, mayChangeSession: shared.mayChangeSession)
            : StatementText(text, mayChangeSession: shared.mayChangeSession)
    }
}
