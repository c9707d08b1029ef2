public import KindredPostgres

extension DatabaseObject {
    /// The value at a key of an object.
    public enum KeyValue: Sendable {
        /// An attribute's value.
        case attribute(PostgresValue)
        /// The object of a to-one relationship.
        case object(DatabaseObject)
        /// The mutable set of a to-many relationship.
        case set(ToMany<DatabaseObject>)
        /// The values at a key path through a to-many relationship.
        case collection([DatabaseObject.KeyValue])

        /// The attribute's value, if it is one.
        public var attribute: PostgresValue? {
            if case .attribute(let value) = self { value } else { nil }
        }

        /// The object, if it is one.
        public var object: DatabaseObject? {
            if case .object(let object) = self { object } else { nil }
        }

        /// The set, if it is one.
        public var set: ToMany<DatabaseObject>? {
            if case .set(let set) = self { set } else { nil }
        }

        /// The elements, if it is a collection.
        public var collection: [DatabaseObject.KeyValue]? {
            if case .collection(let values) = self { values } else { nil }
        }
    }
}

extension DatabaseObject.KeyValue: CustomStringConvertible {
    /// The value, the objects' identities, or the elements.
    public var description: String {
        switch self {
        case .attribute(let value): value.description
        case .object(let object): object.description
        case .set(let set): set.description
        case .collection(let values): "[\(values.map(\.description).joined(separator: ", "))]"
        }
    }
}
