import KindredPostgres

/// The common part of conditions that differ in values alone: structure, paths and operators, and the kinds of values.
///
/// A condition has a key only if every value in it, or list of values of one kind, is compared with a path: then its
/// resolution does not depend on the values.
struct ConditionKey: Hashable, Sendable {
    /// The values of a condition.
    struct Given: Sendable {
        /// In the order of their parameters, with the place of a format's argument.
        fileprivate(set) var values: [(value: ConditionArgument, argument: Int?)] = []
        /// The number of a format's arguments among them; NULL is an argument, but no parameter.
        fileprivate(set) var arguments = 0

        /// Without the values of one request: only the values that the format itself has.
        var ofFormat: Given {
            var given = self
            for place in values.indices where values[place].argument != nil { given.values[place].value = .null }
            return given
        }
    }

    private var bytes: [UInt8] = []
    /// A mixture of the bytes, which is hashed in their place.
    private var mixture: UInt64 = 0

    /// The key of a condition; nil if it has none.
    ///
    /// - Parameter given: gets the values.
    init?(_ condition: Condition, isFiltered: Bool, given: inout Given) {
        bytes.append(isFiltered ? 1 : 0)
        guard add(condition.node, of: .own, depth: 0, to: &given) else { return nil }
        mix()
    }

    /// The key of a format with arguments of some kinds; nil if one of them has no kind.
    init?(_ format: String, _ arguments: [ConditionArgument], isFiltered: Bool) {
        guard format.utf8.count <= Self.maximumBytes, arguments.count <= Self.maximumBytes else { return nil }
        bytes.reserveCapacity(format.utf8.count + arguments.count + 2)
        bytes.append(isFiltered ? 3 : 2)
        for argument in arguments {
            guard add(argument) else { return nil }
        }
        bytes.append(.max)
        bytes.append(contentsOf: format.utf8)
        mix()
    }

    func hash(into hasher: inout Hasher) { hasher.combine(mixture) }

    private mutating func mix() {
        for byte in bytes { mixture = (mixture ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }

    /// Conditions with longer keys are resolved each time, so that kept keys take little memory.
    private static let maximumBytes = 1_024
    private static let maximumDepth = 16

    /// - Parameter scope: the scope of the request's object; a key has no paths of other scopes, and need not tell them
    ///   apart.
    private mutating func add(
        _ node: ConditionNode, of scope: ColumnScope, depth: Int, to given: inout Given
    ) -> Bool {
        guard depth < Self.maximumDepth, bytes.count <= Self.maximumBytes else { return false }
        switch node {
        case .constant(let value): bytes.append(value ? 1 : 2)
        case .all(let nodes): return add(nodes, of: scope, mark: 3, depth: depth, to: &given)
        case .any(let nodes): return add(nodes, of: scope, mark: 4, depth: depth, to: &given)
        case .not(let inner): return add([inner], of: scope, mark: 5, depth: depth, to: &given)
        case .comparison(let comparison): return add(comparison, of: scope, to: &given)
        case .scoped(let scope, let inner): return add(inner, of: scope, depth: depth, to: &given)
        case .members: return false
        }
        return true
    }

    private mutating func add(
        _ nodes: ConditionList, of scope: ColumnScope, mark: UInt8, depth: Int, to given: inout Given
    ) -> Bool {
        bytes.append(mark)
        for node in nodes where !add(node, of: scope, depth: depth + 1, to: &given) { return false }
        bytes.append(0)
        return true
    }

    private mutating func add(
        _ comparison: ConditionComparison, of scope: ColumnScope, to given: inout Given
    ) -> Bool {
        guard !comparison.isUnfiltered, comparison.leftWord == nil, comparison.configuration == nil,
            let mark = comparison.operation.mark
        else { return false }
        bytes.append(mark | (comparison.ignoresCase ? 0x80 : 0) | (comparison.quantifier?.mark ?? 0))
        guard case .path(let path) = comparison.left, path.scope == scope else { return false }
        add(path.keys)
        if comparison.argument != nil { given.arguments += 1 }
        let value: ConditionArgument
        switch comparison.right {
        case .path(let other):
            guard other.scope == scope else { return false }
            bytes.append(0xFC)
            add(other.keys)
            return true
        case .value(let single): value = single.map { .value($0) } ?? .null
        case .values(let values): value = .list(values)
        default: return false
        }
        guard add(value) else { return false }
        if case .null = value { return true }
        given.values.append((value, comparison.argument))
        return true
    }

    private mutating func add(_ value: ConditionArgument) -> Bool {
        switch value {
        case .null: bytes.append(0)
        case .value(let value):
            guard let kind = value.kind else { return false }
            bytes.append(kind)
        case .list(let values):
            guard let kind = values.first??.kind, values.allSatisfy({ $0?.kind == kind }) else { return false }
            bytes.append(kind | 0x80)
        case .object, .objects: return false
        }
        return true
    }

    private mutating func add(_ keys: [String]) {
        for key in keys {
            bytes.append(contentsOf: key.utf8)
            // In no text of UTF-8.
            bytes.append(0xFE)
        }
        bytes.append(0xFF)
    }
}

extension ConditionComparison.Operator {
    /// A mark; nil for comparisons with two values.
    fileprivate var mark: UInt8? {
        switch self {
        case .equal: 6
        case .notEqual: 7
        case .less: 8
        case .lessOrEqual: 9
        case .greater: 10
        case .greaterOrEqual: 11
        case .isIn: 12
        case .like: 13
        case .matches: 14
        case .beginsWith: 15
        case .endsWith: 16
        case .contains: 17
        case .search: 18
        case .between: nil
        }
    }
}

extension ConditionComparison.Quantifier {
    fileprivate var mark: UInt8 {
        switch self {
        case .anyMember: 0x20
        case .allMembers: 0x40
        case .noMember: 0x60
        }
    }
}

extension PostgresValue {
    /// The kind of a value; nil for kinds whose values have different SQL types.
    fileprivate var kind: UInt8? {
        switch self {
        case .bool: 1
        case .integer: 2
        case .float: 3
        case .double: 4
        case .numeric: 5
        case .string: 6
        case .bytes: 7
        case .date: 8
        case .time: 9
        case .timeTZ: 10
        case .timestamp: 11
        case .timestampTZ: 12
        case .interval: 13
        case .uuid: 14
        default: nil
        }
    }
}
