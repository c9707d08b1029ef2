import KindredPostgres

/// When the server checks a foreign key.
package enum CheckTime: Sendable, Hashable {
    /// After each statement.
    case statement
    /// After each statement, unless `SET CONSTRAINTS` defers these constraints.
    case choice([QualifiedName])
    /// When the transaction ends.
    case transaction

    /// The constraints to defer, so that it is checked when the transaction ends.
    package var constraints: [QualifiedName] {
        if case .choice(let constraints) = self { constraints } else { [] }
    }

    /// The time of two constraints that compare the same columns.
    func joined(with other: CheckTime) -> CheckTime {
        switch (self, other) {
        case (.statement, _), (_, .statement): .statement
        case (.transaction, .transaction): .transaction
        default: .choice(constraints + other.constraints)
        }
    }
}
