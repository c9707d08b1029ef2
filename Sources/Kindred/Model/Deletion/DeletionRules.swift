import KindredSchema
import Synchronization

/// What has to be looked at when rows of certain entities are deleted: pure, from the model alone.
///
/// Entities whose rules the database carries out by itself are left to it, as long as nothing else in the deletion asks
/// which of their rows go.
struct DeletionRules: Sendable {
    private let runtime: SchemaRuntime
    private let hasHook: @Sendable (Int) -> Bool
    /// Entities whose rows the database may delete without being told; nil where everything is to be looked at.
    private let leftToDatabase: Set<Int>?
    /// Whether the database does everything by itself once the rows are deleted.
    let isLeftToDatabase: Bool

    /// The rules for deleting rows of `roots`.
    ///
    /// - Parameter complete: whether everything is looked at, also what the database does by itself, as a plan or a
    ///   deletion with hooks has to.
    init(
        _ runtime: SchemaRuntime,
        roots: Set<Int>,
        complete: Bool = false,
        hasHook: @escaping @Sendable (Int) -> Bool = { _ in false }
    ) {
        self.runtime = runtime
        self.hasHook = hasHook
        let closures = roots.map { runtime.deletionClosure(of: $0) }
        isLeftToDatabase = !complete && closures.allSatisfy { $0.isSimple && !$0.entities.contains(where: hasHook) }
        leftToDatabase = complete ? nil : Self.prunable(runtime, roots, hasHook)
    }

    /// Finds what everything that is looked at asks for, and leaves out the entities that nobody asks about.
    private static func prunable(
        _ runtime: SchemaRuntime,
        _ roots: Set<Int>,
        _ hasHook: (Int) -> Bool
    ) -> Set<Int>? {
        var reached = roots
        var pending = Array(roots)
        var asked: Set<Int> = []
        while let entity = pending.popLast() {
            // A hook may delete whatever it likes.
            if hasHook(entity) { return nil }
            for relationship in runtime.entities[entity].relationships {
                for step in runtime.deletionSteps(relationship) {
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
            })
    }

    /// What deleting rows of an entity asks for.
    func steps(of entity: Int) -> [DeletionStep] {
        runtime.entities[entity].relationships.flatMap { relationship -> [DeletionStep] in
            let steps = runtime.deletionSteps(relationship)
            guard let leftToDatabase else { return steps }
            if runtime.isDoneByDatabase(relationship) {
                guard let destination = runtime.databaseCascade(relationship), !leftToDatabase.contains(destination)
                else { return [] }
            }
            return steps.filter { $0.action != .noAction }
        }
    }

    /// Whether the rows at the other end of a relationship are changed by statements, not left to the database.
    func isExplicit(_ relationship: RelationshipRuntime) -> Bool {
        steps(of: relationship.source).contains { step in
            guard step.relationship.slot == relationship.slot else { return false }
            switch step.action {
            case .cascade, .cascadeWithoutKey: return true
            case .nullify(let columns): return !columns.isEmpty
            case .deny, .refuse, .noAction: return false
            }
        }
    }

    /// The columns of an entity's rows that have to be known: all of them, in order, where a hook gets an object.
    func columns(of entity: Int) -> [Int] {
        let entity = runtime.entities[entity]
        if hasHook(entity.index) { return Array(entity.attributeColumns) }
        var columns = Set(entity.versionedKey)
        for step in steps(of: entity.index) { columns.formUnion(step.sourceColumns) }
        // By these the database finds the rows that it changes by itself.
        for relationship in entity.relationships {
            guard case .referenced(let referenced, _) = relationship.link,
                relationship.model.databaseAction != .noAction
            else { continue }
            columns.formUnion(referenced)
        }
        for link in runtime.countLimits?.requiredLinks(of: entity.index) ?? [] { columns.formUnion(link.columns) }
        for key in runtime.partitionKeys[entity.index] ?? [] where key.hasAction { columns.formUnion(key.referenced) }
        return columns.sorted()
    }
}

/// The entities whose rows the database deletes by itself with those of one entity, that one included.
package struct DeletionClosure: Sendable {
    let entities: Set<Int>
    /// Whether the database does for all of them everything that their rules ask for.
    let isSimple: Bool
}

extension SchemaRuntime {
    /// What the database does by itself when rows of an entity go; found once per entity.
    func deletionClosure(of entity: Int) -> DeletionClosure {
        if let known = deletionClosures.withLock({ $0[entity] }) { return known }
        var found: Set<Int> = [entity]
        var pending = [entity]
        var isSimple = true
        while let next = pending.popLast() {
            // Whose rows go has to be known where owners need them.
            if countLimits?.requiredLinks(of: next).isEmpty == false { isSimple = false }
            for relationship in entities[next].relationships {
                if !isDoneByDatabase(relationship) { isSimple = false }
                if let destination = databaseCascade(relationship), found.insert(destination).inserted {
                    pending.append(destination)
                }
            }
        }
        let made = DeletionClosure(entities: found, isSimple: isSimple)
        deletionClosures.withLock { $0[entity] = made }
        return made
    }
}
