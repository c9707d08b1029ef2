import KindredPostgres
import KindredSchema

/// The program's class for the objects of an entity, as far as the model knows it.
package struct EntityClass: Sendable, Equatable, CustomStringConvertible {
    package typealias Reference = any (AnyObject & Sendable).Type

    package let type: Reference
    let mapping: EntityMapping
    /// Whether objects' `prepareForDeletion()` must be called before they are deleted.
    let preparesItsDeletion: Bool

    package var description: String { "\(type)" }

    package static func == (left: EntityClass, right: EntityClass) -> Bool { left.type == right.type }

    /// The unique key that the class was generated with, and that stays the key; nil for a primary key.
    var preferredKey: SchemaOverride? {
        let table = mapping.isQualified ? mapping.entity.description : mapping.entity.name
        return mapping.key.map { .preferredKey($0, of: table) }
    }

    /// Whether the class is the given class, or inherits from it.
    func isClass(_ other: Reference) -> Bool {
        let classes = sequence(first: type as AnyClass) { _getSuperclass($0) }
        return classes.contains { $0 == other as AnyClass }
    }
}
