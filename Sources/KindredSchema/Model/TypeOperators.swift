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

    /// The operators of the default classes, and operators of other names in the type's own schema; nil for a type
    /// without any.
    ///
    /// - Parameter rows: the operators with the type on the left.
    init?(_ type: Catalog.TypeRow, _ rows: [Catalog.Operator]) {
        func text(_ row: Catalog.Operator?) -> String? {
            guard let row else { return nil }
            let name = QualifiedName(catalog: row.schema, row.name)
            return try? row.oid == 0 ? name.quoted : name.quotedOperator
        }
        let own = rows.filter { $0.schema == type.schema }
        func named(_ symbol: Symbol) -> Catalog.Operator? {
            own.first { $0.oid != 0 && $0.name == symbol.rawValue && $0.right == type.oid }
        }
        let ordered = Dictionary(rows.map { ($0.strategy, $0) }) { first, _ in first }
        let equality = ordered[3] ?? ordered[6] ?? named(.equal)
        func row(_ symbol: Symbol) -> Catalog.Operator? {
            switch symbol {
            case .equal: equality
            case .notEqual: rows.first { $0.oid != 0 && $0.oid == equality?.negator } ?? named(.notEqual)
            case .less: ordered[1] ?? named(.less)
            case .lessOrEqual: ordered[2] ?? named(.lessOrEqual)
            case .greaterOrEqual: ordered[4] ?? named(.greaterOrEqual)
            case .greater: ordered[5] ?? named(.greater)
            case .like, .likeIgnoringCase, .matches, .matchesIgnoringCase: named(symbol)
            }
        }
        var symbols: [Symbol: String] = [:]
        for symbol in Symbol.allCases { symbols[symbol] = text(row(symbol)) }
        var aggregates: [Aggregate: String] = [:]
        for aggregate in Aggregate.allCases {
            aggregates[aggregate] = text(own.first { $0.oid == 0 && $0.name == aggregate.rawValue })
        }
        if symbols.isEmpty && aggregates.isEmpty { return nil }
        schema = QualifiedName(catalog: type.schema, type.name).schema
        (self.symbols, self.aggregates) = (symbols, aggregates)
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
