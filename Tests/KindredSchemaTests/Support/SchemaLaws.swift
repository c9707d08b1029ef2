import KindredPostgres
import KindredSchema

/// Facts about every model that was made of a catalog, derived anew and slowly from the catalog's rows.
struct SchemaLaws {
    private let schema: DatabaseSchema
    /// The foreign keys that count; keys that repeat each other stand together.
    private let keys: [[Catalog.Constraint]]
    /// For each helper table, the tables that its two keys refer to.
    private let helpers: [(UInt32, UInt32)]

    init(schema: DatabaseSchema, catalog: Catalog) {
        self.schema = schema
        keys = Self.countedKeys(schema, catalog)
        helpers = Self.helpers(keys, schema, catalog)
    }

    /// The laws that are broken, in words.
    func broken() -> [String] {
        let laws: [(Entity) -> [String]] = [
            ambiguousKeys, lostKeys, lostHelpers, unmatchedInverses, unexplainedNames,
        ]
        return schema.entities.flatMap { entity in laws.flatMap { $0(entity) } }
    }

    /// Every key reaches one thing, and attributes come first.
    func ambiguousKeys(_ entity: Entity) -> [String] {
        var broken: [String] = []
        var seen: Set<ServerText> = []
        let attributes = Set<ServerText>(texts: entity.attributes.map(\.name))
        for relationship in entity.relationships {
            for key in [relationship.name] + relationship.aliases {
                if key.isEmpty { broken.append("\(entity) has an empty key") }
                if !seen.insert(key) { broken.append("\(entity).\(key) is ambiguous") }
                if attributes.contains(key) { broken.append("\(entity).\(key) hides an attribute") }
                if entity.relationship(named: key) !== relationship { broken.append("\(entity).\(key) is not found") }
            }
            if !relationship.aliases.isSortedByBytes { broken.append("aliases of \(relationship) are not sorted") }
        }
        if !entity.relationships.map(\.name).isSortedByBytes { broken.append("\(entity) is not sorted") }
        return broken
    }

    /// Every foreign key that counts has both ends, and nothing else has.
    private func lostKeys(_ entity: Entity) -> [String] {
        let held = keys.filter { $0[0].relation == entity.oid }
        let referring = keys.filter { $0[0].target == entity.oid }
        let holders = entity.relationships.filter(\.holdsForeignKey)
        let targets = entity.relationships.filter { !$0.holdsForeignKey && $0.helper == nil }
        var broken: [String] = []
        if holders.count != held.count { broken.append("\(entity) holds \(held.count) keys, \(holders.count) found") }
        if targets.count != referring.count {
            broken.append("\(referring.count) keys refer to \(entity), \(targets.count) found")
        }
        for (ends, keys) in [(holders, held), (targets, referring)] {
            for end in ends where !keys.contains(where: { $0.map(\.name).contains(end.foreignKey ?? "") }) {
                broken.append("\(end) has the unknown key \(end.foreignKey ?? "-")")
            }
        }
        return broken
    }

    /// Every pair of keys that makes its table a helper gives both ends; several pairs give none.
    private func lostHelpers(_ entity: Entity) -> [String] {
        let expected = helpers.reduce(0) { sum, helper in
            sum + (helper.0 == entity.oid ? 1 : 0) + (helper.1 == entity.oid ? 1 : 0)
        }
        let found = entity.relationships.count { $0.kind == .manyToMany }
        return found == expected ? [] : ["\(entity) has \(found) many-to-many ends, not \(expected)"]
    }

    private static func helpers(
        _ keys: [[Catalog.Constraint]],
        _ schema: DatabaseSchema,
        _ catalog: Catalog
    ) -> [(UInt32, UInt32)] {
        schema.entities.compactMap { table in
            let candidates = keys.map { $0[0] }.filter { $0.relation == table.oid && $0.target != table.oid }
            var pairs: [(UInt32, UInt32)] = []
            for (place, first) in candidates.enumerated() {
                for second in candidates.dropFirst(place + 1) where isHelper(table.oid, first, second, catalog) {
                    pairs.append((first.target, second.target))
                }
            }
            return pairs.count == 1 ? pairs[0] : nil
        }
    }

    static func isHelper(
        _ table: UInt32,
        _ first: Catalog.Constraint,
        _ second: Catalog.Constraint,
        _ catalog: Catalog
    ) -> Bool {
        let (left, right) = (Set(first.columns), Set(second.columns))
        if left.isSubset(of: right) || right.isSubset(of: left) { return false }
        let together = left.union(right)
        let own = catalog.constraints.filter { $0.relation == table }
        let primary = own.first { $0.kind == .primaryKey }.map { Set($0.columns) }
        if primary == together { return true }
        let required = Set(catalog.columns.filter { $0.relation == table && $0.isNotNull }.map(\.number))
        let unique = own.contains { $0.kind == .unique && Set($0.columns) == together }
        return unique && together.isSubset(of: required) && !(primary?.isSubset(of: together) ?? false)
    }

    private static func countedKeys(_ schema: DatabaseSchema, _ catalog: Catalog) -> [[Catalog.Constraint]] {
        var groups: [Set<[UInt32]>: [Catalog.Constraint]] = [:]
        let entities = Set(schema.entities.map(\.oid))
        let ignored = Set(
            catalog.comments.compactMap { comment -> UInt32? in
                guard case .constraint(let oid, _, _) = comment.object else { return nil }
                return comment.text.contains("\"ignore\": true") ? oid : nil
            }
        )
        for key in catalog.constraints where key.kind == .foreignKey && key.parent == 0 {
            guard entities.contains(key.relation), entities.contains(key.target), !ignored.contains(key.oid)
            else { continue }
            let pairs = zip(key.columns, key.targetColumns).map { [UInt32($0), UInt32($1)] }
            groups[Set(pairs + [[key.relation, key.target, 0]]), default: []].append(key)
        }
        return Array(groups.values)
    }

    /// Every end knows the other one, and they are two views of the same thing.
    func unmatchedInverses(_ entity: Entity) -> [String] {
        entity.relationships.compactMap { relationship in
            guard let inverse = schema[relationship.destination]?.relationship(named: relationship.inverse) else {
                return "\(relationship) has no inverse"
            }
            let kinds: [Relationship.Kind: Relationship.Kind] = [
                .oneToOne: .oneToOne, .oneToMany: .manyToOne, .manyToOne: .oneToMany, .manyToMany: .manyToMany,
            ]
            let matches =
                inverse.name == relationship.inverse && inverse.inverse == relationship.name
                && inverse.destination == relationship.source && inverse.source == relationship.destination
                && inverse.foreignKey == relationship.foreignKey && inverse.kind == kinds[relationship.kind]
                && inverse.columns == relationship.destinationColumns
                && inverse.destinationColumns == relationship.columns
                && inverse.helper?.sourceForeignKey == relationship.helper?.destinationForeignKey
                && inverse.helper?.sourceColumns == relationship.helper?.destinationColumns
                && (relationship.helper != nil || inverse.holdsForeignKey != relationship.holdsForeignKey)
                && inverse !== relationship
            return matches ? nil : "\(relationship) and \(inverse) do not match"
        }
    }

    /// The explanation tells of exactly the names that were given, a generated one among them.
    func unexplainedNames(_ entity: Entity) -> [String] {
        entity.relationships.compactMap { relationship in
            let given = relationship.explanation.filter(\.isGiven)
            let keys = Set<ServerText>(texts: [relationship.name] + relationship.aliases)
            if Set<ServerText>(texts: given.map(\.name)) != keys { return "\(relationship) is not explained" }
            return given.contains { $0.rule == .generated } ? nil : "\(relationship) has no generated name"
        }
    }
}

extension [String] {
    fileprivate var isSortedByBytes: Bool {
        zip(self, dropFirst()).allSatisfy { $0 < $1 }
    }
}
