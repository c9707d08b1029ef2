import KindredPostgres

/// The parts of a conjunction or a disjunction, in their order.
///
/// A long list is a tree of few levels, so that adding a condition costs the same however many there are already: a program that
/// joins 20,000 conditions one by one would otherwise copy each of them 10,000 times.
package struct ConditionList: Sendable {
    /// The most parts of one kind beside each other; so many parts become one part.
    private static let width = 32

    private let nodes: [ConditionNode]
    /// Whether it is a part of another list only because that list is long.
    private(set) var isGroup = false
    /// The levels of the parts.
    fileprivate let nesting: Int

    package init(_ nodes: [ConditionNode]) {
        self.nodes = nodes
        nesting = nodes.reduce(0) { Swift.max($0, $1.nesting) }
    }

    /// The parts of some conditions behind each other.
    ///
    /// - Parameters:
    ///   - parts: the parts of a condition that is such a list itself.
    ///   - group: makes one part of several.
    init(
        joining conditions: [Condition], parts: (ConditionNode) -> ConditionList?,
        group: (ConditionList) -> ConditionNode
    ) {
        func list(_ condition: Condition) -> [ConditionNode] { parts(condition.node)?.nodes ?? [condition.node] }
        func level(_ node: ConditionNode) -> Int { parts(node)?.nodes.first.map { level($0) + 1 } ?? 0 }
        var nodes = conditions.first.map(list) ?? []
        for condition in conditions.dropFirst() {
            for node in list(condition) {
                nodes.append(node)
                while nodes.count >= Self.width {
                    let last = nodes.suffix(Self.width)
                    guard Set(last.map(level)).count == 1 else { break }
                    var list = ConditionList(Array(last))
                    list.isGroup = true
                    nodes.replaceSubrange(last.indices, with: [group(list)])
                }
            }
        }
        self.init(nodes)
    }
}

extension ConditionList: RandomAccessCollection {
    package var startIndex: Int { nodes.startIndex }
    package var endIndex: Int { nodes.endIndex }

    package subscript(position: Int) -> ConditionNode { nodes[position] }
}

extension ConditionList: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: ConditionNode...) { self.init(elements) }
}

// The depth of trees, which is limited since functions that read them call themselves.
extension ConditionNode {
    /// The number of levels as which a closure on members counts: its query takes as much of the stack.
    fileprivate static let levelsOfMembers = 8

    /// The levels of the condition; found without looking at the parts of lists.
    fileprivate var nesting: Int {
        switch self {
        case .constant: 1
        case .all(let list), .any(let list): list.nesting + 1
        // As it is resolved.
        case .not(.not(let inner)): inner.nesting
        case .not(let inner), .scoped(_, let inner): inner.nesting + 1
        case .members(_, let members): Self.nesting(of: members)
        case .comparison(let comparison): max(comparison.left.nesting, comparison.right.nesting) + 1
        }
    }

    fileprivate static func nesting(of members: MemberCondition) -> Int { members.condition.nesting + levelsOfMembers }

    /// Whether the condition has at most some levels.
    func isNested(atMost levels: Int) -> Bool { nesting <= levels }
}

extension ConditionExpression {
    /// The most calculations that a value may consist of: it is a tree as deep as it is long.
    static let maximumCalculations = 64

    /// The levels of the conditions in the value.
    fileprivate var nesting: Int {
        switch self {
        case .ofMembers(let value): max(ConditionNode.nesting(of: value.members), value.nestingOfContent)
        case .scoped(_, let inner), .json(let inner, _), .jsonValue(let inner, _, _), .negative(let inner):
            inner.nesting
        case .arithmetic(_, let left, let right), .coalesced(let left, let right), .joined(let left, let right):
            max(left.nesting, right.nesting)
        case .list(let values): values.reduce(0) { Swift.max($0, $1.nesting) }
        case .path, .count, .invalid, .value, .values, .object, .objects, .total: 0
        }
    }

    /// Whether the value has not too many calculations.
    var isShallow: Bool {
        var rest = Self.maximumCalculations
        return take(from: &rest)
    }

    private func take(from rest: inout Int) -> Bool {
        switch self {
        case .scoped(_, let inner): return inner.take(from: &rest)
        case .json(let inner, _), .jsonValue(let inner, _, _), .negative(let inner):
            rest -= 1
            return rest >= 0 && inner.take(from: &rest)
        case .arithmetic(_, let left, let right), .coalesced(let left, let right), .joined(let left, let right):
            rest -= 1
            return rest >= 0 && left.take(from: &rest) && right.take(from: &rest)
        case .list(let values): return values.allSatisfy { $0.take(from: &rest) }
        case .path, .count, .ofMembers, .invalid, .value, .values, .object, .objects, .total: return true
        }
    }
}

extension MemberValue {
    /// The levels of the conditions in the value of each member.
    fileprivate var nestingOfContent: Int {
        switch content {
        case .count: 0
        case .total(let total): (total.argument?.nesting ?? 0) + ConditionNode.levelsOfMembers
        case .only(let value): value.nesting + ConditionNode.levelsOfMembers
        }
    }
}
