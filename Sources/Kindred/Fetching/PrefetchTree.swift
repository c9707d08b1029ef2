import KindredSchema

/// The relationships that are loaded together with the objects of a request, level by level.
struct PrefetchTree: Sendable {
    private(set) var branches: [(relationship: RelationshipRuntime, tree: PrefetchTree)] = []

    var isEmpty: Bool { branches.isEmpty }

    /// Adds the relationships of a path; those that are there already are shared.
    mutating func add(_ path: ArraySlice<RelationshipRuntime>) {
        guard let first = path.first else { return }
        let position: Int
        if let known = branches.firstIndex(where: { $0.relationship.slot == first.slot }) {
            position = known
        } else {
            position = branches.count
            branches.append((first, PrefetchTree()))
        }
        branches[position].tree.add(path.dropFirst())
    }
}

extension String {
    /// The keys of a path such as `person.surname`.
    var keys: [String] {
        // Bytes: a combining mark behind a dot does not hide it.
        utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { String(Substring($0)) }
    }
}
