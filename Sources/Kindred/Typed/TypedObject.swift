/// A class for the objects of one entity, as `kindred generate` writes it.
///
/// A class is registered with a database, by ``Database/connect(_:classes:overrides:logger:)`` or
/// ``Database/register(_:)``; every object of its entity is then made as that class, however it is reached.
///
/// ```swift
/// let database = try await Database.connect(uri, classes: KindredModels.all)
/// let smith = try await database.makeContext().fetch(Person.self).where { $0.surname == "Smith" }.one()
/// ```
public protocol TypedObject: DatabaseObject {
    /// The entity that the class stands for, and which property is which column or relationship.
    static var mapping: EntityMapping { get }
}

extension TypedObject {
    /// The names of columns and relationships by key path, such as `"surname"` for `\Person.surname`.
    public static var keys: [AnyKeyPath: String] { mapping.keys }
}
