import KindredPostgres

/// The operators of a type that is not built in, with their schemas, as SQL writes them: a name alone would be looked up in the
/// session's search path, and may find another operator, or none.
///
/// Instances are immutable and compared by value; the columns of a type share one.
package final class TypeOperators: Sendable {
    /// An operator by the name that it has for built-in types.
    package enum Symbol: String, Sendable, CaseIterable {
        case equal = "="
        case notEqual = "<>"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
        case like = "~~"
        case likeIgnoringCase = "~~*"
        case matches = "~"
        case matchesIgnoringCase = "~*"
    }

    /// An aggregate that the type may have in its own schema.
    package enum Aggregate: String, Sendable, CaseIterable {
        case minimum = "min"
        case maximum = "max"
    }

    /// The schema of the type.
    package let schema: String
    private let symbols: [Symbol: String]
    private let aggregates: [Aggregate: String]

    /// `OPERATOR("ext".=)`; nil where the type has no such operator of its own.
    package subscript(symbol: Symbol) -> String? { symbols[symbol] }

    /// `"ext"."min"`; nil where the schema has no such aggregate of the type.
    package subscript(aggregate: Aggregate) -> String? { aggregates[aggregate] }

    /// - Parameters:
    ///   - schema: the schema of the type.
    ///   - symbols: its own operators, as SQL writes them.
    ///   - aggregates: the aggregates of its schema, quoted.
    init(schema: String, symbols: [Symbol: String], aggregates: [Aggregate: String]) {
        self.schema = schema
        self.symbols = symbols
        self.aggregates = aggregates
    }
}

extension TypeOperators: Hashable {
    /// Whether both have the same operators.
    package static func == (left: TypeOperators, right: TypeOperators) -> Bool {
        left === right
            || left.schema == right.schema && left.symbols == right.symbols && left.aggregates == right.aggregates
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(schema) }
}
