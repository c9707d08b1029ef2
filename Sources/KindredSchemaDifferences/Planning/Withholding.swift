import KindredDDL
import KindredPostgres

/// Finds everything that would be lost on the way from one snapshot to another, and the new side with all of it retained.
struct Withholding {
    /// The new side with everything that would be lost.
    var retained: SchemaSnapshot
    /// The statements that are not planned.
    var statements: [String] = []
    let from: SchemaSnapshot
    private let to: SchemaSnapshot
    let newDependents: [ItemName: Set<ItemName>]
    let (oldParts, newParts): ([ItemName: [ItemName]], [ItemName: [ItemName]])
    let (oldSequences, newSequences): ([ItemName: [ItemName]], [ItemName: [ItemName]])
    /// Retained things whose dependencies may have to stay, too.
    private var queue: [ItemName] = []
    /// Tables that stay as they were.
    var retainedTables: Set<ItemName> = []
    /// Tables that cannot get the new side's form as long as something else stays as it was.
    var postponedTables: [ItemName] = []

    init(from: SchemaSnapshot, to: SchemaSnapshot) {
        self.from = from.indexed()
        self.to = to
        retained = to.indexed()
        newDependents = to.dependents
        (oldParts, newParts) = (from.partsOfTables, to.partsOfTables)
        (oldSequences, newSequences) = (from.sequencesOfColumns, to.sequencesOfColumns)
        let replacement = TableReplacement(from: self.from, to: retained)
        // Tables before their columns and triggers, so that columns and triggers are not listed twice.
        let kinds: [ItemName.Kind] = [
            .foreignTable, .table, .view, .type, .sequence, .column, .trigger, .policy, .function, .other, .extension,
            .schema,
        ]
        for kind in kinds {
            for (name, item) in from.items.sorted(by: { $0.key < $1.key }) where name.kind == kind {
                consider(name, item, to[name], replacement)
            }
            postponeTables()
        }
        retainNeeded()
    }

    private mutating func consider(
        _ name: ItemName, _ item: SchemaItem, _ new: SchemaItem?, _ replacement: TableReplacement
    ) {
        switch (item.content, new?.content) {
        case (.table, .table?): if replacement.isNeeded(for: name) { retainTable(name) }
        case (.table, _): retainTable(name)
        case (.view(let view), nil):
            statements.append("DROP \(view.isMaterialized ? "MATERIALIZED " : "")VIEW \(shown(name))")
            retain(name)
            retainParts { $0.owner(.view) == name && [.column, .trigger].contains($0.kind) }
            for index in from.items.keys where from.index(index)?.relation == name { retain(index) }
        case (.enumeration(let old), .enumeration(let new)?):
            var labels = new
            for (index, label) in old.enumerated() where !new.contains(label) {
                statements.append("ALTER TYPE \(shown(name)) without the label \(DDL.literal(label))")
                // Behind the label that it stood behind.
                let place = index > 0 ? labels.firstIndex(of: old[index - 1]).map { $0 + 1 } : nil
                labels.insert(label, at: place ?? 0)
            }
            retained.items[name]?.content = .enumeration(labels: labels)
        case (.composite(let old), .composite(let new)?):
            var fields = new
            for field in old where !new.contains(where: { $0.name == field.name }) {
                statements.append("ALTER TYPE \(shown(name)) DROP ATTRIBUTE \(quoted(field.name))")
                fields.append(field)
            }
            retained.items[name]?.content = .composite(fields)
        case (.enumeration, nil), (.domain, nil), (.composite, nil), (.range, nil):
            statements.append("DROP TYPE \(shown(name))")
            retain(name)
            retainParts { $0.owner(.type) == name && $0.kind == .constraint }
        case (.sequence(let sequence), nil):
            // It has gone on with its table, or the column goes on as an identity.
            guard retained[name] == nil else { return }
            if let owner = sequence.owner, retained.column(owner)?.identity != nil { return }
            statements.append("DROP SEQUENCE \(shown(name))")
            retain(name)
        case (.column(let old), .column(let new)?):
            // Nothing to do for a column of a table that is kept as it is.
            guard retained.column(name) == new else { return }
            let becomesGenerated = new.generation != nil && old.generation == nil
            let isLossy = new.generation == nil && TypeChange(from: old, to: new).canLoseData
            guard isLossy || becomesGenerated else { return }
            let action =
                becomesGenerated
                ? "DROP COLUMN \(quoted(name.part))" : "ALTER COLUMN \(quoted(name.part)) TYPE \(new.type)"
            statements.append("ALTER TABLE \(shown(name)) \(action)")
            retained.items[name]?.content = item.content
            queue.append(name)
            restoreSequences(of: name)
            postponeDependents(of: name)
        case (.column, nil):
            guard retained[name.owner()] != nil, retained[name] == nil else { return }
            statements.append("ALTER TABLE \(shown(name)) DROP COLUMN \(quoted(name.part))")
            retain(name)
        case (.object(let object), nil):
            // It has stayed with its table.
            guard retained[name] == nil else { return }
            let isPart = item.dependencies.contains { retainedTables.contains($0) || isRetained($0, .view) }
            let goesAlong = name.kind == .other && isPart
            if !goesAlong { statements.append("DROP \(object.target)") }
            retain(name)
            if name.kind == .foreignTable { retainParts { $0.owner(.foreignTable) == name && $0.kind == .column } }
        case (.extension, nil):
            statements.append("DROP EXTENSION \(quoted(name.name))")
            retain(name)
        case (.schema, nil):
            statements.append("DROP SCHEMA \(quoted(name.schema))")
            retain(name)
        default: break
        }
    }

    private func isRetained(_ name: ItemName, _ kind: ItemName.Kind) -> Bool {
        name.kind == kind && to[name] == nil && retained[name] != nil
    }

    private mutating func retainParts(_ condition: (ItemName) -> Bool) {
        for part in from.items.keys.sorted() where condition(part) { retain(part) }
    }

    mutating func retain(_ name: ItemName) {
        retained.items[name] = from[name]
        queue.append(name)
        guard name.isRelation || name.kind == .type else { return }
        // Another thing that would have the name has to wait.
        for kind: ItemName.Kind in [.type, .table, .foreignTable, .view, .sequence, .index] where kind != name.kind {
            let other = name.named(kind)
            if retained[other] != nil, from[other] == nil, retained.excludes(name, other) { postpone(other) }
        }
    }

    /// Postpones every change that depends on a postponed one, or on something that stays as it was.
    mutating func postponeDependents(of name: ItemName) {
        for dependent in (newDependents[name] ?? []).sorted() {
            guard isManaged(dependent), dependent.owner() != name, dependent.kind != .table, retained[dependent] != nil
            else { continue }
            if dependent.kind == .column, retained.column(dependent)?.generation == nil { continue }
            if retained[dependent]?.content != from[dependent]?.content { postpone(dependent) }
        }
    }

    mutating func postpone(_ name: ItemName) {
        var work = [name]
        while let next = work.popLast() {
            guard retained[next] != nil, retained[next]?.content != from[next]?.content else { continue }
            if next.kind == .table {
                postponedTables.append(next)
                continue
            }
            if let old = from[next] {
                statements.append("the new definition of the \(next.described)")
                retained.items[next] = old
                queue.append(next)
            } else {
                if next.kind != .column { statements.append("the new \(next.described)") }
                retained.items[next] = nil
            }
            restoreSequences(of: next)
            work += (newDependents[next] ?? []).filter { isManaged($0) && $0.kind != .table }.sorted()
        }
    }

    /// Retains everything that retained things stand on, as it was.
    private mutating func retainNeeded() {
        var done: Set<ItemName> = []
        while let next = queue.popLast() {
            guard done.insert(next).inserted else { continue }
            for need in (from[next]?.dependencies ?? []).sorted() where from[need]?.isManaged == true {
                if retained[need] == nil {
                    retained.items[need] = from[need]
                    queue.append(need)
                    if from.constraint(need)?.kind == .primaryKey { postponeOtherKeys(than: need) }
                } else if need.kind == .view || need.kind == .constraint, retained[need]?.content != from[need]?.content
                {
                    statements.append("the new definition of the \(need.described)")
                    retained.items[need] = from[need]
                    queue.append(need)
                }
            }
        }
    }

    private func isManaged(_ name: ItemName) -> Bool { retained[name]?.isManaged ?? false }

    func shown(_ name: ItemName) -> String { (try? DDL.path(name)) ?? name.shown }
    private func quoted(_ name: String) -> String { (try? DDL.name(name)) ?? name }
}
