import KindredPostgres

/// A view's definition as the server stores it: the parsed query in the text form of `pg_rewrite.ev_action`.
///
/// Every column of the query has its origin table and column, `resorigtbl` and `resorigcol`, which PQftable and PQftablecol
/// report for a described statement. Parsing it, instead of describing `pg_get_viewdef`'s text, saves a round trip and
/// server work for each view, needs no privileges on the underlying tables, and also tells whether rows can repeat.
///
/// Fields are looked up by name; the names are the same in all supported versions. If anything is unexpected, the view
/// has no key and no relationships.
struct ViewDefinition {
    let bytes: ByteView

    /// - Parameter text: Only used while the caller lends it.
    init(_ text: ByteView) {
        bytes = text
    }

    /// Returns the base if the view shows each row of one table or view at most once.
    func projection(of view: UInt32) -> Catalog.Projection? {
        guard let query = elements(of: 0..<bytes.count).first, let base = base(of: query, depth: 0) else {
            return nil
        }
        guard let targets = fields(of: query, "targetList")[0] else { return nil }
        var columns: [Int16: Int16] = [:]
        for target in elements(of: targets) {
            let found = fields(of: target, "resno", "resorigtbl", "resorigcol", "resjunk")
            guard let number = found[0].flatMap(integer), let table = found[1].flatMap(integer),
                let column = found[2].flatMap(integer), table == Int(base.relation),
                column > 0 || column == Int(Attribute.tableNumber),
                let isJunk = found[3], holds(isJunk, "false"),
                let shown = Int16(exactly: number), let origin = Int16(exactly: column)
            else { continue }
            columns[shown] = origin
        }
        if columns.isEmpty { return nil }
        return Catalog.Projection(view: view, base: base.relation, isOnly: base.isOnly, columns: columns)
    }

    /// A relation that a query reads; `isOnly` if without the tables that inherit from it.
    private typealias Base = (relation: UInt32, isOnly: Bool)

    /// Returns the only relation that a query reads, each row at most once; nil for other queries.
    private func base(of query: Range<Int>, depth: Int) -> Base? {
        let found = fields(
            of: query,
            "commandType", "hasAggs", "hasTargetSRFs", "groupClause", "groupingSets", "setOperations", "jointree",
            "rtable", "cteList"
        )
        guard depth < 16, let command = found[0], holds(command, "1"),
            found[1...2].allSatisfy({ $0.map { holds($0, "false") } ?? false }),
            found[3...5].allSatisfy({ $0.map { holds($0, "<>") } ?? false }),
            let jointree = found[6], let rtable = found[7], let from = fields(of: jointree, "fromlist")[0]
        else { return nil }
        // A join, or several items, could repeat rows.
        let items = elements(of: from)
        guard items.count == 1, isNode(items[0], of: "{RANGETBLREF "),
            let index = fields(of: items[0], "rtindex")[0].flatMap(integer)
        else { return nil }
        let sources = elements(of: rtable)
        guard sources.indices.contains(index - 1) else { return nil }
        return base(ofSource: sources[index - 1], ctes: found[8], depth: depth)
    }

    /// Returns the relation of an item of a FROM list: the item itself, or the relation that its subquery reads.
    private func base(ofSource source: Range<Int>, ctes: Range<Int>?, depth: Int) -> Base? {
        let found = fields(of: source, "rtekind", "relid", "subquery", "ctename", "ctelevelsup", "inh")
        switch found[0].flatMap(integer) {
        case 0:
            let isOnly = found[5].map { holds($0, "false") } ?? false
            return found[1].flatMap(integer).flatMap { UInt32(exactly: $0) }.map { ($0, isOnly) }
        case 1: return found[2].flatMap { base(of: $0, depth: depth + 1) }
        case 6:
            guard let name = found[3], let level = found[4], holds(level, "0"), let ctes else { return nil }
            for cte in elements(of: ctes) {
                let parts = fields(of: cte, "ctename", "ctequery", "cterecursive")
                guard let other = parts[0], bytes[other].elementsEqual(bytes[name]) else { continue }
                guard let query = parts[1], let isRecursive = parts[2], holds(isRecursive, "false") else { return nil }
                return base(of: query, depth: depth + 1)
            }
            return nil
        default: return nil
        }
    }

    // MARK: The text form

    /// Returns the positions of a node's fields, in the order of the names; nil for a missing one.
    ///
    /// A node is written `{TYPE :name value :name value}`. Braces and parentheses nest; in names and strings, they and
    /// spaces are escaped by a backslash.
    func fields(of node: Range<Int>, _ names: StaticString...) -> [Range<Int>?] {
        var found = [Range<Int>?](repeating: nil, count: names.count)
        guard node.count >= 2, bytes[node.lowerBound] == UInt8(ascii: "{") else { return found }
        let end = node.upperBound - 1
        var place = node.lowerBound + 1
        var open: Int?
        var start = place
        while true {
            let token = token(from: &place, to: end)
            // A field's value follows its name, even if the value begins with a colon.
            let isName =
                token.map { bytes[$0.lowerBound] == UInt8(ascii: ":") && start != $0.lowerBound } ?? false
            if let index = open, isName || token == nil {
                found[index] = trimmed(start..<(token?.lowerBound ?? end))
                open = nil
            }
            guard let token else { return found }
            guard isName else { continue }
            let name = bytes.part((token.lowerBound + 1)..<token.upperBound)
            open = names.firstIndex { matches(name, $0) }
            start = place
            while start < end, bytes[start] == UInt8(ascii: " ") { start += 1 }
        }
    }

    /// Returns the nodes in a list, which is written `({...} {...})`.
    func elements(of list: Range<Int>) -> [Range<Int>] {
        guard list.count >= 2, bytes[list.lowerBound] == UInt8(ascii: "(") else { return [] }
        var nodes: [Range<Int>] = []
        var place = list.lowerBound + 1
        while let token = token(from: &place, to: list.upperBound - 1) {
            if bytes[token.lowerBound] == UInt8(ascii: "{") { nodes.append(token) }
        }
        return nodes
    }

    /// Reads one word, or one node or list with its contents.
    private func token(from place: inout Int, to end: Int) -> Range<Int>? {
        while place < end, bytes[place] == UInt8(ascii: " ") || bytes[place] == UInt8(ascii: "\n") { place += 1 }
        guard place < end else { return nil }
        let start = place
        var depth = 0
        while place < end {
            switch bytes[place] {
            case UInt8(ascii: "\\"): place += 1
            case UInt8(ascii: "{"), UInt8(ascii: "("): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: ")"):
                depth -= 1
                if depth <= 0 {
                    place += 1
                    return start..<place
                }
            case UInt8(ascii: " ") where depth == 0: return start..<place
            default: break
            }
            place += 1
        }
        place = min(place, end)
        return start..<place
    }

    private func isNode(_ node: Range<Int>, of type: StaticString) -> Bool {
        type.withBytes { bytes[node].starts(with: $0) }
    }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        var end = range.upperBound
        while end > range.lowerBound, bytes[end - 1] == UInt8(ascii: " ") { end -= 1 }
        return range.lowerBound..<end
    }

    func holds(_ range: Range<Int>, _ text: StaticString) -> Bool {
        matches(bytes.part(range), text)
    }

    private func matches(_ bytes: ByteView, _ text: StaticString) -> Bool {
        text.withBytes { bytes.elementsEqual($0) }
    }

    func integer(_ range: Range<Int>) -> Int? {
        range.count > 10 ? nil : Int(String(decoding: bytes[range], as: UTF8.self))
    }
}
