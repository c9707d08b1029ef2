package import KindredPostgres

/// A condition as a tree, common to all forms of writing one.
package indirect enum ConditionNode: Sendable {
    case constant(Bool)
    case all(ConditionList)
    case any(ConditionList)
    case not(ConditionNode)
    case comparison(ConditionComparison)
    case members(ConditionComparison.Quantifier, MemberCondition)
    /// A condition in which columns of a scope belong to the innermost object around it.
    case scoped(ColumnScope, ConditionNode)
}

/// One comparison, possibly over the members of a to-many relationship.
package struct ConditionComparison: Sendable {
    /// How the members at the left side are combined.
    package enum Quantifier: String, Sendable {
        case anyMember = "ANY"
        case allMembers = "ALL"
        case noMember = "NONE"
    }

    package enum Operator: String, Sendable {
        case equal = "=="
        case notEqual = "!="
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case between = "BETWEEN"
        case isIn = "IN"
        case like = "LIKE"
        case matches = "MATCHES"
        case beginsWith = "BEGINSWITH"
        case endsWith = "ENDSWITH"
        case contains = "CONTAINS"
        case search = "SEARCH"
    }

    package var left: ConditionExpression
    package var operation: Operator
    package var right: ConditionExpression
    package var quantifier: Quantifier?
    package var ignoresCase: Bool
    /// The configuration of a full-text search; nil for the server's default.
    package var configuration: String?
    /// Whether members count that their filter hides.
    package var isUnfiltered = false
    /// A word such as NO, which is a value or a key, if it is a format's whole left side.
    package var leftWord: String?
    /// The place of a format's argument, if it is the whole right side.
    package var argument: Int?

    package init(
        _ left: ConditionExpression,
        _ operation: Operator,
        with right: ConditionExpression,
        quantifier: Quantifier? = nil,
        ignoresCase: Bool = false
    ) {
        self.left = left
        self.operation = operation
        self.right = right
        self.quantifier = quantifier
        self.ignoresCase = ignoresCase
    }
}

/// An operand of a comparison.
package indirect enum ConditionExpression: Sendable {
    package enum Arithmetic: String, Sendable {
        case plus = "+"
        case minus = "-"
        case times = "*"
        case divide = "/"
        case power = "**"
        case remainder = "%"
    }

    case path(ConditionPath)
    /// The number of members that a path leads to.
    case count(ConditionPath)
    /// A value of the members that fulfil a condition.
    case ofMembers(MemberValue)
    /// A value in which columns of a scope belong to the innermost object around it.
    case scoped(ColumnScope, ConditionExpression)
    /// The value at a path of keys in a JSON value, as text.
    case json(ConditionExpression, [String])
    /// The number or truth value at a path of keys in a JSON value; NULL for a value of another type.
    case jsonValue(ConditionExpression, [String], JSONKind)
    /// An error found where none could be thrown.
    case invalid(KindredError)
    /// A value, bound as a parameter; nil for NULL and for no object.
    case value(PostgresValue?)
    /// Values, bound as one parameter.
    case values([PostgresValue?])
    /// Expressions in braces.
    case list([ConditionExpression])
    case object(any ObjectReference)
    case objects([any ObjectReference])
    case arithmetic(Arithmetic, ConditionExpression, ConditionExpression)
    case negative(ConditionExpression)
    /// A value computed from the rows of a group.
    case total(AggregateTerm)
    /// The first value, or the second one where that is NULL.
    case coalesced(ConditionExpression, ConditionExpression)
    /// Two texts, one after the other.
    case joined(ConditionExpression, ConditionExpression)
}

/// A kind of JSON values that a type of SQL has.
package enum JSONKind: String, Sendable {
    case number, boolean

    /// The type as which a value of the kind is compared.
    var type: PostgresDataType {
        switch self {
        case .number: .numeric
        case .boolean: .bool
        }
    }
}
