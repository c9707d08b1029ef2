import Synchronization

/// The types whose OIDs differ between databases, as read from the catalog, and the codecs that users registered.
package final class TypeRegistry: Sendable {
    /// How the values of a type are decoded and encoded.
    package enum Kind: Sendable {
        /// Its binary form is its text, as for enums and `citext`.
        case textLike
        /// Its binary form is a version byte and the text, as for `ltree`.
        case versionedText
        /// An array of a type, with commas between its elements.
        case array(element: PostgresDataType)
        /// A domain over a type. Result columns report the base type; array elements and parameters report the domain.
        case domain(base: PostgresDataType)
        /// A range of values of a type.
        case range(bound: PostgresDataType)
        /// Several ranges of a type.
        case multirange(range: PostgresDataType)
        /// A row with the given fields; nil if they differ between values.
        case composite([Field]?)
        /// `hstore`.
        case hstore
        /// `vector`.
        case vector
        /// A type with a codec of the user's.
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

    private let kinds = RankedMutex<[PostgresDataType: Kind]>([:], .leaf)

    package init() {}

    /// A copy that changes independently.
    func copy() -> TypeRegistry {
        let copy = TypeRegistry()
        let known = kinds.withLock { $0 }
        copy.kinds.withLock { $0 = known }
        return copy
    }

    /// Registers a type, replacing what was known of it except a codec of the user's.
    package func register(_ type: PostgresDataType, as kind: Kind) {
        kinds.withLock { kinds in
            if case .custom = kinds[type] {
                guard case .custom = kind else { return }
            }
            kinds[type] = kind
        }
    }

    /// The kind of a type that is not built in.
    package func kind(of type: PostgresDataType) -> Kind? {
        kinds.withLock { $0[type] }
    }

    /// Whether the library can decode the type's binary form.
    package func isKnown(_ type: PostgresDataType) -> Bool {
        if type.isKnown { return true }
        var answers: [PostgresDataType: Bool] = [:]
        return isKnown(type, &answers, depth: 0)
    }

    private func isKnown(_ type: PostgresDataType, _ answers: inout [PostgresDataType: Bool], depth: Int) -> Bool {
        if let answer = answers[type] { return answer }
        // The catalog may contain cycles.
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

    /// The longest chain of types that is followed.
    static let maximumDepth = 32
}
