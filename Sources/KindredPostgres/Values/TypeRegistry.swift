import Synchronization

/// What the catalog told about types whose OIDs differ from database to database.
package final class TypeRegistry: Sendable {
    /// How the values of a type are read and written.
    package enum Kind: Sendable, Hashable {
        /// Its binary form is its text: enums, `citext` and their like.
        case textLike
        /// An array of a type, whose elements stand between commas.
        case array(element: PostgresDataType)
        /// A domain over a type. Columns of results show the type below it; elements of arrays and parameters do not.
        case domain(base: PostgresDataType)
    }

    private let kinds = Mutex<[PostgresDataType: Kind]>([:])

    package init() {}

    /// Remembers a type; what was known of it before is forgotten.
    package func register(_ type: PostgresDataType, as kind: Kind) {
        kinds.withLock { $0[type] = kind }
    }

    /// What is known of a type that is not built in.
    package func kind(of type: PostgresDataType) -> Kind? {
        kinds.withLock { $0[type] }
    }

    /// Whether values of the type can be read in binary form.
    package func isKnown(_ type: PostgresDataType) -> Bool {
        var type = type
        // The catalog is not trusted to be free of circles.
        for _ in 0..<Self.maximumDepth {
            if type.isKnown { return true }
            switch kind(of: type) {
            case .textLike: return true
            case .array(let next), .domain(let next): type = next
            case nil: return false
            }
        }
        return false
    }

    /// How many types may stand for one another.
    static let maximumDepth = 32
}
