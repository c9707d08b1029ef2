import KindredPostgres

extension ViewDefinition {
    /// Returns the origins of the view's columns; nil if none is a plain column of a table or view.
    func origins(of view: UInt32) -> Catalog.ViewOrigins? {
        guard let query = elements(of: 0..<bytes.count).first else { return nil }
        let found = fields(of: query, "commandType", "setOperations", "targetList")
        guard let command = found[0], holds(command, "1"), let operations = found[1], holds(operations, "<>"),
            let targets = found[2]
        else { return nil }
        var columns: [Int16: Catalog.ViewOrigins.Origin] = [:]
        for target in elements(of: targets) {
            let found = fields(of: target, "resno", "resorigtbl", "resorigcol", "resjunk")
            guard let number = found[0].flatMap(integer), let table = found[1].flatMap(integer),
                let column = found[2].flatMap(integer), table > 0, column > 0,
                let isJunk = found[3], holds(isJunk, "false"), let shown = Int16(exactly: number),
                let relation = UInt32(exactly: table), let origin = Int16(exactly: column)
            else { continue }
            columns[shown] = .init(relation: relation, column: origin)
        }
        if columns.isEmpty { return nil }
        var sources = Sources()
        count(query, ctes: [], depth: 0, into: &sources)
        // If the count was cut short, every relation may occur twice.
        let repeated =
            sources.isComplete
            ? Set(sources.counts.filter { $0.value > 1 }.keys) : Set(columns.values.map(\.relation))
        return Catalog.ViewOrigins(view: view, columns: columns, repeated: repeated)
    }

    /// The number of times each relation occurs in the FROM lists of a query and its subqueries.
    private struct Sources {
        var counts: [UInt32: Int] = [:]
        /// The number of items that may still be visited: common table expressions can multiply them.
        var rest = 1_000
        var isComplete = true
    }

    /// - Parameter ctes: The lists of common table expressions of the outer queries, the innermost last.
    private func count(_ query: Range<Int>, ctes: [Range<Int>?], depth: Int, into sources: inout Sources) {
        let found = fields(of: query, "rtable", "cteList")
        guard depth < 16, let rtable = found[0] else {
            sources.isComplete = false
            return
        }
        let ctes = ctes + [found[1]]
        for source in elements(of: rtable) {
            sources.rest -= 1
            if sources.rest < 0 {
                sources.isComplete = false
                return
            }
            let parts = fields(of: source, "rtekind", "relid", "subquery", "ctename", "ctelevelsup")
            switch parts[0].flatMap(integer) {
            case 0:
                guard let relation = parts[1].flatMap(integer).flatMap({ UInt32(exactly: $0) }) else { continue }
                sources.counts[relation, default: 0] += 1
            case 1:
                if let subquery = parts[2] { count(subquery, ctes: ctes, depth: depth + 1, into: &sources) }
            case 6:
                guard let name = parts[3], let level = parts[4].flatMap(integer), level < ctes.count,
                    case let place = ctes.count - 1 - level, let list = ctes[place],
                    let query = self.query(ofCTE: name, in: list)
                else { continue }
                // The depth limit ends a recursive one.
                count(query, ctes: Array(ctes[...place]), depth: depth + 1, into: &sources)
            default: continue
            }
        }
    }

    private func query(ofCTE name: Range<Int>, in list: Range<Int>) -> Range<Int>? {
        for cte in elements(of: list) {
            let parts = fields(of: cte, "ctename", "ctequery")
            if let other = parts[0], bytes[other].elementsEqual(bytes[name]) { return parts[1] }
        }
        return nil
    }
}
