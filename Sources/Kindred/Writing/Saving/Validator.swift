import KindredPostgres
import KindredSchema
import Synchronization

/// Checks the objects of a save before anything is sent.
struct Validator: Sendable {
    private let core: ContextCore

    init(_ core: ContextCore) { self.core = core }

    /// All problems that keep objects from being saved, by object and key.
    func problems(of objects: [DatabaseObject]) async throws -> [KindredError.Problem] {
        var problems: [KindredError.Problem] = []
        var asked: Set<ServerText> = []
        for object in objects where core.awakes(object.runtime, object) || !isPlainlyRight(object) {
            let (row, box, isNew) = object.withState { ($0.row, $0.stagingBox, $0.status == .inserted) }
            guard let box, !box.staging.isDeletion else { continue }
            if !box.staging.problems.isEmpty {
                for (key, error) in box.staging.problems.sorted(by: { $0.key < $1.key }) {
                    problems.append(object.problem(error.code, error.message, key: key.text))
                }
            }
            let known = problems.count
            try appendProblems(of: object, row, box, isNew: isNew, to: &problems)
            if problems.count > known {
                let unknown = problems[known...].filter { $0.code == .unknownLabel }.compactMap(\.key)
                let columns = unknown.filter { asked.insert("\(object.runtime.index) \($0)" as String) }
                    .compactMap { object.runtime.attributeIndex(of: $0) }
                if !columns.isEmpty {
                    try await EnumLabels(core).read(columns, of: object.runtime)
                    problems.removeSubrange(known...)
                    try appendProblems(of: object, row, box, isNew: isNew, to: &problems)
                }
            }
            // The program's own checks run only if every required value is present.
            let isComplete = problems.count == known || problems[known...].allSatisfy { !$0.isMissing }
            if isComplete, core.awakes(object.runtime, object) { problems += ownProblems(of: object) }
        }
        // Last, to include mistakes in the program's own checks.
        return problems + mistakes()
    }

    /// Adds the problems of an object's attributes: missing values, values that are too large, unknown enum labels.
    private func appendProblems(
        of object: DatabaseObject,
        _ row: Row,
        _ box: StagingBox,
        isNew: Bool,
        to problems: inout [KindredError.Problem]
    ) throws {
        let entity = object.runtime
        for column in entity.requiredColumns where row.isNull(at: column) {
            if isNew ? entity.mayFillNewRows : !box.staging.columns.contains(column) { continue }
            let attribute = entity.entity.attributes[column]
            if isNew, attribute.hasDefault, !box.staging.columns.contains(column) { continue }
            let links = entity.foreignKeys.filter { $0.ownColumns.contains(column) }
            if links.contains(where: { box.staging.destinations[$0.slot] != nil }) { continue }
            if let relationship = links.first {
                problems.append(
                    object.problem(
                        .requiredRelationship,
                        "\(object) needs an object for \"\(relationship.model.name)\": \(entity.label(of: column)) may not be NULL",
                        key: relationship.model.name
                    )
                )
            } else {
                problems.append(
                    object.problem(
                        .missingValue,
                        "\(object) needs a value for \(entity.label(of: column)), which may not be NULL",
                        key: attribute.name
                    )
                )
            }
        }
        for limits in entity.limits where box.staging.columns.contains(limits.column) {
            let labels = entity.readLabels.withLock { $0[limits.column] ?? [] }
            guard let value = try row[limits.column], let problem = limits.problem(value, added: labels) else {
                continue
            }
            let name = entity.entity.attributes[limits.column].name
            problems.append(
                object.problem(problem.code, "\(object).\(name) cannot have the value: \(problem.reason)", key: name)
            )
        }
    }

    /// Whether nothing that is staged can be a problem: no value is missing, and none has limits.
    private func isPlainlyRight(_ object: DatabaseObject) -> Bool {
        let entity = object.runtime
        return object.withState { state in
            guard let box = state.stagingBox else { return true }
            if !box.staging.problems.isEmpty { return false }
            for column in entity.requiredColumns where state.row.isNull(at: column) {
                if state.status == .inserted || box.staging.columns.contains(column) { return false }
            }
            return entity.limitedColumns.isDisjoint(with: box.staging.columns)
        }
    }

    /// The mistakes that could not be thrown, such as the reading of an unknown key; each is reported once.
    func mistakes() -> [KindredError.Problem] {
        let mistakes = core.mistakes.withLock { mistakes in
            defer { mistakes = [] }
            return mistakes
        }
        return mistakes.map { error in
            KindredError.Problem(error.code, error.message, object: nil, entity: error.entity ?? "", key: error.key)
        }
    }

    /// The problems that an object's own validation and its entity's hooks report.
    private func ownProblems(of object: DatabaseObject) -> [KindredError.Problem] {
        let hooks = core.database.registeredHooks.hooks(for: object.runtime).compactMap(\.validate)
        let checks = [{ try $0.validate() } as (DatabaseObject) throws -> Void] + hooks.map { hook in { try hook($0) } }
        return checks.flatMap { check -> [KindredError.Problem] in
            do {
                try check(object)
                return []
            } catch let error as KindredError {
                if !error.problems.isEmpty { return error.problems }
                return [object.problem(error.code, error.message, key: error.key, error: error)]
            } catch let error as ValidationError {
                return [
                    object.problem(.refused, "\(object) was refused: \(error.message)", key: error.key, error: error)
                ]
            } catch {
                return [object.problem(.refused, "\(object) was refused by its validation", key: nil, error: error)]
            }
        }
    }
}
