import KindredSchema

/// A step of deleting an entity's rows, required by one relationship beyond the database's own actions.
struct DeletionStep: Sendable {
    enum Action: Sendable, Equatable {
        /// The rows at the other end are deleted too.
        case cascade
        /// They are deleted too, found by the relationship alone, because they have no key.
        case cascadeWithoutKey
        /// They forbid the deletion unless they are deleted themselves.
        case deny
        /// Their given columns become NULL, unless they are deleted themselves; no columns if the database sets
        /// defaults.
        case nullify([Int])
        /// Their foreign key may not become NULL: they forbid the deletion unless they are deleted themselves.
        case refuse
        /// Does nothing; only listed by a plan.
        case noAction
    }

    let relationship: RelationshipRuntime
    let action: Action
    /// The entity whose rows are deleted, and its columns that find the other rows.
    let source: Int
    let sourceColumns: [Int]
    /// The entity at the other end, and its columns that are compared with the source's; the helper's if there is one.
    let destination: Int
    let destinationColumns: [Int]
    /// The helper that leads to the other end; nil if the other end itself is compared.
    var helper: RelationshipRuntime.HelperLink?

    /// Whether the step forbids the deletion if any row is left at the other end.
    var isCheck: Bool { action == .deny || action == .refuse }
}

extension SchemaRuntime {
    /// Whether the database's own actions do everything that a relationship's rule requires.
    func isDoneByDatabase(_ relationship: RelationshipRuntime) -> Bool {
        let rule = relationship.model.deleteRule
        if rule == .noAction { return true }
        switch relationship.link {
        case .foreignKey: return rule == .nullify
        case .referenced:
            switch relationship.model.databaseAction {
            case .cascade: return rule == .cascade
            case .setNull, .setDefault: return rule == .nullify
            case .noAction: return false
            }
        case .helper(let link): return rule == .nullify && actionOnHelper(link, relationship.source) == .cascade
        }
    }

    /// The entity whose rows the database's own action deletes for a relationship's rule.
    func databaseCascade(_ relationship: RelationshipRuntime) -> Int? {
        guard isDoneByDatabase(relationship) else { return nil }
        switch (relationship.link, relationship.model.deleteRule) {
        case (.referenced, .cascade): return relationship.destination
        case (.helper(let link), .nullify): return link.entity
        default: return nil
        }
    }

    /// The database's action on helper rows when their source is deleted.
    private func actionOnHelper(_ link: RelationshipRuntime.HelperLink, _ source: Int) -> DatabaseAction {
        entities[link.entity].foreignKeys
            .first { $0.destination == source && $0.ownColumns == link.sourceColumns }?.model.databaseAction
            ?? .noAction
    }

    /// The steps of a relationship's rule, including steps that the database would take.
    func deletionSteps(_ relationship: RelationshipRuntime) -> [DeletionStep] {
        // The tables' own relationships cover it: a view shows the tables' rows.
        if relationship.model.isByView { return [] }
        let rule = relationship.model.deleteRule
        let destination = entities[relationship.destination]
        func step(_ action: DeletionStep.Action, _ own: [Int], _ columns: [Int]) -> DeletionStep {
            DeletionStep(
                relationship: relationship, action: action, source: relationship.source, sourceColumns: own,
                destination: relationship.destination, destinationColumns: columns)
        }
        let cascade = destination.key.isEmpty ? DeletionStep.Action.cascadeWithoutKey : .cascade
        switch relationship.link {
        case .foreignKey(let columns, let referenced):
            switch rule {
            case .cascade: return [step(cascade, columns, referenced)]
            case .deny: return [step(.deny, columns, referenced)]
            // The row is deleted, and its foreign key with it.
            case .nullify, .noAction: return []
            }
        case .referenced(let referenced, let columns):
            switch rule {
            case .cascade: return [step(cascade, referenced, columns)]
            case .deny: return [step(.deny, referenced, columns)]
            case .noAction: return [step(.noAction, referenced, columns)]
            case .nullify:
                if relationship.model.databaseAction == .setDefault { return [step(.nullify([]), referenced, columns)] }
                var cleared = relationship.model.clearedColumns.compactMap { destination.attributeIndex(of: $0) }
                if relationship.model.databaseAction != .setNull {
                    // As when a member leaves: columns shared with other keys stay.
                    let own = destination.ownColumns(of: columns)
                    cleared.removeAll { !own.contains($0) }
                }
                return [step(cleared.isEmpty ? .refuse : .nullify(cleared), referenced, columns)]
            }
        case .helper(let link):
            let rows = DeletionStep(
                relationship: relationship, action: .cascade, source: relationship.source, sourceColumns: link.source,
                destination: link.entity, destinationColumns: link.sourceColumns)
            func partners(_ action: DeletionStep.Action) -> DeletionStep {
                var step = step(action, link.source, link.sourceColumns)
                step.helper = link
                return step
            }
            switch rule {
            case .nullify: return [rows]
            case .cascade: return [partners(.cascade), rows]
            // Helper rows with a payload are deleted only if a rule says so.
            case .deny:
                return relationship.model.helper?.payload.isEmpty ?? true ? [partners(.deny), rows] : [partners(.deny)]
            case .noAction: return []
            }
        }
    }
}
