/// What is to be called in the life of an entity's objects: the counterpart of overriding ``DatabaseObject``'s methods,
/// for entities without a class of their own.
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
    /// Called to check an object that lacks nothing before it is saved, as ``DatabaseObject/validate()``.
    public var validate: (@Sendable (DatabaseObject) throws -> Void)?

    /// Creates hooks; those that are left out are not called.
    public init(
        awakeFromFetch: (@Sendable (DatabaseObject) -> Void)? = nil,
        awakeFromInsert: (@Sendable (DatabaseObject) -> Void)? = nil,
        willSave: (@Sendable (DatabaseObject) -> Void)? = nil,
        validate: (@Sendable (DatabaseObject) throws -> Void)? = nil
    ) {
        self.awakeFromFetch = awakeFromFetch
        self.awakeFromInsert = awakeFromInsert
        self.willSave = willSave
        self.validate = validate
    }
}
