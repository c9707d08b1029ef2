public import KindredPostgres
import KindredSchema

/// A column that is omitted when objects are read, and loaded when it is asked for: the property of a column with the annotation
/// `{"lazy": true}`.
///
/// The value is `String` if the column may not be NULL, else `String?`.
///
/// ```swift
/// let text = try await document.content.value   // SELECT … for all documents that were read together
/// document.content.stage("New")                 // written by save(), as any staged value
/// ```
///
/// A loaded value stays until the object's row is written, refreshed, or found to have changed: then it is loaded again.
public struct LazyAttribute<Value: Sendable>: Sendable {
    /// The object whose column this is.
    public let owner: DatabaseObject
    /// The column; nil for a property whose number matches none: reading the handle is allowed, using it throws.
    private let position: Int?

    init(_ owner: DatabaseObject, _ position: Int?) {
        (self.owner, self.position) = (owner, position)
    }

    /// The value, staged or stored.
    ///
    /// One query, for all objects that were read together, if it is not loaded. Throws `KindredError` `.objectDeleted`
    /// for a deleted object, `.missingValue` for a new object without a value that may not be NULL,
    /// `.loadingForbidden` in a context that loads nothing by itself.
    public var value: Value {
        get async throws { try await value(at: nil) }
    }

    /// The value, as ``value``; the statement names the line of this call: `document.content()`.
    public func callAsFunction(fileID: String = #fileID, line: Int = #line) async throws -> Value {
        try await value(at: SourcePlace(fileID: fileID, line: line))
    }

    /// The value, if it is loaded or staged; nil if it is not, and for NULL.
    ///
    /// Sends nothing.
    public var loaded: Value? {
        guard let position else { return nil }
        let row = owner.row
        if row.isLeftOut(at: position) { return nil }
        return try? property(try row[position], as: Value.self)
    }

    /// Whether the value is loaded or staged.
    public var isLoaded: Bool { position.map { !owner.row.isLeftOut(at: $0) } ?? false }

    private func value(at place: SourcePlace?) async throws -> Value {
        guard let position else { throw owner.noProperty("column") }
        let core = owner.core
        let value = try await core.client.called(at: place) {
            try await ColumnLoader(core).value(at: position, of: owner, at: place)
        }
        if value == nil, owner.isInserted, !(Value.self is any OptionalType.Type) {
            let key = owner.entity.attributes[position].name
            throw KindredError(
                .missingValue, "\(owner) has no value for \(key) yet", entity: owner.runtime.name.description, key: key)
        }
        return try property(value, as: Value.self)
    }
}

extension LazyAttribute where Value: PostgresEncodable {
    /// Stages a value, to be written by `save()`; it need not be loaded before.
    ///
    /// Sends nothing. A value of the wrong type is a problem that the next `save()` reports.
    public func stage(_ value: Value) {
        guard let position else { return owner.keep(owner.noProperty("column"), forKey: "property") }
        owner.stage(value, at: position)
    }
}

extension DatabaseObject {
    /// The lazy column of a property; for generated code.
    public func lazyProperty<Value>(_ number: Int) -> LazyAttribute<Value> {
        let positions = runtime.layout?.positions ?? []
        let position = positions.indices.contains(number) ? positions[number] : -1
        return LazyAttribute(self, position < 0 ? nil : position)
    }
}
