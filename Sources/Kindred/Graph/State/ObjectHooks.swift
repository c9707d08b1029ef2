import KindredSchema
import Synchronization

/// Hooks in the life of an entity's objects: the counterpart of overriding ``DatabaseObject``'s methods, for entities
/// without a class of their own.
///
/// ```swift
/// try database.addHooks(
///     ObjectHooks(validate: { person in
///         guard person["born"] != nil else { throw MissingBirthday() }
///     }),
///     to: "person"
/// )
/// ```
public struct ObjectHooks: Sendable {
    /// Called with each object that is made from a row, as ``DatabaseObject/awakeFromFetch()``.
    public var awakeFromFetch: (@Sendable (DatabaseObject) -> Void)?
    /// Called with each new object, as ``DatabaseObject/awakeFromInsert()``.
    public var awakeFromInsert: (@Sendable (DatabaseObject) -> Void)?
    /// Called before an object's changes are saved, as ``DatabaseObject/willSave()``.
    public var willSave: (@Sendable (DatabaseObject) -> Void)?
    /// Called before an object is saved, if it has all required values, as ``DatabaseObject/validate()``.
    public var validate: (@Sendable (DatabaseObject) throws -> Void)?
    /// Called once for each object before its deletion, as ``DatabaseObject/prepareForDeletion()``.
    public var prepareForDeletion: (@Sendable (DatabaseObject) async throws -> Void)?

    /// Creates hooks; omitted hooks are not called.
    public init(
        awakeFromFetch: (@Sendable (DatabaseObject) -> Void)? = nil,
        awakeFromInsert: (@Sendable (DatabaseObject) -> Void)? = nil,
        willSave: (@Sendable (DatabaseObject) -> Void)? = nil,
        validate: (@Sendable (DatabaseObject) throws -> Void)? = nil,
        prepareForDeletion: (@Sendable (DatabaseObject) async throws -> Void)? = nil
    ) {
        self.awakeFromFetch = awakeFromFetch
        self.awakeFromInsert = awakeFromInsert
        self.willSave = willSave
        self.validate = validate
        self.prepareForDeletion = prepareForDeletion
    }
}

/// The hooks of plain entities, by entity: without any, a check costs one atomic load.
final class RegisteredHooks: Sendable {
    private let isEmpty = Atomic(true)
    private let hooks = RankedMutex<[QualifiedName: [ObjectHooks]]>([:], .leaf)

    func add(_ added: ObjectHooks, for entity: QualifiedName) {
        hooks.withLock { $0[entity, default: []].append(added) }
        isEmpty.store(false, ordering: .releasing)
    }

    func hooks(for entity: EntityRuntime) -> [ObjectHooks] {
        if isEmpty.load(ordering: .acquiring) { return [] }
        return hooks.withLock { $0[entity.name] ?? [] }
    }
}
