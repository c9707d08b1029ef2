import KindredPostgres

/// A candidate name of a relationship: the rule that offered it, and the outcome.
public struct NameExplanation: Sendable, Hashable, CustomStringConvertible {
    /// The rules that offer names, in order of precedence.
    public enum Rule: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
        /// Written in an annotation or in code.
        case annotation = 1
        /// One half of a constraint's name of the form `a__b`.
        case pair
        /// The constraint's name.
        case constraintName
        /// The name of the table at the other end, with `Set` for a to-many relationship.
        case tableName
        /// The foreign key's own column without the referenced key's suffix; for a many-to-many relationship beside a
        /// direct relationship between the same tables, or beside another many-to-many relationship by a column of the
        /// same name, the helper's name and the table's.
        case columnName
        /// Generated from schema, table and constraint; always assigned.
        case generated

        /// Whether the left rule takes precedence.
        public static func < (left: Self, right: Self) -> Bool {
            left.rawValue < right.rawValue
        }

        /// The rule in words.
        public var description: String {
            switch self {
            case .annotation: "annotation"
            case .pair: "half of the constraint's name"
            case .constraintName: "constraint name"
            case .tableName: "table name"
            case .columnName: "column name"
            case .generated: "generated"
            }
        }
    }

    /// The outcome of a candidate.
    public enum Outcome: Sendable, Hashable {
        /// It is assigned to the relationship.
        case given
        /// An attribute of the entity has that name.
        case attribute
        /// Another relationship of the entity, named here, has it by a rule with precedence.
        case taken(by: String)
        /// Other relationships of the entity, named here, claim it by the same rule, so that none gets it; or several of them
        /// do by a rule with precedence, so that no third one gets it.
        case contested(with: [String])
        /// It is reserved for another relationship of the entity, named here, as its generated name.
        case reserved(for: String)
    }

    /// The candidate.
    public let name: String
    /// The rule that offered it.
    public let rule: Rule
    /// The outcome.
    public let outcome: Outcome

    /// Whether the relationship has this name.
    public var isGiven: Bool {
        outcome == .given
    }

    /// One line for people, such as `person (table name): an attribute has this name`.
    public var description: String {
        switch outcome {
        case .given: "\(name) (\(rule))"
        case .attribute: "\(name) (\(rule)): an attribute has this name"
        case .taken(let owner): "\(name) (\(rule)): already the name of \(owner)"
        case .contested(let others): "\(name) (\(rule)): also claimed by \(others.joined(separator: ", "))"
        case .reserved(let owner): "\(name) (\(rule)): kept for \(owner)"
        }
    }
}
