package import KindredPostgres

extension SortTerm {
    /// One of several values of a sort key; the first value that is not NULL counts.
    package enum Alternative: Sendable, Hashable {
        /// An attribute, or a path over to-one relationships to one.
        case path([String])
        /// A value that is the same for all rows.
        case value(PostgresValue)
        /// A value of members.
        case members(MemberSortKey)
    }

    /// The key in words: its path, or its paths with `??` between them; values do not show.
    var label: String {
        if alternatives.isEmpty { return path.joined(separator: ".") }
        return alternatives.map { alternative in
            switch alternative {
            case .path(let path): path.joined(separator: ".")
            case .value: "…"
            case .members(let key): key.label
            }
        }.joined(separator: " ?? ")
    }

    /// Whether it is a value of members, whose condition has values of its own.
    var isByMembers: Bool {
        alternatives.contains { if case .members = $0 { true } else { false } }
    }

    /// Gives the values of members an identity by the key's SQL, so that a cursor tells another order, in another process too.
    mutating func identify(by sql: String, _ bindings: Bindings) {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func mix(_ bytes: some Sequence<UInt8>) {
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        }
        mix(sql.utf8)
        for slot in bindings.slots { mix("\(slot.type.rawValue) \(slot.length) ".utf8) }
        mix(bindings.bytes)
        alternatives = alternatives.map { alternative in
            guard case .members(let key) = alternative else { return alternative }
            return .members(MemberSortKey(key.expression, label: key.label, identity: String(hash, radix: 16)))
        }
    }

    /// The key with other paths.
    func mapping(_ named: ([String]) -> [String]) -> SortTerm {
        var term = self
        term.path = named(path)
        term.alternatives = alternatives.map { alternative in
            if case .path(let path) = alternative { .path(named(path)) } else { alternative }
        }
        return term
    }
}

/// A value of members that a request is sorted by.
///
/// Conditions have no equality: two keys are equal if they came from one closure, or if their SQL and its values are equal,
/// which is known once a request has taken them.
package struct MemberSortKey: Sendable, Hashable {
    /// The expression; nil in a cursor's text.
    let expression: ConditionExpression?
    let label: String
    /// The number of the closure's call, or the hash of the SQL.
    let identity: String

    init(_ expression: ConditionExpression?, label: String, identity: String) {
        (self.expression, self.label, self.identity) = (expression, label, identity)
    }

    package static func == (left: MemberSortKey, right: MemberSortKey) -> Bool { left.identity == right.identity }

    package func hash(into hasher: inout Hasher) { hasher.combine(ServerText(identity)) }
}
