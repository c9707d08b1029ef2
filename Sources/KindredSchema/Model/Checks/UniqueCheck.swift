import KindredPostgres

/// A unique constraint or index that the server checks row by row, so that the order of writes matters.
package struct UniqueCheck: Hashable, Sendable {
    package var columns: [String]
    /// Whether rows with NULL in one of the columns never conflict; false for `NULLS NOT DISTINCT`.
    package var areNullsDistinct = true
    /// The rows in a partial index; nil for all.
    package var predicate: RowPredicate?

    package init(columns: [String], areNullsDistinct: Bool = true, predicate: RowPredicate? = nil) {
        self.columns = columns
        self.areNullsDistinct = areNullsDistinct
        self.predicate = predicate
    }
}

/// The key columns of a partial unique index.
package struct PartialKey: Sendable {
    package let columns: [String]
    /// The condition of the index, as `pg_get_expr` writes it.
    package let predicate: String

    package init(columns: [String], predicate: String) {
        self.columns = columns
        self.predicate = predicate
    }
}

extension PartialKey: Equatable {
    /// Compares conditions as far as they can be evaluated in memory: their texts depend on the search path of the reading session.
    package static func == (left: PartialKey, right: PartialKey) -> Bool {
        left.columns == right.columns && RowPredicate(left.predicate) == RowPredicate(right.predicate)
    }
}

/// A UNIQUE or EXCLUDE constraint that is checked after each statement, unless `SET CONSTRAINTS` defers it by name.
package struct DeferrableConstraint: Hashable, Sendable {
    package let name: QualifiedName
    /// Empty if the constraint has expressions.
    package let columns: [String]
}

/// The condition of a partial index, as far as it can be evaluated in memory.
package struct RowPredicate: Hashable, Sendable {
    package enum Test: Hashable, Sendable {
        case isNull
        case isNotNull
        case isTrue
        case isFalse
        /// The text of a constant.
        case equals(String)
    }

    package struct Term: Hashable, Sendable {
        package let column: String
        package let test: Test

        package init(column: String, test: Test) {
            self.column = column
            self.test = test
        }
    }

    /// The terms that every row of the index satisfies; nil if the condition has anything else.
    package let terms: [Term]?

    /// Reads a condition as `pg_get_expr` writes it: comparisons of columns with NULL or a constant, and booleans, joined by AND.
    package init(_ text: String) {
        terms = Self.terms(of: ExpressionCondition(text))
    }

    /// The columns that the condition requires to be NOT NULL; nil if it requires anything else.
    var notNullColumns: [String]? {
        guard let terms, terms.allSatisfy({ $0.test == .isNotNull }) else { return nil }
        return terms.map(\.column)
    }

    private static func terms(of condition: ExpressionCondition) -> [Term]? {
        switch condition {
        case .and(let conditions):
            var all: [Term] = []
            for condition in conditions {
                guard let terms = terms(of: condition) else { return nil }
                all += terms
            }
            return all
        case .isNull(let operands): return term(operands, .isNull)
        case .isNotNull(let operands): return term(operands, .isNotNull)
        case .isTrue(let operand): return term([operand], .isTrue)
        case .not(.isTrue(let operand)): return term([operand], .isFalse)
        case .equals(let operand, let constant):
            // Other casts change a value's text: 1.4 becomes 1.
            guard operand.casts.allSatisfy(textTypes.contains) else { return nil }
            return [Term(column: operand.column, test: .equals(constant))]
        case .always, .or, .not, .unknown: return nil
        }
    }

    private static func term(_ operands: [ExpressionCondition.Operand], _ test: Test) -> [Term]? {
        guard operands.count == 1, operands[0].casts.isEmpty else { return nil }
        return [Term(column: operands[0].column, test: test)]
    }

    private static let textTypes: Set = ["text", "character varying", "bpchar", "char"]
}
