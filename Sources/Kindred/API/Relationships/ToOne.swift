import KindredPostgres

/// A to-one relationship of an object: follow it with `object`, change it with `set(_:)`.
///
/// The target is `Person` if the foreign key may not be NULL, else `Person?`.
///
/// ```swift
/// let owner = try await email.person.object   // Person?
/// try await email.person.set(smith)           // UPDATE email SET person_id = … WHERE id = …
/// ```
public struct ToOne<Target: ToOneTarget>: Sendable {
    /// The object whose relationship this is.
    public let owner: DatabaseObject
    /// nil for a property whose number matches no relationship: reading the handle is allowed, using it throws.
    let known: RelationshipRuntime?

    init(_ owner: DatabaseObject, _ relationship: RelationshipRuntime?) {
        self.owner = owner
        known = relationship
    }

    private var relationship: RelationshipRuntime {
        get throws {
            if let known { return known }
            throw owner.noProperty("relationship")
        }
    }

    /// The object at the other end.
    ///
    /// Sends one query, for all objects that were fetched together, if it is not in memory. Throws `KindredError`
    /// `.objectDeleted` for a deleted owner, `.notFound` if a required object does not exist.
    public var object: Target {
        get async throws { try await object(at: nil) }
    }

    /// The object at the other end, as ``object``; the statement names the line of this call: `email.person()`.
    public func callAsFunction(fileID: String = #fileID, line: Int = #line) async throws -> Target {
        try await object(at: SourcePlace(fileID: fileID, line: line))
    }

    private func object(at place: SourcePlace?) async throws -> Target {
        let relationship = try relationship
        let object = try await owner.destination(of: relationship, at: place)
        if let target = Target.target(object) { return target }
        let name = "\(owner.runtime.name).\(relationship.model.name)"
        throw object == nil
            ? KindredError(
                .notFound,
                "\(name) leads to no object, though \(Target.self) requires one",
                entity: owner.runtime.name.description,
                key: relationship.model.name
            )
            : KindredError(
                .wrongType,
                "The object of \(name) is not of the class \(Target.self)",
                entity: owner.runtime.name.description,
                key: relationship.model.name
            )
    }

    /// Sets the object at the other end, or none, and writes it at once.
    ///
    /// One UPDATE of the foreign key; for a one-to-one relationship the old partner leaves in the same round trip.
    /// Throws as `DatabaseObject.setValue(_:forKey:)` does.
    public func set(_ target: Target, fileID: String = #fileID, line: Int = #line) async throws {
        try await owner.called(at: fileID, line) { _ in
            try await owner.setValue(target.databaseObject, forKey: relationship.model.name)
        }
    }
}

/// Not available: `email.person = nil` says in the compiler's words which call does it.
@available(*, unavailable, message: "an object is set by a call: try await email.person.set(nil)")
extension ToOne: ExpressibleByNilLiteral {
    /// Not available: a relationship is set by ``set(_:fileID:line:)``.
    public init(nilLiteral: ()) { fatalError("This cannot be called.") }
}

extension ToOne: CustomStringConvertible {
    /// Owner and name of the relationship, without values.
    public var description: String {
        "\(owner).\(known?.model.name ?? "?")"
    }
}

/// The target of a ``ToOne``: a class of objects, or an optional one.
public protocol ToOneTarget: Sendable {
    /// The class of the objects.
    static var objectType: DatabaseObject.Type { get }

    /// The object as a target; nil if it cannot be one.
    static func target(_ object: DatabaseObject?) -> Self?

    /// The target as an object; nil for none.
    var databaseObject: DatabaseObject? { get }
}

extension DatabaseObject: ToOneTarget {
    /// The class itself.
    public static var objectType: DatabaseObject.Type { self }

    /// The object, if it is of this class.
    public static func target(_ object: DatabaseObject?) -> Self? { object as? Self }

    /// The object itself.
    public var databaseObject: DatabaseObject? { self }
}

extension Optional: ToOneTarget where Wrapped: DatabaseObject {
    /// The class of the wrapped object.
    public static var objectType: DatabaseObject.Type { Wrapped.self }

    /// The object, or none; nil if it is not of the class.
    public static func target(_ object: DatabaseObject?) -> Self? {
        guard let object else { return .some(.none) }
        return (object as? Wrapped).map(Self.some)
    }

    /// The object, or nil.
    public var databaseObject: DatabaseObject? { self }
}
