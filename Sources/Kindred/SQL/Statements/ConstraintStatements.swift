import KindredPostgres
import KindredSchema

/// Statements about constraints in a transaction.
enum ConstraintStatements {
    /// `SET CONSTRAINTS … DEFERRED`, or `IMMEDIATE`, which checks them.
    static func set(_ constraints: [QualifiedName], areDeferred: Bool) throws -> Statement {
        let names = try constraints.map { try $0.quoted }
        let text = "SET CONSTRAINTS \(names.joined(separator: ", ")) \(areDeferred ? "DEFERRED" : "IMMEDIATE")"
        return Statement(text: StatementText(text), bindings: Bindings(), resultFormat: .text)
    }
}
