import Kindred

/// A row's name in the tests: its table and primary key, or the number of an object that is not stored yet.
struct GraphRef: Hashable, Comparable, CustomStringConvertible, Sendable {
    let table: String
    let key: [String]
    var isNew = false

    var description: String { "\(isNew ? "new " : "")\(table)/\(key.joined(separator: ","))" }

    static func < (left: GraphRef, right: GraphRef) -> Bool {
        (left.table, left.isNew ? 1 : 0, left.key.count, left.key.joined()) < (
            right.table, right.isNew ? 1 : 0, right.key.count, right.key.joined()
        )
    }
}

/// A pair of a many-to-many relationship.
struct GraphPair: Hashable, Sendable {
    let helper: GraphHelper
    let first: GraphRef
    let second: GraphRef

    init(_ helper: GraphHelper, isFirst: Bool, _ owner: GraphRef, _ member: GraphRef) {
        self.helper = helper
        first = isFirst ? owner : member
        second = isFirst ? member : owner
    }
}

/// The state that all objects have to show: the rows of the database with the staged changes over them.
///
/// The rows come from SQL, the staged values from the objects that show them. Only references to objects that are not
/// stored yet, and pairs with such objects, which no attribute shows, come from the test's own record.
struct GraphPicture: Sendable {
    /// The columns that are not NULL.
    typealias Row = [String: String]

    /// The database's rows, by table.
    var stored: [String: [GraphRef: Row]] = [:]
    /// The shown rows, by table: the stored rows with staged values, and the new objects.
    var rows: [String: [GraphRef: Row]] = [:]
    /// References to new objects, by the row that holds the foreign key and the relationship's name.
    var links: [GraphRef: [String: GraphRef]] = [:]
    /// Staged pairs with the value of the helper's own column, empty if there is none.
    var pairs: [GraphPair: String] = [:]

    init() {}

    /// Reads the answer to `GraphSchema.everything`.
    init(_ text: String) {
        for line in text.split(separator: "\n") {
            let values = line.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
            let table = values[0]
            var columns: Row = [:]
            for (column, value) in zip(GraphSchema.columns[table] ?? [], values.dropFirst()) where !value.isEmpty {
                columns[column] = value
            }
            stored[table, default: [:]][Self.ref(table, columns)] = columns
        }
        rows = stored
    }

    /// The state that would be shown if nothing were staged.
    var unstaged: GraphPicture {
        var picture = self
        picture.rollback()
        return picture
    }

    static func ref(_ table: String, _ columns: Row) -> GraphRef {
        GraphRef(table: table, key: GraphSchema.key(of: table).map { columns[$0] ?? "" })
    }

    func isShown(_ ref: GraphRef) -> Bool { rows[ref.table]?[ref] != nil }

    func isStored(_ ref: GraphRef) -> Bool { stored[ref.table]?[ref] != nil }

    func refs(_ table: String) -> [GraphRef] { rows[table].map { Array($0.keys) } ?? [] }

    /// Where a foreign key leads to.
    func destination(_ key: GraphKey, of source: GraphRef) -> GraphRef? {
        if let new = links[source]?[key.name] { return new }
        guard let row = rows[source.table]?[source] else { return nil }
        return destination(key, row)
    }

    private func destination(_ key: GraphKey, _ row: Row) -> GraphRef? {
        var values: [String] = []
        for column in key.columns {
            guard let value = row[column] else { return nil }
            values.append(value)
        }
        let ref = GraphRef(table: key.target, key: values)
        return isStored(ref) ? ref : nil
    }

    /// The objects at the other end of a relationship, each once.
    func members(_ relation: GraphRelation, of owner: GraphRef) -> Set<GraphRef> {
        switch relation.link {
        case .holds(let key):
            return destination(key, of: owner).map { [$0] } ?? []
        case .members(let key):
            return Set((rows[key.table] ?? [:]).keys.filter { destination(key, of: $0) == owner })
        case .pairs(let helper, let isFirst):
            let (own, other) = isFirst ? (helper.first, helper.second) : (helper.second, helper.first)
            var found = Set<GraphRef>()
            for row in (stored[helper.table] ?? [:]).values where destination(own, row) == owner {
                if let member = destination(other, row) { found.insert(member) }
            }
            for pair in pairs.keys where pair.helper == helper && (isFirst ? pair.first : pair.second) == owner {
                found.insert(isFirst ? pair.second : pair.first)
            }
            return found
        }
    }
}

extension GraphPicture {
    /// Points a foreign key to an object or to none; a one-to-one partner leaves.
    mutating func point(_ key: GraphKey, _ source: GraphRef, to destination: GraphRef?) {
        if key.isOneToOne, let destination {
            for other in refs(key.table) where other != source && self.destination(key, of: other) == destination {
                point(key, other, to: nil)
            }
        }
        links[source]?[key.name] = nil
        guard let destination, !destination.isNew else {
            for column in key.leaving { rows[source.table]?[source]?[column] = nil }
            if let destination { links[source, default: [:]][key.name] = destination }
            return
        }
        for (column, value) in zip(key.columns, destination.key) { rows[source.table]?[source]?[column] = value }
    }

    mutating func join(_ relation: GraphRelation, _ owner: GraphRef, _ member: GraphRef, payload: String? = nil) {
        switch relation.link {
        case .holds(let key): point(key, owner, to: member)
        case .members(let key): point(key, member, to: owner)
        case .pairs(let helper, let isFirst):
            let pair = GraphPair(helper, isFirst: isFirst, owner, member)
            if owner.isNew || member.isNew {
                pairs[pair] = payload ?? pairs[pair] ?? ""
            } else {
                store(pair, payload: payload)
            }
        }
    }

    mutating func leave(_ relation: GraphRelation, _ owner: GraphRef, _ member: GraphRef) {
        switch relation.link {
        case .holds(let key): point(key, owner, to: nil)
        case .members(let key): if destination(key, of: member) == owner { point(key, member, to: nil) }
        case .pairs(let helper, let isFirst):
            let pair = GraphPair(helper, isFirst: isFirst, owner, member)
            pairs[pair] = nil
            for (ref, row) in stored[helper.table] ?? [:]
            where destination(helper.first, row) == pair.first && destination(helper.second, row) == pair.second {
                stored[helper.table]?[ref] = nil
                rows[helper.table]?[ref] = nil
            }
        }
    }

    /// A pair gets a row; what key it has is not known where the helper has one of its own.
    private mutating func store(_ pair: GraphPair, payload: String?) {
        let helper = pair.helper
        var row: Row = [:]
        for (key, end) in [(helper.first, pair.first), (helper.second, pair.second)] {
            for (column, value) in zip(key.columns, end.key) { row[column] = value }
        }
        let known = (stored[helper.table] ?? [:]).first { _, known in row.allSatisfy { known[$0] == $1 } }
        let unknown = GraphRef(table: helper.table, key: ["\(pair.first)-\(pair.second)"])
        let ref = known?.key ?? (helper.payload == nil ? Self.ref(helper.table, row) : unknown)
        row.merge(known?.value ?? [:]) { new, _ in new }
        // Changes staged on the helper's row stay staged, except written values.
        var shown = known == nil ? row : rows[helper.table]?[ref] ?? row
        if let column = helper.payload, let payload, !payload.isEmpty {
            row[column] = payload
            shown[column] = payload
        }
        stored[helper.table, default: [:]][ref] = row
        rows[helper.table, default: [:]][ref] = shown
    }

    /// Nothing is staged any more.
    mutating func rollback() {
        rows = stored
        links = [:]
        pairs = [:]
    }

    /// An object shows its stored row; a new object is given up.
    mutating func rollback(_ ref: GraphRef) {
        rows[ref.table]?[ref] = stored[ref.table]?[ref]
        links[ref] = nil
        for (source, names) in links {
            for (name, destination) in names where destination == ref {
                links[source]?[name] = nil
                guard let key = GraphSchema.keys.first(where: { $0.table == source.table && $0.name == name }) else {
                    continue
                }
                for column in key.leaving {
                    rows[source.table]?[source]?[column] = stored[source.table]?[source]?[column]
                }
            }
        }
        for pair in pairs.keys where pair.first == ref || pair.second == ref { pairs[pair] = nil }
    }

    /// Rows have got other keys, and new objects rows: references to them follow.
    ///
    /// - Parameter waits: whether a reference to an object that has been stored waits to be written without being shown by
    ///   its column.
    mutating func rename(_ names: [GraphRef: GraphRef], waits: (GraphRef, GraphKey) -> Bool = { _, _ in false }) {
        if names.isEmpty && links.isEmpty { return }
        for (old, new) in names {
            guard var row = rows[old.table]?.removeValue(forKey: old) else { continue }
            for (column, value) in zip(GraphSchema.key(of: new.table), new.key) { row[column] = value }
            rows[new.table, default: [:]][new] = row
            stored[old.table]?[old] = nil
            if !new.isNew { stored[new.table, default: [:]][new] = row }
        }
        let old = (links: links, pairs: pairs)
        (links, pairs) = ([:], [:])
        for (source, destinations) in old.links {
            let source = names[source] ?? source
            for (name, destination) in destinations {
                guard let key = GraphSchema.keys.first(where: { $0.table == source.table && $0.name == name }) else {
                    continue
                }
                let destination = names[destination] ?? destination
                if destination.isNew || waits(source, key) {
                    links[source, default: [:]][name] = destination
                } else {
                    for (column, value) in zip(key.columns, destination.key) {
                        rows[source.table]?[source]?[column] = value
                    }
                }
            }
        }
        for (pair, payload) in old.pairs {
            let (first, second) = (names[pair.first] ?? pair.first, names[pair.second] ?? pair.second)
            let pair = GraphPair(pair.helper, isFirst: true, first, second)
            if first.isNew || second.isNew { pairs[pair] = payload } else { store(pair, payload: payload) }
        }
        for new in names.values where !new.isNew { stored[new.table]?[new] = rows[new.table]?[new] }
    }

    /// Forgets what led to rows and objects that are there no longer.
    mutating func dropLostEnds() {
        for (source, names) in links {
            for (name, destination) in names where !isShown(source) || !isShown(destination) {
                links[source]?[name] = nil
            }
            if links[source]?.isEmpty == true { links[source] = nil }
        }
        for pair in pairs.keys where !isShown(pair.first) || !isShown(pair.second) { pairs[pair] = nil }
    }
}

extension GraphPicture {
    /// A relationship of one row.
    struct End: Sendable {
        let owner: GraphRef
        let relation: GraphRelation
    }

    /// The relationships that lead elsewhere than in an earlier picture.
    func changedEnds(since before: GraphPicture) -> [End] {
        var found: [End] = []
        let haveOtherLinks = links != before.links
        for key in GraphSchema.keys {
            // Equal dictionaries are mostly the same, which costs nothing to see.
            let isSame =
                rows[key.table] == before.rows[key.table] && stored[key.target] == before.stored[key.target]
            if isSame && !haveOtherLinks { continue }
            for source in Set(refs(key.table)).union(before.refs(key.table)).sorted() {
                let ends = [before.destination(key, of: source), destination(key, of: source)]
                guard ends[0] != ends[1] else { continue }
                for relation in GraphSchema.relations {
                    switch relation.link {
                    case .holds(let other): if other == key { found.append(End(owner: source, relation: relation)) }
                    case .members(let other):
                        guard other == key else { continue }
                        found += ends.compactMap { $0 }.map { End(owner: $0, relation: relation) }
                    case .pairs(let helper, let isFirst):
                        guard helper.table == key.table else { continue }
                        let own = isFirst ? helper.first : helper.second
                        let owners = [before.destination(own, of: source), destination(own, of: source)]
                        found += owners.compactMap { $0 }.map { End(owner: $0, relation: relation) }
                    }
                }
            }
        }
        for pair in Set(pairs.keys).symmetricDifference(before.pairs.keys) {
            for relation in GraphSchema.relations {
                guard case .pairs(pair.helper, let isFirst) = relation.link else { continue }
                found.append(End(owner: isFirst ? pair.first : pair.second, relation: relation))
            }
        }
        return found
    }

    /// How another picture differs, if it does; positions are the library's choice.
    func difference(from other: GraphPicture) -> String? {
        for table in GraphSchema.tables where rows[table] != other.rows[table] || links != other.links {
            let (wanted, found) = (lines(table), other.lines(table))
            if wanted == found { continue }
            let (missing, surplus) = (wanted.subtracting(found).sorted(), found.subtracting(wanted).sorted())
            return "the rows of \(table): \(surplus.joined(separator: "; ")) instead of "
                + missing.joined(separator: "; ")
        }
        return nil
    }

    /// The rows of a table as they are shown; a key that only the server knows beforehand is left out.
    private func lines(_ table: String) -> Set<String> {
        let hasUnknownKey = GraphSchema.helper(of: table)?.payload != nil
        return Set(
            (rows[table] ?? [:]).map { ref, row in
                let columns = (GraphSchema.columns[table] ?? []).filter {
                    $0 != "position" && !(hasUnknownKey && $0 == "id")
                }
                let values = columns.map { "\($0) \(row[$0] ?? "NULL")" }.joined(separator: ", ")
                let ends = (links[ref] ?? [:]).sorted { $0.key < $1.key }.map { ", \($0.key) \($0.value)" }.joined()
                return "\(hasUnknownKey && !ref.isNew ? table : ref.description) (\(values)\(ends))"
            })
    }

    /// Why the server would refuse a save of the shown state; nil if it would not.
    func invalidity(_ stagedDeletions: Bool) -> String? {
        if stagedDeletions { return "deletions are staged" }
        for table in GraphSchema.tables {
            for (ref, row) in rows[table] ?? [:] {
                for key in GraphSchema.keys where key.table == table {
                    if let end = links[ref]?[key.name] {
                        for (column, name) in zip(key.columns, GraphSchema.key(of: key.target))
                        where !key.leaving.contains(column) && row[column] != rows[end.table]?[end]?[name] {
                            return "\(ref).\(key.name) differs in \(column)"
                        }
                        continue
                    }
                    let isThere = key.columns.allSatisfy { row[$0] != nil }
                    if isThere && destination(key, of: ref) == nil { return "\(ref).\(key.name) leads nowhere" }
                    if key.isRequired && !isThere { return "\(ref).\(key.name) is missing" }
                }
                for column in GraphSchema.values(of: table)
                where GraphSchema.isRequired(column, of: table) && row[column] == nil {
                    return "\(ref).\(column) is missing"
                }
            }
        }
        for (table, columns) in GraphSchema.unique + GraphSchema.tables.map({ ($0, GraphSchema.key(of: $0)) }) {
            var seen = Set<[String]>()
            for (ref, row) in rows[table] ?? [:] {
                var values: [String] = []
                for column in columns {
                    let key = GraphSchema.keys.first { $0.table == table && $0.leaving.contains(column) }
                    let link = key.flatMap { links[ref]?[$0.name] }
                    if let value = link?.description ?? row[column] { values.append(value) }
                }
                if values.count == columns.count, !seen.insert(values).inserted {
                    return "two rows of \(table) have the same \(columns.joined(separator: ", "))"
                }
            }
        }
        return nil
    }
}
