import KindredPostgres
import KindredSchema

/// Splits entities that relationships connect into parts that a picture can show.
enum DiagramParts {
    /// The parts, each sorted: none has more entities than ``Diagram/largestPart``, and each is connected.
    ///
    /// Parts grow from single entities. In each round those join that have most lines between them for their size, each
    /// with one other at most, so that parts grow evenly.
    static func split(_ members: [QualifiedName], _ neighbours: [QualifiedName: [QualifiedName]]) -> [[QualifiedName]] {
        if members.count <= Diagram.largestPart { return [members] }
        var parts = members.map { [$0] }
        while join(&parts, neighbours) {}
        return parts.map { $0.sorted() }
    }

    /// Puts small parts together, as many as a picture can show.
    static func gather(_ small: [[QualifiedName]]) -> [[QualifiedName]] {
        var groups: [[QualifiedName]] = []
        for part in small.sorted(by: { $0[0] < $1[0] }) {
            if let last = groups.last, last.count + part.count <= Diagram.largestPart {
                groups[groups.count - 1] += part
            } else {
                groups.append(part)
            }
        }
        return groups.map { $0.sorted() }
    }

    private struct Pair: Hashable {
        let first: Int
        let second: Int
    }

    /// Joins the closest parts; false if none can be joined.
    private static func join(_ parts: inout [[QualifiedName]], _ neighbours: [QualifiedName: [QualifiedName]]) -> Bool {
        var places: [QualifiedName: Int] = [:]
        for (place, part) in parts.enumerated() {
            for name in part { places[name] = place }
        }
        var lines: [Pair: Int] = [:]
        for (place, part) in parts.enumerated() {
            for other in part.flatMap({ neighbours[$0] ?? [] }).compactMap({ places[$0] })
            where place < other && part.count + parts[other].count <= Diagram.largestPart {
                lines[Pair(first: place, second: other), default: 0] += 1
            }
        }
        let pairs = lines.map { pair, count in
            (pair: pair, density: Double(count) / Double(parts[pair.first].count * parts[pair.second].count))
        }
        let closest = pairs.sorted {
            ($1.density, $0.pair.first, $0.pair.second) < ($0.density, $1.pair.first, $1.pair.second)
        }
        var joined: Set<Int> = []
        for (pair, _) in closest where !joined.contains(pair.first) && !joined.contains(pair.second) {
            joined.formUnion([pair.first, pair.second])
            parts[pair.first] += parts[pair.second]
            parts[pair.second] = []
        }
        parts.removeAll(where: \.isEmpty)
        return !joined.isEmpty
    }
}
