/// One name that was a candidate for a relationship: the rule that offered it, and what became of it.
public struct NameExplanation: Sendable, Hashable, CustomStringConvertible {
    /// The rules that offer names, in the order in which conflicts between them are settled.
    public enum Rule: Int, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
        /// Written in an annotation or in code.
        case annotation = 1
        /// One half of a constraint's name of the form `a__b`.
        case pair
        /// The constraint's name.
        case constraintName
        /// The name of the table at the other end, with `Set` for a to-many relationship.
        case tableName
        /// The foreign key's own column, less the referenced key's suffix; for a many-to-many relationship beside a direct
        /// one between the same tables, the helper's name and the table's.
        case columnName
        /// Made of schema, table and constraint; always given.
        case generated

        /// Whether the left rule's names go first.
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

    /// What became of a candidate.
    public enum Outcome: Sendable, Hashable {
        /// The relationship has it.
        case given
        /// An attribute of the entity has that name.
        case attribute
        /// Another relationship of the entity, which is named here, has it by a rule that goes first.
        case taken(by: String)
        /// Other relationships of the entity, which are named here, claim it by the same rule; none of them gets it.
        case contested(with: [String])
        /// It is kept for another relationship of the entity, which is named here, as its generated name.
        case reserved(for: String)
    }

    /// The candidate.
    public let name: String
    /// The rule that offered it.
    public let rule: Rule
    /// What became of it.
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
