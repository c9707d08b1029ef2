import Kindred
import TestSupport

// Steps that write rows at once.
extension GraphRun {
    /// Values for the columns of a new row that are no foreign keys, as they are given and as SQL shows them.
    func ownValues(
        _ table: String, _ random: inout SeededGenerator
    ) -> (values: [String: (any PropertyValue)?], row: GraphPicture.Row) {
        var (values, row): ([String: (any PropertyValue)?], GraphPicture.Row) = ([:], [:])
        for column in GraphSchema.values(of: table) {
            guard GraphSchema.isRequired(column, of: table) || random.chance(60) else { continue }
            guard let value = value(column, of: table, &random) else { continue }
            values[column] = postgresValue(value, column)
            row[column] = value
        }
        if GraphSchema.key(of: table).count > 1, table == "ad" || table == "campaign" {
            let (tenant, id) = (Int.random(in: 1...2, using: &random), 100 + count)
            count += 1
            values["tenant_id"] = tenant
            values["id"] = id
            (row["tenant_id"], row["id"]) = ("\(tenant)", "\(id)")
        }
        return (values, row)
    }

    /// The rows that a foreign key of a new row may lead to: rows of the same tenant.
    func related(_ key: GraphKey, _ row: GraphPicture.Row, _ random: inout SeededGenerator) -> [GraphRef] {
        guard let tenant = row["tenant_id"] else { return picture.refs(key.target) }
        if key.columns == ["tenant_id"] { return [] }
        return picture.refs(key.target).filter { picture.rows[key.target]?[$0]?["tenant_id"] == tenant }
    }

    /// The rows that may become members of a new row's relationship.
    func related(_ relation: GraphRelation, _ row: GraphPicture.Row) -> [GraphRef] {
        let all = picture.refs(relation.target)
        guard let tenant = row["tenant_id"] else { return all }
        return all.filter { picture.rows[relation.target]?[$0]?["tenant_id"] == tenant }
    }

    /// Takes the present partners of a one-to-one relationship into the hands of the run; whether there are any.
    ///
    /// They may be staged to leave, which the run has to see.
    func holdPartners(
        _ relation: GraphRelation, _ owner: GraphRef, _ members: [GraphRef], _ random: inout SeededGenerator
    ) async throws -> Bool {
        let key: GraphKey
        let target: GraphRef?
        switch relation.link {
        case .holds(let found) where found.isOneToOne: (key, target) = (found, members.first)
        case .members(let found) where found.isOneToOne: (key, target) = (found, owner)
        default: return false
        }
        guard let target else { return false }
        let partners = picture.refs(key.table).filter {
            picture.destination(key, of: $0) == target
                || (picture.stored[key.table]?[$0]?[key.columns[0]]).map { [$0] } == (target.isNew ? nil : target.key)
        }
        for partner in partners.sorted() { _ = try await object(partner, &random) }
        return !partners.isEmpty
    }

    func create(_ random: inout SeededGenerator) async throws {
        let table = pickTable(
            ["unit", "item", "item", "part", "step", "badge", "tag", "training", "item_tag", "ad"], &random)
        var (values, row) = ownValues(table, &random)
        var text = row.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        for key in GraphSchema.keys where key.table == table {
            guard random.chance(key.isRequired ? 100 : 60),
                let target = pick(related(key, row, &random).filter({ !$0.isNew }), &random)
            else { continue }
            values[key.name] = try await object(target, &random)
            for (column, value) in zip(key.columns, target.key) { row[column] = value }
            text.append("\(key.name): \(target)")
        }
        say("create \(table) [\(text.joined(separator: ", "))]")
        let object = try await context.create(table, values)
        guard let ref = ref(object) else { throw failure("a created object has no identity") }
        for (column, value) in zip(GraphSchema.key(of: table), ref.key) { row[column] = value }
        expected.stored[table, default: [:]][ref] = row
        expected.rows[table, default: [:]][ref] = row
        touched.append(object)
        if random.chance(50) { held.append(object) }
    }

    func writeValue(_ random: inout SeededGenerator) async throws {
        let table = pickTable(["unit", "item", "item", "step", "tag", "training"], &random)
        guard let ref = pick(table, &random) else { return }
        let object = try await object(ref, &random)
        var (values, text): ([String: (any PropertyValue)?], [String]) = ([:], [])
        for column in random.some(GraphSchema.values(of: table), atMost: 2) {
            let value = value(column, of: table, &random)
            values.updateValue(postgresValue(value, column), forKey: column)
            expected.rows[table]?[ref]?[column] = value
            text.append("\(column): \(value ?? "nil")")
        }
        say("\(ref).setValues(\(text.joined(separator: ", ")))")
        try await object.setValues(values)
    }

    /// Gives a row another primary key, which the rows that lead to it follow by ON UPDATE CASCADE.
    func changeKey(_ random: inout SeededGenerator) async throws {
        guard let ref = pick("unit", &random, storedOnly: true) else { return }
        let object = try await object(ref, &random)
        let id = Int.random(in: 1_000...99_999, using: &random)
        say("\(ref).setValue(\(id), forKey: id)")
        isPredicted = false
        try await object.setValue(id, forKey: "id")
        expected.rename([ref: GraphRef(table: "unit", key: ["\(id)"])])
    }

    func delete(_ random: inout SeededGenerator) async throws {
        let table = random.pick([
            "unit", "item", "part", "step", "badge", "seal", "tag", "training", "item_tag", "campaign",
        ])
        let refs = pickSome(picture.refs(table).filter { !$0.isNew }, atMost: 2, &random)
        guard !refs.isEmpty else { return }
        let doomed = try await objects(refs, &random)
        say("delete(\(refs))")
        isPredicted = false
        try await context.delete(doomed)
        guard doomed.allSatisfy(\.isDeleted) else { throw failure("\(refs) are deleted and do not say so") }
    }

    func updateWhere(_ random: inout SeededGenerator) async throws {
        let key = pickKey(&random) { !$0.isInPrimaryKey && $0.columns.count == 1 && !$0.isOneToOne }
        let owners = pickSome(picture.refs(key.target).filter { !$0.isNew }, atMost: 2, &random)
        guard let from = owners.first, let id = Int(from.key[0]) else { return }
        let (column, to) = (key.columns[0], owners.last.flatMap { Int($0.key[0]) } ?? 0)
        let request = try context.fetch(key.table).where("%K == %@", column, id)
        isPredicted = false
        if random.chance(30), key.table != "training" {
            let name = name(&random)
            say("fetch(\(key.table)).where(\(column) == \(id)).update(name: \(name))")
            try await request.update(["name": name])
        } else if random.chance(25), !key.isRequired {
            say("fetch(\(key.table)).where(\(column) == \(id)).update(\(key.name): nil)")
            try await request.update([key.name: nil])
        } else {
            say("fetch(\(key.table)).where(\(column) == \(id)).update(\(column): \(to))")
            try await request.update([column: to])
        }
    }

    func deleteWhere(_ random: inout SeededGenerator) async throws {
        let key = pickKey(&random) { ["part", "step", "training", "item_tag"].contains($0.table) }
        guard let owner = pick(key.target, &random, storedOnly: true), let id = Int(owner.key[0]) else { return }
        say("fetch(\(key.table)).where(\(key.columns[0]) == \(id)).delete()")
        isPredicted = false
        try await context.fetch(key.table).where("%K == %@", key.columns[0], id).delete()
    }

    /// Changes a row behind the library's back, and reads the objects again that have to do with it.
    func rawChange(_ random: inout SeededGenerator) async throws {
        var affected: [GraphRef] = []
        let statement: SQL
        if random.chance(50) {
            let key = random.pick(
                GraphSchema.keys.filter { !$0.isInPrimaryKey && $0.columns.count == 1 && !$0.isOneToOne })
            guard let ref = pick(picture.stored[key.table]?.keys.map(\.self) ?? [], &random), let id = Int(ref.key[0]),
                let target = pick(picture.refs(key.target).filter { !$0.isNew }, &random), let to = Int(target.key[0])
            else { return }
            // Not a pair that is there already.
            if picture.stored[key.table]?.values.contains(where: { other in
                GraphSchema.helper(of: key.table) != nil && other[key.columns[0]] == target.key[0]
            }) == true {
                return
            }
            affected = [ref, target]
            // Also the ends of a pair that a row of a helper stands for.
            for other in GraphSchema.keys where other.table == key.table {
                let columns = picture.stored[key.table]?[ref] ?? [:]
                let values = other.columns.compactMap { columns[$0] }
                if values.count == other.columns.count { affected.append(GraphRef(table: other.target, key: values)) }
            }
            statement = "UPDATE \(identifier: key.table) SET \(identifier: key.columns[0]) = \(to) WHERE id = \(id)"
            say("SQL: UPDATE \(key.table) SET \(key.columns[0]) = \(to) WHERE id = \(id)")
        } else if random.chance(50) {
            let table = pickTable(["item", "unit", "step"], &random)
            guard let ref = pick(picture.stored[table]?.keys.map(\.self) ?? [], &random), let id = Int(ref.key[0])
            else { return }
            affected = [ref]
            let name = "r\(Int.random(in: 0..<100_000, using: &random))"
            statement = "UPDATE \(identifier: table) SET name = \(name) WHERE id = \(id)"
            say("SQL: UPDATE \(table) SET name = '\(name)' WHERE id = \(id)")
        } else {
            guard let item = pick("item", &random, storedOnly: true), let tag = pick("tag", &random, storedOnly: true),
                let first = Int(item.key[0]), let second = Int(tag.key[0])
            else { return }
            affected = [item, tag]
            let pair = GraphRef(table: "item_tag", key: [item.key[0], tag.key[0]])
            if picture.isStored(pair) {
                affected.append(pair)
                statement = "DELETE FROM item_tag WHERE item_id = \(first) AND tag_id = \(second)"
                say("SQL: DELETE FROM item_tag WHERE item_id = \(first) AND tag_id = \(second)")
            } else {
                statement = "INSERT INTO item_tag VALUES (\(first), \(second))"
                say("SQL: INSERT INTO item_tag VALUES (\(first), \(second))")
            }
        }
        isPredicted = false
        let objects = try await objects(affected.filter(picture.isStored), &random)
        if depth > 0 { try await context.query(statement) } else { try await other.query(statement) }
        say("refresh and hold \(affected)")
        for object in objects.shuffled(using: &random) {
            do {
                try await object.refresh()
                if !pinned.contains(object) { pinned.append(object) }
            } catch let error as KindredError where error.code == .objectDeleted {
                guard object.isDeleted else { throw failure("an object whose row is gone is not deleted") }
            }
        }
    }
}
