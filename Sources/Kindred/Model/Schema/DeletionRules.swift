import KindredPostgres
import KindredSchema
import Synchronization

/// The rows to examine when rows of certain entities are deleted: a pure function of the model.
///
/// Entities whose rules the database carries out are left to it, unless another part of the deletion needs to know
/// which of their rows are deleted.
struct DeletionRules: Sendable {
    private let runtime: SchemaRuntime
    private let hasHook: @Sendable (EntityRuntime) -> Bool
    /// Entities whose rows the database may delete by itself; nil if everything is examined.
    private let leftToDatabase: Set<EntityRuntime>?
    /// Whether the database does everything once the rows are deleted; of marked rows, whether no other is concerned.
    let isLeftToDatabase: Bool
    /// Whether rows are marked as deleted: they stay, and so do their references.
    let isMarking: Bool

    /// The rules for deleting rows of `roots`.
    ///
    /// - Parameter complete: whether everything is examined, including the database's own actions, as a plan or a
    ///   deletion with hooks requires.
    init(
        _ runtime: SchemaRuntime,
        roots: Set<EntityRuntime>,
        complete: Bool = false,
        hasHook: @escaping @Sendable (EntityRuntime) -> Bool = { _ in false }
    ) {
        self.runtime = runtime
        self.hasHook = hasHook
        isMarking = false
        let closures = roots.map { runtime.deletionClosure(of: $0) }
        isLeftToDatabase = !complete && closures.allSatisfy { $0.isSimple && !$0.entities.contains(where: hasHook) }
        leftToDatabase = complete ? nil : Self.leftToDatabase(runtime, from: roots, hasHook: hasHook)
    }

    /// The rules for marking rows of `roots` as deleted.
    ///
    /// A rule that deletes marks instead, a rule that denies looks at the rows that are shown, and other rules do
    /// nothing.
    init(
        marking roots: Set<EntityRuntime>, in runtime: SchemaRuntime,
        hasHook: @escaping @Sendable (EntityRuntime) -> Bool = { _ in false }
    ) {
        self.runtime = runtime
        self.hasHook = hasHook
        isMarking = true
        leftToDatabase = nil
        isLeftToDatabase = roots.allSatisfy { $0.markingSteps.isEmpty && !hasHook($0) }
    }

    /// The step that would have to mark rows which cannot be marked, if the rules reach one.
    func unmarkable(from roots: Set<EntityRuntime>) -> DeletionStep? {
        var reached = roots
        var pending = roots.sorted()
        while let entity = pending.popLast() {
            for step in entity.markingSteps where step.action != .deny {
                guard step.action == .cascade, step.destination.deletionMark != nil else { return step }
                if reached.insert(step.destination).inserted { pending.append(step.destination) }
            }
        }
        return nil
    }

    /// The reached entities whose deleted rows no other rule needs to know; nil if a hook exists.
    private static func leftToDatabase(
        _ runtime: SchemaRuntime,
        from roots: Set<EntityRuntime>,
        hasHook: (EntityRuntime) -> Bool
    ) -> Set<EntityRuntime>? {
        var reached = roots
        var pending = Array(roots)
        var asked: Set<EntityRuntime> = []
        while let entity = pending.popLast() {
            // A hook may delete any objects.
            if hasHook(entity) { return nil }
            for relationship in entity.relationships {
                for step in relationship.deletionSteps {
                    switch step.action {
                    case .cascade: if reached.insert(step.destination).inserted { pending.append(step.destination) }
                    case .deny, .refuse: asked.insert(step.destination)
                    case .cascadeWithoutKey, .nullify, .noAction: break
                    }
                }
            }
        }
        return Set(
            reached.filter { entity in
                let closure = runtime.deletionClosure(of: entity)
                return closure.isSimple && closure.entities.isDisjoint(with: asked)
                    && !entity.entity.obstacles.contains(.deleteTriggers)
            })
    }

    /// The steps of deleting an entity's rows.
    func steps(of entity: EntityRuntime) -> [DeletionStep] {
        if isMarking { return entity.markingSteps }
        return entity.relationships.flatMap { relationship -> [DeletionStep] in
            let steps = relationship.deletionSteps
            guard let leftToDatabase else { return steps }
            if relationship.isDoneByDatabase {
                guard let destination = relationship.databaseCascade, !leftToDatabase.contains(destination)
                else { return [] }
            }
            return steps.filter { $0.action != .noAction }
        }
    }

    /// Whether statements change the rows at the other end of a relationship, instead of the database's own actions.
    func isExplicit(_ relationship: RelationshipRuntime) -> Bool {
        steps(of: relationship.source).contains { step in
            guard step.relationship == relationship else { return false }
            switch step.action {
            case .cascade, .cascadeWithoutKey: return true
            case .nullify(let columns): return !columns.isEmpty
            case .deny, .refuse, .noAction: return false
            }
        }
    }

    /// The columns of an entity's rows that must be read: all of them, in order, if a hook gets an object.
    func columns(of entity: EntityRuntime) -> [Int] {
        if hasHook(entity) { return Array(entity.attributeColumns) }
        var columns = Set(entity.versionedKey)
        for step in steps(of: entity) { columns.formUnion(step.sourceColumns) }
        // The database's own actions find rows by these columns.
        for relationship in entity.relationships
        where relationship.destinationHoldsForeignKey && relationship.model.databaseAction != .noAction {
            columns.formUnion(relationship.ownColumns)
        }
        for link in runtime.countLimits?.requiredLinks(of: entity) ?? [] { columns.formUnion(link.columns) }
        for key in runtime.partitionKeys[entity] ?? [] where key.hasAction { columns.formUnion(key.referenced) }
        return columns.sorted()
    }
}

/// The entities whose rows the database deletes by its own actions together with rows of one entity, that entity
/// included.
package struct DeletionClosure: Sendable {
    let entities: Set<EntityRuntime>
    /// Whether the database's actions do everything that the rules of all these entities require.
    let isSimple: Bool
}

extension SchemaRuntime {
    /// The database's own actions when an entity's rows are deleted; computed once per entity.
    func deletionClosure(of entity: EntityRuntime) -> DeletionClosure {
        if let known = deletionClosures.withLock({ $0[entity] }) { return known }
        var found: Set<EntityRuntime> = [entity]
        var pending = [entity]
        var isSimple = true
        while let next = pending.popLast() {
            // The deleted rows must be known if owners have limits.
            if countLimits?.requiredLinks(of: next).isEmpty == false { isSimple = false }
            for relationship in next.relationships {
                if !relationship.isDoneByDatabase { isSimple = false }
                guard let destination = relationship.databaseCascade else { continue }
                // A trigger may keep rows that the database's own action would delete.
                if destination.entity.obstacles.contains(.deleteTriggers) { isSimple = false }
                if found.insert(destination).inserted { pending.append(destination) }
            }
        }
        let made = DeletionClosure(entities: found, isSimple: isSimple)
        deletionClosures.withLock { $0[entity] = made }
        return made
    }
}
