import KindredDDL

/// What would be lost on the way from one snapshot to another, and what the other looks like with all of that kept.
struct Withholding {
    /// The new side with everything that would be lost.
    var kept: SchemaSnapshot
    /// The statements that are not planned.
    var statements: [String] = []
    let from: SchemaSnapshot
    let newDependents: [ItemName: Set<ItemName>]
    let (oldParts, newParts): ([ItemName: [ItemName]], [ItemName: [ItemName]])
    let (oldSequences, newSequences): ([ItemName: [ItemName]], [ItemName: [ItemName]])
    /// What is kept and may need other things.
    private var waiting: [ItemName] = []
    /// Tables that stay as they were.
    var keptTables: Set<ItemName> = []
    /// Tables of the new side that cannot be what they are there, as long as something else stays as it was.
    var heldTables: [ItemName] = []

    init(from: SchemaSnapshot, to: SchemaSnapshot) {
        self.from = from.indexed()
        kept = to.indexed()
        newDependents = to.dependents
        (oldParts, newParts) = (from.partsOfTables, to.partsOfTables)
        (oldSequences, newSequences) = (from.sequencesOfColumns, to.sequencesOfColumns)
        let replacement = TableReplacement(from: self.from, to: kept)
        // Tables before their columns, so that these are not listed twice.
        for kind: ItemName.Kind in [.table, .view, .type, .sequence, .column, .schema] {
            for (name, item) in from.items.sorted(by: { $0.key < $1.key }) where name.kind == kind {
                consider(name, item, to[name], replacement)
            }
            if kind == .table { holdForeignNames() }
            holdTables()
        }
        keepNeeded()
    }

    private mutating func consider(
        _ name: ItemName, _ item: SchemaItem, _ new: SchemaItem?, _ replacement: TableReplacement
    ) {
        switch (item.content, new?.content) {
        case (.table, .table?): if replacement.isNeeded(for: name) { keepTable(name) }
        case (.table, _): keepTable(name)
        case (.view(let view), nil):
            statements.append("DROP \(view.isMaterialized ? "MATERIALIZED " : "")VIEW \(shown(name))")
            keep(name)
            keepParts { $0.owner(.view) == name && $0.kind == .column }
            for index in from.items.keys where from.index(index)?.relation == name { keep(index) }
        case (.enumeration(let old), .enumeration(let new)?):
            var labels = new
            for (index, label) in old.enumerated() where !new.contains(label) {
                statements.append("ALTER TYPE \(shown(name)) without the label \(DDL.literal(label))")
                // Behind the label that it stood behind.
                let place = index > 0 ? labels.firstIndex(of: old[index - 1]).map { $0 + 1 } : nil
                labels.insert(label, at: place ?? 0)
            }
            kept.items[name]?.content = .enumeration(labels: labels)
        case (.composite(let old), .composite(let new)?):
            var fields = new
            for field in old where !new.contains(where: { $0.name == field.name }) {
                statements.append("ALTER TYPE \(shown(name)) DROP ATTRIBUTE \(quoted(field.name))")
                fields.append(field)
            }
            kept.items[name]?.content = .composite(fields)
        case (.enumeration, nil), (.domain, nil), (.composite, nil):
            statements.append("DROP TYPE \(shown(name))")
            keep(name)
            keepParts { $0.owner(.type) == name && $0.kind == .constraint }
        case (.sequence(let sequence), nil):
            // It has gone on with its table, or the column goes on as an identity.
            guard kept[name] == nil else { return }
            if let owner = sequence.owner, kept.column(owner)?.identity != nil { return }
            statements.append("DROP SEQUENCE \(shown(name))")
            keep(name)
        case (.column(let old), .column(let new)?):
            // Of a table that is kept as it is.
            guard kept.column(name) == new else { return }
            let becomesGenerated = new.generation != nil && old.generation == nil
            let isLossy = new.generation == nil && TypeChange(from: old, to: new).canLoseData
            guard isLossy || becomesGenerated else { return }
            let action =
                becomesGenerated
                ? "DROP COLUMN \(quoted(name.part))" : "ALTER COLUMN \(quoted(name.part)) TYPE \(new.type)"
            statements.append("ALTER TABLE \(shown(name)) \(action)")
            kept.items[name]?.content = item.content
            waiting.append(name)
            restoreSequences(of: name)
            holdDependents(of: name)
        case (.column, nil):
            guard kept[name.owner()] != nil, kept[name] == nil else { return }
            statements.append("ALTER TABLE \(shown(name)) DROP COLUMN \(quoted(name.part))")
            keep(name)
        case (.schema, nil):
            statements.append("DROP SCHEMA \(quoted(name.schema))")
            keep(name)
        default: break
        }
    }

    private mutating func keepParts(_ condition: (ItemName) -> Bool) {
        for part in from.items.keys.sorted() where condition(part) { keep(part) }
    }

    mutating func keep(_ name: ItemName) {
        kept.items[name] = from[name]
        waiting.append(name)
        guard name.isRelation || name.kind == .type else { return }
        // What else would have the name has to wait.
        for kind: ItemName.Kind in [.type, .table, .view, .sequence, .index] where kind != name.kind {
            let other = name.named(kind)
            if kept[other] != nil, from[other] == nil, kept.excludes(name, other) { hold(other) }
        }
    }

    /// What the new side builds on something that stays as it was stays as it was, too, or waits.
    mutating func holdDependents(of name: ItemName) {
        for dependent in (newDependents[name] ?? []).sorted() where SchemaPlanner.isManaged(dependent) {
            guard dependent.owner() != name, dependent.kind != .table, kept[dependent] != nil else { continue }
            if dependent.kind == .column, kept.column(dependent)?.generation == nil { continue }
            if kept[dependent]?.content != from[dependent]?.content { hold(dependent) }
        }
    }

    mutating func hold(_ name: ItemName) {
        var work = [name]
        while let next = work.popLast() {
            guard kept[next] != nil, kept[next]?.content != from[next]?.content else { continue }
            if next.kind == .table {
                heldTables.append(next)
                continue
            }
            if let old = from[next] {
                statements.append("the new definition of the \(next.described)")
                kept.items[next] = old
                waiting.append(next)
            } else {
                if next.kind != .column { statements.append("the new \(next.described)") }
                kept.items[next] = nil
            }
            restoreSequences(of: next)
            work += (newDependents[next] ?? []).filter { SchemaPlanner.isManaged($0) && $0.kind != .table }.sorted()
        }
    }

    /// What is kept needs what it stands on, as it was.
    private mutating func keepNeeded() {
        var done: Set<ItemName> = []
        while let next = waiting.popLast() {
            guard done.insert(next).inserted else { continue }
            for need in (from[next]?.dependencies ?? []).sorted() where SchemaPlanner.isManaged(need) {
                if kept[need] == nil {
                    kept.items[need] = from[need]
                    waiting.append(need)
                    if from.constraint(need)?.kind == .primaryKey { holdOtherKeys(than: need) }
                } else if need.kind == .view || need.kind == .constraint, kept[need]?.content != from[need]?.content {
                    statements.append("the new definition of the \(need.described)")
                    kept.items[need] = from[need]
                    waiting.append(need)
                }
            }
        }
    }

    func shown(_ name: ItemName) -> String { (try? DDL.path(name)) ?? name.shown }
    private func quoted(_ name: String) -> String { (try? DDL.name(name)) ?? name }
}
