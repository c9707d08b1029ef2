import Kindred
import KindredPostgres
import KindredSchema

/// The tables as the catalog says they are, with the one rule for all that follows them through changes of the schema.
///
/// Whatever follows goes on by the present model: statements are prepared anew, and the answers are asked for anew. It ends only
/// where its question cannot be asked any more: a table is gone or has another name or key, a column or relationship that the
/// question names is gone, or a class does not fit.
struct PresentTables: Sendable {
    let model: SchemaRuntime
    /// Why contexts keep the former model; nil if they have this one.
    let refusal: KindredError?

    /// The way to change tables under running programs.
    private static let way = """
        In migrations add the new beside the old, let the programs use it, and drop the old when none does
        """

    /// Why nothing can be asked of an entity any more; nil if it goes on.
    ///
    /// - Parameters:
    ///   - entity: the entity, of the model in use.
    ///   - isTable: whether it has to be a table, and a view of its name does not do; then nothing is asked, and the role
    ///     need not be able to read it.
    func end(of entity: EntityRuntime, asTable isTable: Bool = false) -> KindredError? {
        let name = entity.name
        guard let present = model[name] else {
            switch model.schema.hidden[name] {
            case .unreadable? where isTable: return nil
            case .unreadable(let role):
                return KindredError(
                    .accessDenied, "The role \(role) may no longer read \(name): grant it SELECT, and begin again",
                    entity: name.description)
            case .ignored?: return Self.error("\(name) is left out of the model by its annotation", name)
            default: break
            }
            let renamed = model.entities.first { $0.entity.oid == entity.entity.oid }
            guard let renamed else { return Self.error("\(name) is gone", name) }
            return Self.error("\(name) is named \(renamed.name) now", name)
        }
        if isTable, present.entity.isView, !entity.entity.isView {
            return Self.error("\(name) is a view now, and no table", name)
        }
        guard present.entity.primaryKey != entity.entity.primaryKey else { return nil }
        let (former, now) = (entity.entity.primaryKey, present.entity.primaryKey)
        func list(_ key: [String]) -> String { key.isEmpty ? "none" : "(\(key.joined(separator: ", ")))" }
        return Self.error("\(name) has another key: \(list(now)) in place of \(list(former))", name)
    }

    /// Why objects cannot be given as their class any more; nil if the class fits, or if the entity has none.
    func misfit(of entity: EntityRuntime) -> KindredError? {
        guard let layout = entity.layout, let present = model[entity.name], present.layout == nil else { return nil }
        let problems = model.mismatches(of: present)
        return KindredError(
            .classMismatch,
            """
            The class \(layout.className) no longer fits \(entity.name)\
            \(problems.isEmpty ? "" : ": \(problems.joined(separator: "; "))"). \(Self.way)
            """,
            entity: entity.name.description)
    }

    /// Why a question cannot be asked of the present tables, by the error of the attempt.
    static func end(of entity: EntityRuntime, for error: any Error) -> any Error {
        guard let error = error as? KindredError,
            [.unknownKey, .wrongType, .invalidCondition, .invalidRequest, .unknownEntity].contains(error.code)
        else { return error }
        return KindredError(
            .schemaChanged, "The request of \(entity.name) no longer fits its tables: \(error.message). \(way)",
            entity: error.entity ?? entity.name.description, key: error.key, underlying: error.underlying)
    }

    /// Why rows cannot be found any more.
    static func lacking(_ column: String, of name: QualifiedName) -> KindredError {
        error(
            "\(name).\(column) is gone, or has another type, and rows or relationships are found by it", name,
            key: column)
    }

    private static func error(_ what: String, _ name: QualifiedName, key: String? = nil) -> KindredError {
        KindredError(
            .schemaChanged, "\(what): begin again in a new context. \(way)", entity: name.description, key: key)
    }
}
