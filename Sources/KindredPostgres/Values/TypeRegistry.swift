import Synchronization

/// What the catalog told about types whose OIDs differ from database to database, and how users read and write others.
package final class TypeRegistry: Sendable {
    /// How the values of a type are read and written.
    package enum Kind: Sendable {
        /// Its binary form is its text: enums, `citext` and their like.
        case textLike
        /// Its binary form is its text behind a byte that says the version: `ltree` and its like.
        case versionedText
        /// An array of a type, whose elements stand between commas.
        case array(element: PostgresDataType)
        /// A domain over a type. Columns of results show the type below it; elements of arrays and parameters do not.
        case domain(base: PostgresDataType)
        /// A range of values of a type.
        case range(bound: PostgresDataType)
        /// Several ranges of a type.
        case multirange(range: PostgresDataType)
        /// A row with the given fields; nil for one whose fields differ from value to value.
        case composite([Field]?)
        /// `hstore`.
        case hstore
        /// `vector`.
        case vector
        /// A type whose values are read and written by code of the user's.
        case custom(PostgresCodec)
    }

    /// A field of a composite type.
    package struct Field: Sendable, Hashable {
        package let name: String
        package let type: PostgresDataType

        package init(name: String, type: PostgresDataType) {
            self.name = name
            self.type = type
        }
    }

    private let kinds = Mutex<[PostgresDataType: Kind]>([:])

    package init() {}

    /// A registry that knows the same, and learns by itself.
    func copy() -> TypeRegistry {
        let copy = TypeRegistry()
        let known = kinds.withLock { $0 }
        copy.kinds.withLock { $0 = known }
        return copy
    }

    /// Remembers a type; what was known of it before is forgotten, but for what the user said.
    package func register(_ type: PostgresDataType, as kind: Kind) {
        kinds.withLock { kinds in
            if case .custom = kinds[type] {
                guard case .custom = kind else { return }
            }
            kinds[type] = kind
        }
    }

    /// What is known of a type that is not built in.
    package func kind(of type: PostgresDataType) -> Kind? {
        kinds.withLock { $0[type] }
    }

    /// Whether values of the type can be read in binary form.
    package func isKnown(_ type: PostgresDataType) -> Bool {
        if type.isKnown { return true }
        var answers: [PostgresDataType: Bool] = [:]
        return isKnown(type, &answers, depth: 0)
    }

    private func isKnown(_ type: PostgresDataType, _ answers: inout [PostgresDataType: Bool], depth: Int) -> Bool {
        if let answer = answers[type] { return answer }
        // The catalog is not trusted to be free of circles.
        guard depth < Self.maximumDepth else { return false }
        answers[type] = false
        let answer: Bool
        switch type.isKnown ? .textLike : kind(of: type) {
        case .textLike, .versionedText, .hstore, .vector, .custom, .composite(nil): answer = true
        case .array(let next), .domain(let next), .range(let next), .multirange(let next):
            answer = isKnown(next, &answers, depth: depth + 1)
        case .composite(let fields?):
            answer = fields.allSatisfy { isKnown($0.type, &answers, depth: depth + 1) }
        case nil: answer = false
        }
        answers[type] = answer
        return answer
    }

    /// How many types may stand for one another.
    static let maximumDepth = 32
}
