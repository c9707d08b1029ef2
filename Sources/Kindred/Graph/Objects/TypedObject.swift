import KindredPostgres
import KindredSchema

/// A class for the objects of one entity, as `kindred generate` writes it.
///
/// A class is registered with a database, by `Database.connect(_:classes:overrides:logger:)` or
/// ``Database/register(_:)``; contexts then create every object of its entity as that class.
///
/// ```swift
/// let database = try await Database.connect(uri, classes: KindredModels.all)
/// let smith = try await database.makeContext().fetch(Person.self).where { $0.surname == "Smith" }.one()
/// ```
public protocol TypedObject: DatabaseObject {
    /// The class's entity, and the column or relationship of each property.
    static var mapping: EntityMapping { get }

    /// The result type of the class's ``DatabaseObject/prepareForDeletion()``, which reveals an override; the compiler
    /// infers it.
    associatedtype DeletionPreparation

    /// The method of the class, or an inherited method.
    func prepareForDeletion() async throws -> DeletionPreparation
}

extension TypedObject {
    /// The names of columns and relationships by key path, such as `"surname"` for `\Person.surname`.
    public static var keys: [AnyKeyPath: String] { mapping.keys }

    /// Whether ``DatabaseObject/prepareForDeletion()`` is overridden, so that it must be called before objects are
    /// deleted.
    ///
    /// The compiler infers the method's result type in the class that declares the conformance: an override returns
    /// nothing, the inherited method returns a marker. A class with another superclass may inherit an override, and so
    /// counts as overriding.
    static var preparesItsDeletion: Bool {
        DeletionPreparation.self == Void.self || _getSuperclass(Self.self) != DatabaseObject.self
    }
}

extension EntityClass {
    package init(_ type: any TypedObject.Type) {
        self.init(type: type, mapping: type.mapping, preparesItsDeletion: type.preparesItsDeletion)
    }

    /// The class, which makes objects.
    var objectType: DatabaseObject.Type {
        // Safe: the initializer takes only such classes. A cast would search the superclasses for each object.
        unsafe unsafeBitCast(type, to: DatabaseObject.Type.self)
    }
}

extension EntityRuntime {
    /// The entity's objects as the requested class.
    package func typed<Object: DatabaseObject>(_ objects: [DatabaseObject]) throws -> [Object] {
        // The cast is safe: a class has its superclass's representation, and contexts create every object of an entity
        // as the class registered for it.
        if Object.self == DatabaseObject.self || layout?.objectClass.type is Object.Type {
            return unsafe unsafeBitCast(objects, to: [Object].self)
        }
        if objects.isEmpty { return [] }
        throw unregistered(Object.self)
    }

    /// An object of the entity as the requested class.
    func typed<Object: DatabaseObject>(_ object: DatabaseObject) throws -> Object {
        guard let typed = object as? Object else { throw unregistered(Object.self) }
        return typed
    }

    func unregistered(_ type: DatabaseObject.Type) -> KindredError {
        KindredError(
            .classMismatch,
            "\(type) is not the class of \(name) in this context: give it to Database.connect(_:classes:), or to "
                + "register(_:) before the context is made",
            entity: name.description
        )
    }
}

extension TypedLayout {
    /// The name of the class.
    package var className: String { "\(objectClass.objectType)" }
}
