/// A class for the objects of one entity, as `kindred generate` writes it.
///
/// A class is registered with a database, by `Database.connect(_:classes:overrides:logger:)` or
/// ``Database/register(_:)``; every object of its entity is then made as that class, however it is reached.
///
/// ```swift
/// let database = try await Database.connect(uri, classes: KindredModels.all)
/// let smith = try await database.makeContext().fetch(Person.self).where { $0.surname == "Smith" }.one()
/// ```
public protocol TypedObject: DatabaseObject {
    /// The entity that the class stands for, and which property is which column or relationship.
    static var mapping: EntityMapping { get }

    /// What the class's ``DatabaseObject/prepareForDeletion()`` results in, by which an override is found; the compiler
    /// fills it in.
    associatedtype DeletionPreparation

    /// The method of the class, or the one that it inherits.
    func prepareForDeletion() async throws -> DeletionPreparation
}

extension TypedObject {
    /// The names of columns and relationships by key path, such as `"surname"` for `\Person.surname`.
    public static var keys: [AnyKeyPath: String] { mapping.keys }

    /// Whether ``DatabaseObject/prepareForDeletion()`` is overridden, and so has to be called before objects are deleted.
    ///
    /// The compiler infers the method's result where a class is declared to be typed: an override has none, the inherited
    /// method has one. A class further down may override it afterwards, so those count as if they did.
    static var preparesItsDeletion: Bool {
        DeletionPreparation.self == Void.self || _getSuperclass(Self.self) != DatabaseObject.self
    }
}
