import Kindred
import TestSupport

// Steps that read, stage and save.
extension GraphRun {
    func act(_ action: GraphAction, _ random: inout SeededGenerator) async throws {
        switch action {
        case .fetch: try await fetch(&random)
        case .drop: drop(&random)
        case .read: for _ in 0..<2 { try await compareSomething(&random) }
        case .readOther: try await readOther(&random)
        case .stageValue: try await stageValue(&random)
        case .stageKey: try await stageKey(&random)
        case .unstage: try unstage(&random)
        case .stageDeletion: try await stageDeletion(&random)
        case .setToOne: try await setToOne(&random)
        case .join: try await join(&random)
        case .leave: try await leave(&random)
        case .leaveAll: try await leaveAll(&random)
        case .replace: try await replace(&random)
        case .order: try await order(&random)
        case .insert: try await insert(&random)
        case .create: try await create(&random)
        case .writeValue: try await writeValue(&random)
        case .changeKey: try await changeKey(&random)
        case .delete: try await delete(&random)
        case .save, .saveObject: try await save(onlyOne: action == .saveObject, &random)
        case .rollback:
            say("context.rollback()")
            context.rollback()
            expected.rollback()
        case .rollbackObject: rollbackObject(&random)
        case .refresh: try await refresh(&random)
        case .rawChange: try await rawChange(&random)
        case .updateWhere: try await updateWhere(&random)
        case .deleteWhere: try await deleteWhere(&random)
        }
    }

    /// Reads some rows together, with or without their relationships, and holds some of the objects.
    private func fetch(_ random: inout SeededGenerator) async throws {
        let table = pickTable(GraphSchema.tables, &random)
        var request = try context.fetch(table)
        var text = "fetch(\(table))"
        if random.chance(25) {
            let column = GraphSchema.key(of: table)[0]
            let ids = picture.refs(table).filter { !$0.isNew }.compactMap { Int($0.key[0]) }.sorted()
            guard !ids.isEmpty else { return }
            let some = random.some(ids, atMost: ids.count)
            request = try request.where("%K IN %@", column, some)
            text += ".where(\(column) IN \(some))"
        }
        for column in GraphSchema.key(of: table) {
            let ascending = random.chance(60)
            request = try request.sorted(column, ascending: ascending)
            if !ascending { text += ".sorted(\(column), descending)" }
        }
        if random.chance(10) {
            let limit = Int.random(in: 1...4, using: &random)
            request = request.limit(limit)
            text += ".limit(\(limit))"
        }
        if random.chance(15) {
            let relation = random.pick(GraphSchema.relations(of: table))
            request = try request.prefetch(relation.name)
            text += ".prefetch(\(relation.name))"
        }
        let objects = try await request.all()
        let share = random.pick([20, 60, 100, 100])
        let kept = objects.filter { _ in random.chance(share) }
        say(text + ", and hold \(kept.compactMap(ref))")
        for object in objects { try compareAttributes(object) }
        for object in kept where !held.contains(object) { held.append(object) }
        if held.count > 16 { drop(&random) }
    }

    /// Lets go of some objects: objects that the context does not hold, either, leave memory.
    private func drop(_ random: inout SeededGenerator) {
        let kept = held.filter { _ in random.chance(50) }
        say("let go of \(held.filter { !kept.contains($0) }.compactMap(ref))")
        held = kept
    }

    private func stageValue(_ random: inout SeededGenerator) async throws {
        let table = pickTable(["unit", "item", "item", "step", "tag", "training", "ad"], &random)
        let column = random.pick(GraphSchema.values(of: table))
        guard let ref = pick(table, &random) else { return }
        let object = try await object(ref, &random)
        let value = value(column, of: table, &random)
        say("\(ref)[\(column)] = \(value ?? "nil")")
        object[column] = postgresValue(value, column)
        expected.rows[table]?[ref]?[column] = value
    }

    /// Gives a foreign key a value as an attribute.
    private func stageKey(_ random: inout SeededGenerator) async throws {
        let key = pickKey(&random) { !$0.isInPrimaryKey }
        guard let ref = pick(key.table, &random) else { return }
        let column = key.leaving[0]
        var value: String?
        let choice = Int.random(in: 0..<100, using: &random)
        if choice < 78 {
            let tenant = key.columns.count > 1 ? picture.rows[key.table]?[ref]?[key.columns[0]] : nil
            let targets = picture.refs(key.target).filter { !$0.isNew && (tenant == nil || $0.key[0] == tenant) }
            value = pick(targets, &random)?.key.last
        } else if choice < 82 {
            value = "999"
        }
        if value == nil && key.isRequired { return }
        let object = try await object(ref, &random)
        say("\(ref)[\(column)] = \(value ?? "nil")")
        object[column] = postgresValue(value, column)
        expected.links[ref]?[key.name] = nil
        expected.rows[key.table]?[ref]?[column] = value
    }

    /// Gives staged attributes the stored values again.
    private func unstage(_ random: inout SeededGenerator) throws {
        let refs = staged.filter { !$0.isInserted }.compactMap(ref)
        guard let ref = pick(refs, &random), let object = known(ref) else { return }
        for column in object.stagedValues.keys.sorted() {
            let value = picture.stored[ref.table]?[ref]?[column]
            say("\(ref)[\(column)] = \(value ?? "nil")  // as it is stored")
            object[column] = postgresValue(value, column)
            expected.rows[ref.table]?[ref]?[column] = value
        }
        guard object.stagedValues.isEmpty else {
            throw failure("\(ref) has changed values though all are as they are stored: \(object.stagedValues)")
        }
    }

    private func stageDeletion(_ random: inout SeededGenerator) async throws {
        guard let ref = pick(pickTable(["unit", "item", "part", "step", "badge", "tag", "campaign"], &random), &random)
        else {
            return
        }
        let object = try await object(ref, &random)
        say("stageDeletion(of: \(ref))")
        try context.stageDeletion(of: object)
        if ref.isNew { expected.rollback(ref) }
    }

    private func save(onlyOne: Bool, _ random: inout SeededGenerator) async throws {
        isPredicted = !staged.contains(where: \.isDeletionStaged)
        if onlyOne {
            let refs = staged.compactMap(ref)
            guard let ref = pick(refs, &random), let object = known(ref) else { return }
            say("\(ref).save()")
            try await object.save()
        } else {
            say("save()")
            try await context.save()
            guard !context.hasStagedChanges else { throw failure("something is staged after a save") }
        }
        // The shown state stays as it is; stored objects get their keys.
        for helper in GraphSchema.helpers where !onlyOne {
            expected.stored[helper.table] = expected.rows[helper.table]
        }
    }

    private func rollbackObject(_ random: inout SeededGenerator) {
        let refs = staged.compactMap(ref)
        guard let ref = pick(refs, &random), let object = known(ref) else { return }
        say("\(ref).rollback()")
        object.rollback()
        expected.rollback(ref)
    }

    private func refresh(_ random: inout SeededGenerator) async throws {
        let refs = (held + staged).filter { !$0.isInserted }.compactMap(ref)
        guard let ref = pick(refs, &random), let object = known(ref) else { return }
        say("\(ref).refresh()")
        try await object.refresh()
    }

    /// Makes a new object with values and relationships to others, stored and new ones.
    private func insert(_ random: inout SeededGenerator) async throws {
        let table = random.pick([
            "unit", "item", "item", "part", "step", "badge", "seal", "tag", "training", "ad", "campaign",
        ])
        let ref = GraphRef(table: table, key: ["\(count)"], isNew: true)
        count += 1
        var (values, row) = ownValues(table, &random)
        var text = row.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        var links: [(GraphRelation, [GraphRef])] = []
        for relation in GraphSchema.relations(of: table) {
            var refs: [GraphRef] = []
            switch relation.link {
            case .holds(let key):
                guard random.chance(key.isRequired ? 97 : 50), values[key.columns[0]] == nil || key.columns.count > 1,
                    let target = pick(related(key, row, &random), &random)
                else { continue }
                refs = [target]
            case .members(let key) where key.isInPrimaryKey || key.isRequired:
                continue
            case .members, .pairs:
                guard random.chance(15), relation.payload == nil else { continue }
                refs = pickSome(related(relation, row), atMost: relation.isToMany ? 3 : 1, &random)
            }
            guard !refs.isEmpty else { continue }
            links.append((relation, refs))
            let members = try await objects(refs, &random)
            // Whether a partner that is not in memory leaves already is not said anywhere.
            if try await holdPartners(relation, ref, refs, &random) { isPredicted = false }
            let given: (any PropertyValue)? = relation.isToMany ? members : members[0]
            values[relation.name] = given
            text.append("\(relation.name): \(refs)")
        }
        say("insert \(ref) [\(text.joined(separator: ", "))]")
        let object = try context.add(table, values)
        new.append(object)
        numbers[ObjectIdentifier(object)] = Int(ref.key[0])
        row = row.filter { $0.value != "" }
        expected.rows[table, default: [:]][ref] = row
        for (relation, refs) in links { for member in refs { expected.join(relation, ref, member) } }
        if random.chance(40) { held.append(object) }
    }
}
