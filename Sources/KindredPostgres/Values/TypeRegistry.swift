import Synchronization

/// What the catalog told about types whose OIDs differ from database to database.
package final class TypeRegistry: Sendable {
    /// How the values of a type are read and written.
    package enum Kind: Sendable, Hashable {
        /// Its binary form is its text: enums, `citext` and their like.
        case textLike
        /// An array of a type.
        case array(element: PostgresDataType)
        /// A domain over a type; only parameters have it, results show the type below.
        case domain(base: PostgresDataType)
    }

    private let kinds = Mutex<[PostgresDataType: Kind]>([:])

    package init() {}

    /// Remembers a type.
    package func register(_ type: PostgresDataType, as kind: Kind) {
        kinds.withLock { $0[type] = kind }
    }

    /// What is known of a type that is not built in.
    package func kind(of type: PostgresDataType) -> Kind? {
        kinds.withLock { $0[type] }
    }

    /// Whether results of the type can be read in binary form.
    package func isKnown(_ type: PostgresDataType) -> Bool {
        if type.isKnown { return true }
        switch kind(of: type) {
        case .textLike: return true
        case .array(let type), .domain(let type): return type.isKnown || kind(of: type) == .textLike
        case nil: return false
        }
    }
}
