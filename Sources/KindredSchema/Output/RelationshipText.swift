import KindredPostgres

// Texts about a relationship for `kindred inspect` and a diagram's site.
extension Relationship {
    /// The columns compared, from the source to the destination: `email.person_id = person.id`.
    package var comparedColumns: String {
        func list(_ columns: [String], of entity: QualifiedName) -> String {
            columns.count == 1 ? "\(entity.name).\(columns[0])" : "\(entity.name) (\(columns.joined(separator: ", ")))"
        }
        let source = list(columns, of: source)
        let destination = list(destinationColumns, of: destination)
        guard let helper else { return "\(source) = \(destination)" }
        return "\(source) = \(list(helper.sourceColumns, of: helper.entity)), "
            + "\(list(helper.destinationColumns, of: helper.entity)) = \(destination)"
    }

    /// The effect of deleting a row of the source.
    package var deletion: String { "when a row of \(source.name) is deleted: \(deleteRule.words)" }
}

extension Relationship.Kind {
    /// The kind in words.
    package var words: String {
        switch self {
        case .oneToOne: "one-to-one"
        case .oneToMany: "one-to-many"
        case .manyToOne: "many-to-one"
        case .manyToMany: "many-to-many"
        }
    }
}

extension DeleteRule {
    /// The rule in words.
    package var words: String {
        switch self {
        case .nullify: "nullify"
        case .cascade: "cascade"
        case .deny: "deny"
        case .noAction: "no action"
        }
    }
}
