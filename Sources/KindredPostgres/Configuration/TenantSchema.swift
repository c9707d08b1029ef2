/// The schema of a tenant whose tables have the names of all other tenants' tables: what sets its statements apart.
///
/// Tenants share the texts of statements, which have a mark where the schema stands. The mark gets its name here, on the way to
/// the connection, so that each tenant's texts are prepared by themselves. Types have the numbers that the shared model knows,
/// in place of which the tenant's own are sent; those of results are known to the `TypeRegistry`.
package final class TenantSchema: Sendable {
    /// Which statements of the library's run with the schema in the search path: those that run functions that rest on it.
    package enum PathUse: Int, Sendable, Comparable {
        case none, writes, all

        package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    /// The place of the schema's name in a text: a quoted name that no object can have.
    package static let mark = "\"\0\""

    package let name: String
    /// The search path, as a setting has it: the schema, then the shared ones.
    let path: String
    let pathUse: PathUse
    private let quotedName: String
    /// Ends texts of the program's own, which name tables by the search path: no other tenant's may be taken for them.
    private let label: String
    /// The tenant's types by those of the model.
    private let types: [PostgresDataType: PostgresDataType]
    private let texts = RankedMutex<[StatementText: StatementText]>([:], .leaf)

    /// - Parameters:
    ///   - oid: the schema's number, which tells it from a later one of the same name.
    ///   - shared: the schemas behind it in the search path.
    ///   - types: the tenant's types by those of the model, where they differ.
    package init(
        named name: String, oid: UInt32, before shared: [String], types: [PostgresDataType: PostgresDataType],
        pathUse: PathUse
    ) throws {
        self.name = name
        quotedName = try SQLIdentifier.quote(name)
        path = try ([name] + shared).map { try SQLIdentifier.quote($0) }.joined(separator: ", ")
        label = "\n/* schema \(oid) */"
        self.types = types
        self.pathUse = pathUse
    }

    /// A statement with the schema's name and types.
    func resolved(_ statement: Statement) -> Statement {
        var resolved = statement
        resolved.text = text(of: statement.text)
        if !types.isEmpty { resolved.bindings = statement.bindings.replacing(types) }
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

    private func text(of shared: StatementText) -> StatementText {
        if shared.isOneTime { return resolving(shared) }
        if let known = texts.withLock({ $0[shared] }) { return known }
        let made = resolving(shared)
        return texts.withLock { texts in
            if let known = texts[shared] { return known }
            // There are many tenants, and a text is soon made again.
            if texts.count >= 256 { texts = [:] }
            texts[shared] = made
            return made
        }
    }

    private func resolving(_ shared: StatementText) -> StatementText {
        let isMarked = shared.text.utf8.contains(0)
        guard isMarked || shared.mayChangeSession else { return shared }
        var text = isMarked ? shared.text.replacing(Self.mark, with: quotedName) : shared.text
        if shared.mayChangeSession { text += label }
        return shared.isOneTime
            ? StatementText(oneTime: text, effect: shared.effect, mayChangeSession: shared.mayChangeSession)
            : StatementText(text, mayChangeSession: shared.mayChangeSession)
    }
}

extension PostgresClient {
    /// Statements as they are sent: with the names and types of the client's tenant, if it has one.
    func resolved(_ statements: [Statement]) -> [Statement] {
        guard let schema = settings?.schema else { return statements }
        return statements.map(schema.resolved)
    }
}
