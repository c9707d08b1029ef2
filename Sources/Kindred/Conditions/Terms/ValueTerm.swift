import KindredPostgres
import KindredSchema

/// A value in a statement: its columns are found, its types are checked, and its constants are parameters.
enum ValueTerm: Sendable {
    case column(RowColumn)
    /// An element of the array that is expanded under an alias.
    case element(alias: Int)
    case parameter(Parameter)
    /// The value that an inner query selects.
    case inner
    /// No value: only a type is known, as which another value is bound.
    case absent
    /// A value as another type, by the type's name in SQL.
    indirect case cast(ValueTerm, to: String)
    /// A value that is NULL unless the other values are not NULL.
    indirect case guarded([ValueTerm], ValueTerm)
    indirect case negative(ValueTerm)
    indirect case calculation(ValueTerm, String, ValueTerm)
    /// The value at a path of keys in a JSON document, as text.
    indirect case json(JSONPart)
    /// The value at a path in a JSON document, as a number or truth value; NULL for a value of another type.
    indirect case jsonValue(JSONPart, JSONKind)
    indirect case function(String, ValueTerm)
    /// The first value, or the second one where that is NULL.
    indirect case coalesced(ValueTerm, ValueTerm)
    case countOfRows
    /// A value that a subquery selects from members.
    indirect case ofMembers(ValueTerm, MemberRows)
    /// The moment at which a row was marked as deleted; the transaction's moment, as a type, if it was not marked.
    case mark(RowColumn, type: String)
    /// The tenant of the context, as a type.
    case tenant(type: String)

    /// A part of a JSON document.
    struct JSONPart: Sendable {
        let document: ValueTerm
        let path: Parameter
        let isBinary: Bool
    }
}

/// The setting that holds the tenant of a context, in the transaction of each of its statements.
///
/// The text of a statement is the same for all tenants, and the value is a parameter of the statement in front that sets it.
/// Without the setting the server refuses the statement.
enum TenantSetting {
    static let name = "kindred.tenant"

    /// The tenant as a type; a subquery, so that the server reads it once in a statement, and not for each row.
    static func value(as type: String) -> String { "(SELECT pg_catalog.current_setting('kindred.tenant')::\(type))" }

    /// The type as which the tenant is compared with a column.
    static func type(for attribute: Attribute) -> String {
        attribute.comparedType ?? Attribute.castName(of: attribute.sqlType)
    }
}

/// A column of a row in a statement.
struct RowColumn: Sendable {
    /// The number of the row's alias, or one of ``RowAlias``.
    let alias: Int
    let name: String
    /// The type to which it is cast, where PostgreSQL compares no values of its own.
    let comparedType: String?
}

/// A table in a FROM clause, with the rows of it that are meant.
struct RowSource: Sendable {
    let table: QualifiedName
    let alias: Int
    /// Its conditions are written together with the conditions that join the rows.
    let scope: RowScope
    /// Whether rows of inheriting tables are left out.
    let isOnly: Bool

    /// - Parameter entity: the table's; nil for a table that is no entity.
    init(_ table: QualifiedName, _ entity: Entity?, alias: Int, scope: RowScope) {
        (self.table, self.alias, self.scope) = (table, alias, scope)
        isOnly = scope.tables == .own && entity?.rowTables != nil
    }
}

/// A row that is joined to the earlier rows of a FROM clause.
struct RowJoin: Sendable {
    enum Kind: Sendable {
        /// A row without the other is left out.
        case inner
        /// A row without the other stays.
        case left
        /// Only one of several rows is joined.
        case one
    }

    let kind: Kind
    let source: RowSource
    /// The column that `*` leaves out, and that tells the row's table.
    let hidden: String?
    let condition: [ConditionTerm]
}

/// The members of a to-many relationship in a subquery, those alone that fulfil a condition.
struct MemberRows: Sendable {
    let source: RowSource
    /// The members are the owner's.
    var link: [ConditionTerm]
    var joins: [RowJoin] = []
    var condition: ConditionTerm?
}
