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

    private struct State {
        var kinds: [PostgresDataType: Kind] = [:]
        /// The fields that composite types had before they were altered: rows in memory may still have them.
        var formerFields: [PostgresDataType: [[Field]]] = [:]
        /// For types of tenants' schemas: another tenant's type with the same values.
        var shared: [PostgresDataType: PostgresDataType] = [:]
        /// The types that the catalog was asked for.
        var sought: Set<PostgresDataType> = []
        /// Whether the catalog was read.
        var isRead = false
    }

    private let state = RankedMutex(State(), .leaf)

    package init() {}

    /// A copy that changes independently.
    func copy() -> TypeRegistry {
        let copy = TypeRegistry()
        let known = state.withLock { $0 }
        copy.state.withLock { $0 = known }
        return copy
    }

    /// Registers a type, replacing all knowledge of it except a codec of the user's.
    package func register(_ type: PostgresDataType, as kind: Kind) {
        state.withLock { state in
            if case .custom = state.kinds[type] {
                guard case .custom = kind else { return }
            }
            if case .composite(let old?) = state.kinds[type], case .composite(let new?) = kind, old != new {
                state.formerFields[type, default: []].removeAll { $0 == old }
                state.formerFields[type, default: []].append(old)
            }
            state.kinds[type] = kind
        }
    }

    /// The fields of a composite type whose value has fields of these types; nil if it never had such fields.
    func fields(of type: PostgresDataType, _ types: [PostgresDataType]) -> [Field]? {
        state.withLock { state in
            let (type, types) = (state.shared[type] ?? type, types.map { state.shared[$0] ?? $0 })
            if case .composite(let fields?) = state.kinds[type], fields.map(\.type) == types { return fields }
            return state.formerFields[type]?.last { $0.map(\.type) == types }
        }
    }

    /// Whether one of these types is still unknown, and the catalog has not answered about it.
    func seeks(_ types: [PostgresDataType]) -> Bool {
        let unknown = types.filter { !isKnown($0) }
        return !unknown.isEmpty && state.withLock { state in unknown.contains { !state.sought.contains($0) } }
    }

    /// Whether the types of the catalog were registered.
    var isRead: Bool { state.withLock { $0.isRead } }

    /// Called when the types of the catalog were registered.
    func wasRead() {
        state.withLock { $0.isRead = true }
    }

    /// Called when the catalog has answered about types; tasks that need them before that ask too, and wait.
    func wereSought(_ types: [PostgresDataType]) {
        state.withLock { $0.sought.formUnion(types) }
    }

    /// The kind of a type that is not built in.
    package func kind(of type: PostgresDataType) -> Kind? {
        state.withLock { $0.kinds[$0.shared[type] ?? type] }
    }

    /// Notes that types are the same as other tenants' types, whose numbers stand for them in columns of results.
    ///
    /// - Parameter types: the types that stand for them, by their own types.
    package func share(_ types: [PostgresDataType: PostgresDataType]) {
        state.withLock { $0.shared.merge(types) { $1 } }
    }

    /// The type that stands for a type in columns of results: itself, or another tenant's.
    package func shared(_ type: PostgresDataType) -> PostgresDataType {
        type.isUserDefined ? state.withLock { $0.shared[type] ?? type } : type
    }

    /// Whether the values of two types are the same: one is a tenant's, or both are.
    ///
    /// Rows in memory may have the type that stood for a tenant's before its schema was changed.
    func isSame(_ one: PostgresDataType, as other: PostgresDataType) -> Bool {
        guard one.isUserDefined, other.isUserDefined else { return false }
        return shared(one) == shared(other) || state.withLock { $0.shared[one] != nil } && areAlike(one, other)
    }

    /// Whether the values of two types are of one kind, so that a value of the first that can be encoded as the second
    /// stays the same.
    ///
    /// Whole numbers, texts, JSON documents, and structures with parts that are alike.
    package func areAlike(_ one: PostgresDataType, _ other: PostgresDataType, depth: Int = 0) -> Bool {
        if one == other { return true }
        guard depth < Self.maximumDepth else { return false }
        func kind(_ type: PostgresDataType) -> Kind? {
            switch type {
            case .text, .varchar, .bpchar, .name, .char: .textLike
            default: type.builtInKind ?? self.kind(of: type)
            }
        }
        func isWhole(_ type: PostgresDataType) -> Bool { type == .int2 || type == .int4 || type == .int8 }
        func isJSON(_ type: PostgresDataType) -> Bool { type == .json || type == .jsonb }
        if isWhole(one) && isWhole(other) || isJSON(one) && isJSON(other) { return true }
        func areAlike(_ one: PostgresDataType, _ other: PostgresDataType) -> Bool {
            self.areAlike(one, other, depth: depth + 1)
        }
        switch (kind(one), kind(other)) {
        case (.domain(let base), _): return areAlike(base, other)
        case (_, .domain(let base)): return areAlike(one, base)
        case (.textLike, .textLike), (.textLike, .versionedText), (.versionedText, .textLike),
            (.versionedText, .versionedText):
            return true
        case (.hstore, .hstore), (.vector, .vector): return true
        case (.array(let one), .array(let other)), (.range(let one), .range(let other)),
            (.multirange(let one), .multirange(let other)):
            return areAlike(one, other)
        case (.composite(let one?), .composite(let other?)):
            return one.count == other.count
                && zip(one, other).allSatisfy { $0.name == $1.name && areAlike($0.type, $1.type) }
        default: return false
        }
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
