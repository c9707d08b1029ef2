import KindredPostgres
import KindredSchema

/// Resolves the conditions and sort keys of one statement: follows their key paths, checks their types, notes which
/// columns they read, and writes their SQL and parameters.
///
/// A rendered condition is TRUE if the condition is true, and else FALSE or NULL: WHERE, AND and OR treat both alike,
/// and a negation is rendered so that it does too.
struct ConditionRenderer {
    /// A condition in SQL.
    struct Rendered {
        var sql: String
        /// Whether it is never NULL.
        var isTwoValued = false
        /// Whether it needs no parentheses beside AND and OR.
        var isClosed = true

        static let always = Rendered(sql: "TRUE", isTwoValued: true)
        static let never = Rendered(sql: "FALSE", isTwoValued: true)

        var closed: String { isClosed ? sql : "(\(sql))" }

        /// The conjunction.
        static func all(_ terms: [Rendered]) -> Rendered {
            guard let first = terms.first else { return .always }
            if terms.count == 1 { return first }
            return Rendered(
                sql: terms.map(\.closed).joined(separator: " AND "), isTwoValued: terms.allSatisfy(\.isTwoValued),
                isClosed: false)
        }
    }

    static let maximumDepth = 512

    let schema: DatabaseSchema
    var parameters = Parameters()
    var places: [Place]
    /// The place at which paths begin: the object itself, or a member in a condition on members.
    var root = 0
    /// The columns and relationships read so far.
    var reads = ConditionReads()
    /// Whether the SQL holds the keys of objects, which may get others.
    var comparesObjects = false
    /// The joins after the first table of each FROM clause; the statement's own comes first.
    var joins: [String] = [""]
    private var aliases = 1
    private var depth = 0

    init(entity: Entity, schema: DatabaseSchema) {
        self.schema = schema
        places = [Place(entity: entity, scope: 0, alias: 0, label: "SELF")]
    }

    mutating func newAlias() -> Int {
        defer { aliases += 1 }
        return aliases
    }

    mutating func condition(_ node: ConditionNode) throws -> Rendered {
        guard depth < Self.maximumDepth else {
            throw KindredError(.invalidCondition, "The condition is nested more than \(Self.maximumDepth) deep")
        }
        depth += 1
        defer { depth -= 1 }
        switch node {
        case .constant(let value): return value ? .always : .never
        case .all(let nodes): return try list(nodes, " AND ", empty: .always)
        case .any(let nodes): return try list(nodes, " OR ", empty: .never)
        case .not(.not(let inner)): return try condition(inner)
        case .not(let inner): return negation(of: try condition(inner))
        // A separate function: its locals would enlarge the stack frame of every level of a deep condition.
        case .comparison, .members: return try leaf(node)
        }
    }

    private mutating func leaf(_ node: ConditionNode) throws -> Rendered {
        switch node {
        case .comparison(let comparison): try self.comparison(comparison)
        case .members(let quantifier, let path, let inner): try members(quantifier, path, inner)
        default: try condition(node)
        }
    }

    private mutating func list(_ nodes: [ConditionNode], _ separator: String, empty: Rendered) throws -> Rendered {
        guard let first = nodes.first else { return empty }
        if nodes.count == 1 { return try condition(first) }
        var sql = ""
        var isTwoValued = true
        for node in nodes {
            let part = try condition(node)
            if !sql.isEmpty { sql += separator }
            sql += part.closed
            isTwoValued = isTwoValued && part.isTwoValued
        }
        return Rendered(sql: sql, isTwoValued: isTwoValued, isClosed: false)
    }

    /// The exact complement.
    func negation(of condition: Rendered) -> Rendered {
        condition.isTwoValued
            ? Rendered(sql: "NOT \(condition.closed)", isTwoValued: true)
            : Rendered(sql: "(\(condition.sql)) IS NOT TRUE", isTwoValued: true)
    }

    func table(_ name: QualifiedName) throws -> String {
        "\(try SQLIdentifier.quote(name.schema)).\(try SQLIdentifier.quote(name.name))"
    }
}
