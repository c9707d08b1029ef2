import KindredPostgres
import KindredSchema

/// The relationships that are loaded together with the objects of a request, level by level: whole relationships, and
/// parts.
package struct PrefetchTree: Sendable {
    /// A relationship, or a part of it, with the relationships that are loaded below it.
    package struct Branch: Sendable {
        package let relationship: RelationshipRuntime
        /// The part; nil for the whole relationship.
        package var part: PartQuery?
        package fileprivate(set) var tree = PrefetchTree()

        /// The step that tells the branch from other branches of the same owner.
        var step: Step { Step(slot: relationship.slot, part: part?.key, limit: part?.limit) }

        /// The steps to this branch and to each branch below, with the columns that are left out there.
        package var paths: [[Step]] {
            var step = step
            step.leftOut = tree.leftOut
            return [[step]] + tree.paths.map { [step] + $0 }
        }
    }

    /// The relationship or part of a branch: equal for branches that load the same members.
    package struct Step: Hashable, Sendable {
        let slot: Int
        let part: PartQuery.Key?
        let limit: Int?
        fileprivate(set) var leftOut: ColumnSet?
    }

    package private(set) var branches: [Branch] = []
    /// The columns that are left out of the rows from which the branches start; nil for the lazy ones.
    package var leftOut: ColumnSet?

    /// No relationships.
    package init() {}

    package var isEmpty: Bool { branches.isEmpty }

    /// Adds the relationships of a path; existing ones are shared.
    mutating func add(_ path: ArraySlice<RelationshipRuntime>) {
        guard let first = path.first else { return }
        var below = PrefetchTree()
        below.add(path.dropFirst())
        add(Branch(relationship: first, tree: below))
    }

    /// Adds a branch at the end of a path of whole relationships; existing ones are shared.
    mutating func add(_ branch: Branch, behind path: ArraySlice<RelationshipRuntime>) {
        guard let first = path.first else { return add(branch) }
        var below = PrefetchTree()
        below.add(branch, behind: path.dropFirst())
        add(Branch(relationship: first, tree: below))
    }

    /// Adds a branch; if the step exists already, the branches below join it.
    private mutating func add(_ branch: Branch) {
        let step = branch.step
        guard let known = branches.firstIndex(where: { $0.step == step }) else { return branches.append(branch) }
        for deeper in branch.tree.branches { branches[known].tree.add(deeper) }
        if let leftOut = branch.tree.leftOut { branches[known].tree.leftOut = leftOut }
    }

    /// The steps to each branch.
    package var paths: [[Step]] { branches.flatMap(\.paths) }

    /// The rows and columns that the relationships of all branches read, as a part of a request's.
    package var reads: Reads {
        branches.reduce(into: Reads()) { reads, branch in
            let members = branch.relationship.destination
            var own = branch.part?.reads ?? Reads(membersOf: branch.relationship)
            let shown = ColumnSet(members.entity.attributes.indices)
                .subtracting(branch.tree.leftOut ?? members.lazyColumns)
            own.show(shown, of: members.index)
            reads.formUnion(own.apart)
            reads.formUnion(branch.tree.reads)
        }
    }

    /// Changes the tree below a branch.
    mutating func change(at position: Int, _ body: (inout PrefetchTree) -> Void) { body(&branches[position].tree) }

    /// Leaves columns out of the rows at the end of a path.
    mutating func leaveOut(_ path: ArraySlice<RelationshipRuntime>, _ change: (ColumnSet?) -> ColumnSet) {
        guard let first = path.first else {
            leftOut = change(leftOut)
            return
        }
        for position in branches.indices where branches[position].relationship === first {
            branches[position].tree.leaveOut(path.dropFirst(), change)
        }
    }
}

extension PrefetchTree {
    /// The same relationships in another model of the database.
    ///
    /// Throws `KindredError` `.unknownKey` for a relationship that is gone or has another name.
    ///
    /// - Parameter entity: the entity from which the branches start there.
    package func rebound(
        to runtime: SchemaRuntime, from old: EntityRuntime, at entity: EntityRuntime
    ) throws -> PrefetchTree {
        var tree = PrefetchTree()
        tree.leftOut = leftOut.map { entity.columns(named: $0, of: old) }
        tree.branches = try branches.map { branch in
            let relationship = try entity.relationship(branch.relationship.model)
            return Branch(
                relationship: relationship, part: try branch.part?.rebound(to: runtime, relationship),
                tree: try branch.tree.rebound(
                    to: runtime, from: branch.relationship.destination, at: relationship.destination))
        }
        return tree
    }
}

extension EntityRuntime {
    /// The columns that have the names of another model's columns.
    func columns(named columns: ColumnSet, of other: EntityRuntime) -> ColumnSet {
        ColumnSet(columns.compactMap { attributeIndex(of: other.entity.attributes[$0].name) })
    }
}

extension String {
    /// The keys of a path such as `person.surname`, or `"a.b".name` where a key contains a dot.
    ///
    /// Within quotes a backslash escapes a quote or a backslash. Quotes that do not end with a key are part of it.
    package var keys: [String] {
        // Bytes: a combining mark behind a dot does not hide it.
        let (dot, quote) = (UInt8(ascii: "."), UInt8(ascii: "\""))
        let bytes = utf8
        guard bytes.contains(quote) else {
            return bytes.split(separator: dot, omittingEmptySubsequences: false).map { String(Substring($0)) }
        }
        var keys: [String] = []
        var rest = bytes[...]
        while true {
            if let quoted = Self.quoted(rest) {
                keys.append(quoted.key)
                rest = quoted.rest
            } else {
                let end = rest.firstIndex(of: dot) ?? rest.endIndex
                keys.append(String(Substring(rest[..<end])))
                rest = rest[end...]
            }
            if rest.isEmpty { return keys }
            rest = rest.dropFirst()
        }
    }

    /// The quoted key at the start of a path, and the rest: nothing, or a dot; nil for any other key.
    private static func quoted(_ path: Substring.UTF8View) -> (key: String, rest: Substring.UTF8View)? {
        guard path.first == UInt8(ascii: "\"") else { return nil }
        var key: [UInt8] = []
        var isEscaped = false
        for index in path.indices.dropFirst() {
            let byte = path[index]
            if isEscaped || byte != UInt8(ascii: "\\") && byte != UInt8(ascii: "\"") {
                key.append(byte)
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                let rest = path[path.index(after: index)...]
                // Keys are not empty: two quotes are a name of their own.
                guard !key.isEmpty, rest.isEmpty || rest.first == UInt8(ascii: ".") else { return nil }
                return (String(decoding: key, as: UTF8.self), rest)
            }
        }
        return nil
    }
}
