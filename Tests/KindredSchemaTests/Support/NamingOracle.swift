import KindredPostgres
import KindredSchema

/// Settles the names of all relationships anew, from the catalog's rows: slowly, and written independently of the code
/// that it checks.
///
/// An end of a relationship is known by the two relations, the constraints, and its side.
struct NamingOracle {
    struct Names: Equatable {
        var name: String
        var keys: Set<ServerText>
    }

    private struct Key {
        var names: [String]
        var row: Catalog.Constraint
        var isOneToOne = false
    }

    private final class End {
        let id: String
        let source: UInt32
        /// Names that are offered, with their levels; the second of a level's two steps is at the half.
        var offers: [(level: Double, name: String)] = []
        /// The outcome of successful offers: the name itself, or with a number, and since which level.
        var given: [ServerText: (level: Double, name: String)] = [:]
        /// The levels in the order in which they are asked for a name.
        var order: [Double] = []
        var isMachineMade: (String) -> Bool = { _ in false }

        init(_ id: String, _ source: UInt32) {
            self.id = id
            self.source = source
        }
    }

    private let catalog: Catalog
    private let schema: DatabaseSchema
    private let entities: [UInt32: Entity]
    private var keys: [Key] = []
    private var ends: [End] = []
    /// The helpers' keys, in both directions.
    private var ways: [(near: Key, far: Key)] = []
    /// By relation, then by end.
    private(set) var expected: [UInt32: [ServerText: Names]] = [:]

    init(schema: DatabaseSchema, catalog: Catalog) {
        self.schema = schema
        self.catalog = catalog
        entities = Dictionary(schema.entities.map { ($0.oid, $0) }, uniquingKeysWith: { first, _ in first })
        findKeys()
        makeEnds()
        for entity in schema.entities { settle(entity) }
    }

    /// The relationships for which the model has other names, in words.
    func broken() -> [String] {
        schema.entities.flatMap { entity -> [String] in
            var found: [ServerText: Names] = [:]
            for relationship in entity.relationships {
                found[id(of: relationship)] = Names(
                    name: relationship.name,
                    keys: Set(texts: [relationship.name] + relationship.aliases)
                )
            }
            let expected = expected[entity.oid] ?? [:]
            return Set(found.keys).union(expected.keys).sorted().compactMap { id in
                if found[id] == expected[id] { return nil }
                return "\(id): \(text(found[id])) instead of \(text(expected[id]))"
            }
        }
    }

    private func text(_ names: Names?) -> String {
        names.map { "\($0.name) \($0.keys.sorted())" } ?? "nothing"
    }

    private func id(of relationship: Relationship) -> String {
        let (source, destination) = (number(relationship.source), number(relationship.destination))
        if let helper = relationship.helper {
            return "\(source) over \(number(helper.entity)) \(helper.sourceForeignKey)/\(helper.destinationForeignKey) "
                + "\(destination)"
        }
        return
            "\(source) \(relationship.holdsForeignKey ? "by" : "of") \(relationship.foreignKey ?? "-") \(destination)"
    }

    /// Two names can differ in bytes and yet be equal to Swift.
    private func number(_ name: QualifiedName) -> UInt32 { schema[name]?.oid ?? 0 }

    // MARK: Keys

    private func entity(_ oid: UInt32) -> Entity? { entities[oid] }

    private func column(_ table: UInt32, _ number: Int16) -> Catalog.Column? {
        catalog.columns.first { $0.relation == table && $0.number == number }
    }

    private func options(_ key: Catalog.Constraint) -> [String: String] {
        for comment in catalog.comments {
            guard case .constraint(key.oid, _, _) = comment.object else { continue }
            var found: [String: String] = [:]
            for part in comment.text.split(whereSeparator: { "{},".contains($0) }).dropFirst() {
                let words = part.split(separator: ":").map { $0.filter { !" \"".contains($0) } }
                if words.count == 2 { found[String(words[0])] = String(words[1]) }
            }
            return found
        }
        return [:]
    }

    private mutating func findKeys() {
        let rows = catalog.constraints.filter { row in
            row.kind == .foreignKey && row.parent == 0 && entity(row.relation) != nil && entity(row.target) != nil
                && options(row)["ignore"] != "true"
        }
        let sorted = rows.sorted { left, right in
            if left.relation != right.relation, let first = entity(left.relation), let second = entity(right.relation) {
                return first.name < second.name
            }
            return left.name < right.name
        }
        for row in sorted {
            let pairs = Set(zip(row.columns, row.targetColumns).map { [$0, $1] })
            let known = keys.firstIndex { key in
                key.row.relation == row.relation && key.row.target == row.target
                    && Set(zip(key.row.columns, key.row.targetColumns).map { [$0, $1] }) == pairs
            }
            if let known { keys[known].names.append(row.name) } else { keys.append(Key(names: [row.name], row: row)) }
        }
        for index in keys.indices {
            let row = keys[index].row
            let constraints = catalog.constraints.filter {
                $0.relation == row.relation && ($0.kind == .primaryKey || $0.kind == .unique)
            }.map(\.columns)
            let indexes = catalog.indexes.filter { $0.relation == row.relation && $0.isValid }.map(\.columns)
            keys[index].isOneToOne = (constraints + indexes).contains { Set($0).isSubset(of: row.columns) }
        }
    }

    private func base(_ key: Key) -> String? {
        let row = key.row
        var places = Array(row.columns.indices)
        if places.count > 1 {
            let others = catalog.constraints.filter { other in
                guard other.kind == .foreignKey, other.parent == 0, other.relation == row.relation,
                    !key.names.contains(other.name)
                else { return false }
                // A key that makes no relationship may repeat a name.
                let isCounted = keys.contains { $0.row.relation == row.relation && $0.names.contains(other.name) }
                return isCounted || other.target != row.target || Set(other.columns) != Set(row.columns)
            }
            places.removeAll { place in others.contains { $0.columns.contains(row.columns[place]) } }
            let primary = catalog.constraints.first { $0.relation == row.relation && $0.kind == .primaryKey }
            if places.count > 1 { places.removeAll { primary?.columns.contains(row.columns[$0]) ?? false } }
        }
        guard places.count == 1, let place = places.first, let column = column(row.relation, row.columns[place])?.name,
            let referenced = self.column(row.target, row.targetColumns[place])?.name,
            let target = entity(row.target)?.name.name
        else { return nil }
        return Self.base(Array(column.unicodeScalars), Array(referenced.unicodeScalars), Array(target.unicodeScalars))
    }

    private static func base(
        _ column: [Unicode.Scalar],
        _ referenced: [Unicode.Scalar],
        _ table: [Unicode.Scalar]
    ) -> String? {
        func low(_ scalars: some Sequence<Unicode.Scalar>) -> [String] {
            scalars.map { $0.properties.lowercaseMapping }
        }
        func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
            String(String.UnicodeScalarView(scalars))
        }
        for suffix in ["id", "_id"] where low(column) == low(table) + low(suffix.unicodeScalars) {
            return text(column.prefix(table.count))
        }
        let endsInID = { (scalars: [Unicode.Scalar]) in ["Id", "ID"].contains(text(scalars.suffix(2))) }
        var suffix = referenced
        if low(referenced).starts(with: low(table)), referenced.dropFirst(table.count).contains(where: { $0 != "_" }) {
            suffix = Array(referenced.dropFirst(table.count).drop { $0 == "_" })
        } else if let underscore = referenced.lastIndex(of: "_") {
            if underscore + 1 < referenced.count { suffix = Array(referenced[(underscore + 1)...]) }
        } else if referenced.count > 2, endsInID(referenced) {
            suffix = Array(referenced.suffix(2))
        }
        var end = column.count
        if low(column).suffix(suffix.count) == low(suffix)[...] {
            end -= suffix.count
            if end > 0, column[end - 1] == "_" { end -= 1 }
        } else if low(column).suffix(3) == ["_", "i", "d"] {
            end -= 3
        } else if endsInID(column) {
            end -= 2
        }
        return end == 0 ? nil : text(column.prefix(end))
    }

    // MARK: Ends

    private func machineMade(_ key: Key) -> (String) -> Bool {
        let table = entity(key.row.relation)?.name.name ?? ""
        let columns = key.row.columns.compactMap { column(key.row.relation, $0)?.name.lowercased() }
        return { name in
            let words = name.lowercased().split(separator: "_").map { word in
                String(word.reversed().drop { $0.isNumber }.reversed())
            }
            let known = ["fk", "fkey", "ibfk", "foreign", "foreignkey"]
            let third = name.dropFirst(2).first
            return name.utf8.starts(with: table.utf8) && name.utf8.dropFirst(table.utf8.count).first == 0x5F
                || words.contains(where: known.contains)
                || name.hasPrefix("FK") && (third?.isUppercase ?? false || third?.isNumber ?? false)
                || name.lowercased().contains(table.lowercased())
                    && columns.contains { name.lowercased().hasSuffix($0) }
        }
    }

    private func generated(_ key: Key) -> [(level: Double, name: String)] {
        let table = entity(key.row.relation)?.name
        return key.names.map { (6, "\(table?.schema ?? "")_\(table?.name ?? "")_\($0)") }
    }

    /// Both halves of `a__b`; nil without the two underscores.
    private func halves(_ name: String) -> (String, String)? {
        let scalars = Array(name.unicodeScalars)
        for place in scalars.indices.dropLast() where scalars[place] == "_" && scalars[place + 1] == "_" {
            return (
                String(String.UnicodeScalarView(scalars[..<place])),
                String(String.UnicodeScalarView(scalars[(place + 2)...]))
            )
        }
        return nil
    }

    private mutating func makeEnds() {
        // The order matters where generated names are equal.
        ends += keys.compactMap(target) + keys.compactMap(holder)
        let helpers = schema.entities.sorted { $0.name < $1.name }.compactMap { helper($0) }
        ways = helpers.flatMap { [$0, ($0.1, $0.0)] }
        for (first, second) in helpers { ends += [many(first, second), many(second, first)].compactMap { $0 } }
    }

    private func holder(_ key: Key) -> End? {
        guard let source = entity(key.row.relation), let destination = entity(key.row.target) else { return nil }
        let end = End("\(source.oid) by \(key.names[0]) \(destination.oid)", source.oid)
        end.offers += annotations(key, "name", level: 1)
        for name in key.names {
            if let (left, _) = halves(name) { end.offers.append((2, left)) } else { end.offers.append((3, name)) }
        }
        end.offers.append((4, destination.name.name))
        if let base = base(key) {
            end.offers.append((5, source.attribute(named: base) == nil ? base : base + "Object"))
        }
        end.offers += generated(key)
        end.order = [1, 2, 3, 5, 4, 3.5, 6]
        end.isMachineMade = machineMade(key)
        return end
    }

    private func target(_ key: Key) -> End? {
        guard let source = entity(key.row.target), let destination = entity(key.row.relation) else { return nil }
        let end = End("\(source.oid) of \(key.names[0]) \(destination.oid)", source.oid)
        let set = destination.name.name + (key.isOneToOne ? "" : "Set")
        end.offers += annotations(key, "inverse", level: 1)
        for name in key.names { if let (_, right) = halves(name) { end.offers.append((2, right)) } }
        end.offers.append((4, set))
        if let base = base(key) { end.offers.append((5, "\(base)_\(set)")) }
        end.offers += generated(key)
        end.order = [1, 2, 4, 5, 6]
        return end
    }

    private func annotations(_ key: Key, _ member: String, level: Double) -> [(level: Double, name: String)] {
        catalog.constraints.filter { row in
            row.kind == .foreignKey && row.parent == 0 && row.relation == key.row.relation
                && key.names.contains(row.name)
        }.compactMap { options($0)[member].map { (level, $0) } }
    }

    private func helper(_ table: Entity) -> (Key, Key)? {
        let own = keys.filter { $0.row.relation == table.oid && $0.row.target != table.oid }
        var pairs: [(Key, Key)] = []
        for (place, first) in own.enumerated() {
            for second in own.dropFirst(place + 1)
            where SchemaLaws.isHelper(table.oid, first.row, second.row, catalog) {
                pairs.append((first, second))
            }
        }
        return pairs.count == 1 ? pairs[0] : nil
    }

    private func many(_ near: Key, _ far: Key) -> End? {
        guard let source = entity(near.row.target), let destination = entity(far.row.target),
            let table = entity(near.row.relation)?.name
        else { return nil }
        let keys = "\(near.names[0])/\(far.names[0])"
        let end = End("\(source.oid) over \(near.row.relation) \(keys) \(destination.oid)", source.oid)
        let set = destination.name.name + "Set"
        end.offers += annotations(near, "name", level: 1.5)
        end.offers += near.names.filter { halves($0) == nil }.map { (3, $0) }
        end.offers.append((4.5, set))
        let hasDirect = self.keys.contains {
            !$0.isOneToOne && $0.row.target == source.oid && $0.row.relation == destination.oid
        }
        let isLoop = source.oid == destination.oid
        if hasDirect && !isLoop || hasRival(near, far) {
            let own = isLoop ? base(far).map { $0 + "Set" } : set
            if let own { end.offers.append((5, "\(table.name)_\(own)")) }
        } else if let base = base(far) {
            end.offers.append((5, base + "Set"))
        }
        for first in near.names {
            for second in far.names { end.offers.append((6, "\(table.schema)_\(table.name)_\(first)_\(second)")) }
        }
        end.order = [1.5, 3, 4.5, 5, 3.5, 6]
        end.isMachineMade = machineMade(near)
        return end
    }

    /// Whether another helper leads from the same table by a column of the same base, or to the same table if it has none.
    private func hasRival(_ near: Key, _ far: Key) -> Bool {
        ways.contains { other in
            guard other.near.row.relation != near.row.relation, other.near.row.target == near.row.target else {
                return false
            }
            guard let base = base(far) else { return base(other.far) == nil && other.far.row.target == far.row.target }
            return base == self.base(other.far)
        }
    }

    // MARK: Settling

    private mutating func settle(_ entity: Entity) {
        let ends = ends.filter { $0.source == entity.oid }
        var owners: [ServerText: End] = [:]
        let attributes = Set<ServerText>(texts: entity.attributes.map(\.name))
        // The first end with a generated name keeps it, and the second one of a key to its own table the name with 2.
        var kept: [ServerText: End] = [:]
        let sixth = ends.flatMap { end in end.offers.filter { $0.level == 6 }.map { (end, $0.name) } }
        for (end, name) in sixth where kept[name] == nil { kept[name] = end }
        var seconds: Set<ServerText> = []
        for (end, name) in sixth where kept[name] !== end && seconds.insert(name + "_2") {
            kept[name + "_2"] = end
        }
        // A name that several claimed at once is for none but these from then on.
        var contestants: [ServerText: [End]] = [:]
        for level in [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5] {
            var claims: [ServerText: [End]] = [:]
            for end in ends {
                for offer in end.offers where offer.level == level && !attributes.contains(offer.name) {
                    if offer.name.isEmpty { continue }
                    let isFree = owners[offer.name] == nil
                    let isKept = level >= 2 && kept[offer.name].map { $0 !== end } ?? false
                    if let known = contestants[offer.name], !known.contains(where: { $0 === end }) { continue }
                    guard isFree, !isKept, !(claims[offer.name] ?? []).contains(where: { $0 === end }) else { continue }
                    claims[offer.name, default: []].append(end)
                }
            }
            for (name, claimants) in claims where claimants.count > 1 && contestants[name] == nil {
                contestants[name] = claimants
            }
            for (name, claimants) in claims where claimants.count == 1 {
                owners[name] = claimants[0]
                claimants[0].given[name] = (level, name.text)
            }
        }
        var numbered: [(End, String)] = []
        for (end, name) in sixth {
            let isFree = !attributes.contains(name) && (owners[name] == nil || owners[name] === end)
            if isFree, kept[name] === end {
                owners[name] = end
                if end.given[name] == nil { end.given[name] = (6, name) }
            } else {
                numbered.append((end, name))
            }
        }
        for (end, name) in numbered {
            var number = 2
            while attributes.contains("\(name)_\(number)") || owners["\(name)_\(number)"] != nil
                || kept["\(name)_\(number)"].map({ $0 !== end }) ?? false
            {
                number += 1
            }
            owners["\(name)_\(number)"] = end
            end.given[name] = (6, "\(name)_\(number)")
        }
        for end in ends {
            expected[entity.oid, default: [:]][end.id] = Names(
                name: name(of: end), keys: Set(texts: end.given.values.map(\.name)))
        }
    }

    private func name(of end: End) -> String {
        for level in end.order {
            // The constraint's name is asked for twice, the first time only if a person chose it.
            for offer in end.offers where offer.level == (level == 3.5 ? 3 : level) {
                guard let given = end.given[offer.name], given.level <= offer.level else { continue }
                if level != 3 || !end.isMachineMade(given.name) { return given.name }
            }
        }
        return ""
    }
}
