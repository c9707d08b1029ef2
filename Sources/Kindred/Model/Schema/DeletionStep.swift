import KindredPostgres
import KindredSchema

/// A step of deleting an entity's rows, required by one relationship beyond the database's own actions.
struct DeletionStep: Sendable {
    enum Action: Sendable, Equatable {
        /// The rows at the other end are deleted, too.
        case cascade
        /// The rows at the other end are deleted, too; the relationship alone finds them, because they have no key.
        case cascadeWithoutKey
        /// The rows at the other end forbid the deletion unless they are deleted themselves.
        case deny
        /// The given columns of the rows at the other end become NULL, unless the rows are deleted themselves; no
        /// columns if the database sets defaults.
        case nullify([Int])
        /// The foreign key of the rows at the other end may not become NULL: they forbid the deletion unless they are
        /// deleted themselves.
        case refuse
        /// Does nothing; only listed by a plan.
        case noAction
    }

    let relationship: RelationshipRuntime
    let action: Action
    /// The entity whose rows are reached: the entity at the other end, or the helper's.
    let destination: EntityRuntime
    /// The helper that leads to the other end; nil if the reached rows themselves are compared.
    var helper: RelationshipRuntime.HelperLink?

    /// The entity whose rows are deleted.
    var source: EntityRuntime { relationship.source }
    /// Its columns that find the other rows.
    var sourceColumns: [Int] { relationship.ownColumns }
    /// The columns that are compared with the source's, of the other end; of the helper if there is one.
    var destinationColumns: [Int] { relationship.linkColumns }

    /// Whether the step forbids the deletion if any row is left at the other end.
    var isCheck: Bool { action == .deny || action == .refuse }
}

extension EntityRuntime {
    /// The steps of marking a row as deleted: its references stay, and so do rows of helpers without a mark.
    var markingSteps: [DeletionStep] {
        relationships.flatMap { relationship in
            relationship.deletionSteps.filter { step in
                switch step.action {
                case .deny: true
                case .cascade, .cascadeWithoutKey:
                    (relationship.helper == nil || step.helper != nil)
                        && (step.destination.helperEnds.isEmpty || step.destination.deletionMark != nil)
                case .nullify, .refuse, .noAction: false
                }
            }
        }
    }
}

extension RelationshipRuntime {
    /// Whether the helper's rows say more than that the pair exists, and whose it is.
    private var hasPayload: Bool {
        guard let helper, let payload = model.helper?.payload else { return false }
        let tenants: String? = helper.entity.tenantColumn.map { helper.entity.entity.attributes[$0].name }
        return !payload.allSatisfy { $0 == tenants }
    }

    /// The rule when the source is deleted.
    private var deleteRule: DeleteRule {
        hasPayload ? model.deleteRule : model.helper?.ruleWithoutPayload ?? model.deleteRule
    }

    /// Whether the database's own actions do everything that the relationship's rule requires.
    var isDoneByDatabase: Bool {
        let rule = deleteRule
        if rule == .noAction { return true }
        if let helper { return rule == .nullify && actionOnHelper(helper) == .cascade }
        if holdsForeignKey { return rule == .nullify }
        switch model.databaseAction {
        case .cascade: return rule == .cascade
        case .setNull, .setDefault: return rule == .nullify
        case .noAction: return false
        }
    }

    /// The entity whose rows the database's own action deletes for the relationship's rule.
    var databaseCascade: EntityRuntime? {
        guard isDoneByDatabase else { return nil }
        if let helper { return deleteRule == .nullify ? helper.entity : nil }
        return !holdsForeignKey && deleteRule == .cascade ? destination : nil
    }

    /// The database's action on helper rows when their source is deleted.
    private func actionOnHelper(_ helper: HelperLink) -> DatabaseAction {
        helper.entity.foreignKeys
            .first { $0.destination == source && $0.ownColumns == helper.sourceColumns }?.model.databaseAction
            ?? .noAction
    }

    /// The steps of the relationship's rule, including steps that the database would take.
    var deletionSteps: [DeletionStep] {
        // The tables' own relationships cover it: a view shows the tables' rows.
        if model.isByView { return [] }
        let rule = deleteRule
        func step(_ action: DeletionStep.Action) -> DeletionStep {
            DeletionStep(relationship: self, action: action, destination: destination, helper: helper)
        }
        let cascade = destination.key.isEmpty ? DeletionStep.Action.cascadeWithoutKey : .cascade
        if let helper {
            let rows = DeletionStep(relationship: self, action: .cascade, destination: helper.entity)
            switch rule {
            case .nullify: return [rows]
            case .cascade: return [step(.cascade), rows]
            // Helper rows with a payload are deleted only if a rule says so.
            case .deny: return hasPayload ? [step(.deny)] : [step(.deny), rows]
            case .noAction: return []
            }
        }
        switch rule {
        case .cascade: return [step(cascade)]
        case .deny: return [step(.deny)]
        // The row is deleted, and its foreign key with it.
        case .nullify where holdsForeignKey, .noAction where holdsForeignKey: return []
        case .noAction: return [step(.noAction)]
        case .nullify:
            if model.databaseAction == .setDefault { return [step(.nullify([]))] }
            var cleared = model.clearedColumns.compactMap { destination.attributeIndex(of: $0) }
            if model.databaseAction != .setNull {
                // As when a member leaves: columns shared with other keys stay.
                let own = destination.ownColumns(of: otherColumns)
                cleared.removeAll { !own.contains($0) }
            }
            return [step(cleared.isEmpty ? .refuse : .nullify(cleared))]
        }
    }
}
