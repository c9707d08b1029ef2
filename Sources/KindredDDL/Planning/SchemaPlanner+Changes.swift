import KindredPostgres

extension SchemaPlanner {
    /// Compares everything, and follows dependencies from the things that have to go.
    mutating func findChanges() {
        for (name, item) in from.items.sorted(by: { $0.key < $1.key }) {
            guard let target = to[name] else {
                // Default privileges are no thing of their own that could be dropped.
                if case .defaultPrivileges = item.content { continue }
                if item.isManaged { drop(name) }
                continue
            }
            if item.content != target.content { compare(name, item.content, target.content) }
        }
        findRenamedTypes()
    }

    private mutating func findRenamedTypes() {
        let leaving = dropped.filter { name in
            name.kind == .type
                && [.table, .foreignTable, .view, .sequence, .index].map(name.named).contains { other in
                    to[other] != nil && from[other] == nil && from.excludes(name, other)
                }
        }
        renamedTypes = replacedTypes.union(leaving).sorted()
    }

    /// Whether statements change a thing of the old side into the new side's; otherwise the difference is only named.
    ///
    /// Values and indexes stand on a collation and on a range's functions, which no statement exchanges.
    package static func isAlterable(_ name: ItemName, _ old: ItemContent, _ new: ItemContent) -> Bool {
        switch (old, new) {
        case (.other, _), (_, .other), (.range, .range): false
        case (.object, .object): name.kind != .other || name.name != "collation"
        default: true
        }
    }

    private mutating func compare(_ name: ItemName, _ old: ItemContent, _ new: ItemContent) {
        guard Self.isAlterable(name, old, new) else { return }
        switch (old, new) {
        case (.enumeration(let old), .enumeration(let new)):
            if !Self.isPart(old, of: new) { replaceType(name) }
        case (.domain(let old), .domain(let new)):
            if old.base != new.base || old.collation != new.collation { replaceType(name) }
        case (.composite(let old), .composite(let new)):
            let changes = old.contains { field in new.contains { $0.name == field.name && $0 != field } }
            // An attribute cannot change its type while columns use its type, not even columns of tables that are made
            // before.
            if changes, isUsedByColumns(name, dependents) || isUsedByColumns(name, to.dependents) { replaceType(name) }
        case (.table(let old), .table(let new)):
            if TableReplacement(from: from, to: to).isNeeded(for: name) { drop(name) }
            // A logged table refers to no unlogged one, not even between two statements.
            if old.isUnlogged != new.isUnlogged { dropForeignKeys(of: name) }
        case (.column(let old), .column(let new)): compareColumn(name, old, new)
        case (.constraint(let old), .constraint(let new)):
            if old.definition != new.definition || old.deferral != new.deferral { drop(name) }
        case (.index(let old), .index(let new)):
            if old != new { drop(name) }
        case (.view(let old), .view(let new)):
            let isReplaceable =
                !old.isMaterialized && !new.isMaterialized && new.columns.starts(with: old.columns)
                && !old.columns.isEmpty
            if isReplaceable { replacedViews.insert(name) } else { drop(name) }
        case (.object(let old), .object(let new)):
            if old.form != nil, old.form == new.form { replacedObjects.insert(name) } else { drop(name) }
        case (.sequence, _), (.schema, _), (.extension, _), (.defaultPrivileges, _), (.viewColumn, _): break
        default:
            // A type became one of another kind.
            if name.kind == .type { replaceType(name) } else { drop(name) }
        }
    }

    private mutating func compareColumn(_ name: ItemName, _ old: ColumnItem, _ new: ColumnItem) {
        let isRetyped = old.type != new.type || old.collation != new.collation
        if new.generation != nil, old.generation != new.generation || isRetyped { return drop(name) }
        if isRetyped { retype(name, isReplaced: false) }
    }

    private mutating func dropForeignKeys(of table: ItemName) {
        for (name, item) in from.items where from.constraint(name)?.kind == .foreignKey {
            if name.owner() == table || item.dependencies.contains(where: { $0.owner() == table }) { drop(name) }
        }
    }

    /// Whether all labels are among the new labels, in the same order.
    static func isPart(_ labels: [String], of all: [String]) -> Bool {
        var rest = all[...]
        for label in labels {
            guard let place = rest.firstIndex(of: label) else { return false }
            rest = rest[(place + 1)...]
        }
        return true
    }

    private func isUsedByColumns(_ type: ItemName, _ dependents: [ItemName: Set<ItemName>]) -> Bool {
        var (seen, waiting): (Set<ItemName>, [ItemName]) = ([type], [type])
        while let next = waiting.popLast() {
            for dependent in dependents[next] ?? [] where !seen.contains(dependent) {
                if dependent.kind == .column || dependent.kind == .table { return true }
                if dependent.kind == .type {
                    seen.insert(dependent)
                    waiting.append(dependent)
                }
            }
        }
        return false
    }

    // MARK: Dependents

    private enum Work {
        case drop(ItemName)
        case retype(ItemName, isReplaced: Bool)
        case replaceType(ItemName)
    }

    private mutating func drop(_ name: ItemName) { follow([.drop(name)]) }
    private mutating func retype(_ name: ItemName, isReplaced: Bool) { follow([.retype(name, isReplaced: isReplaced)]) }
    private mutating func replaceType(_ name: ItemName) { follow([.replaceType(name)]) }

    /// Without recursion, since dependencies may be as deep as a database likes.
    private mutating func follow(_ work: [Work]) {
        var work = work
        while let next = work.popLast() {
            switch next {
            case .drop(let name):
                guard dropped.insert(name).inserted else { continue }
                for dependent in dependents[name] ?? [] { work += afterDrop(of: name, dependent) }
            case .retype(let name, let isReplaced):
                guard retyped[name]?.isReplaced != true, let old = from.column(name) else { continue }
                if retyped[name] != nil && !isReplaced { continue }
                // A column that goes, or becomes another, needs no new type.
                guard let new = to.column(name), !dropped.contains(name) else { continue }
                retyped[name] = TypeChange(from: old, to: new, isReplaced: isReplaced && old.type == new.type)
                for dependent in dependents[name] ?? [] { work += afterRetyping(dependent, isReplaced) }
                // The columns of children are no things of their own.
                for child in dependents[name.owner()] ?? [] where child.kind == .table {
                    for dependent in dependents[child] ?? [] where Self.mayReadColumns(dependent) {
                        work += afterRetyping(dependent, isReplaced)
                    }
                }
            case .replaceType(let name):
                guard replacedTypes.insert(name).inserted else { continue }
                for dependent in dependents[name] ?? [] {
                    switch dependent.kind {
                    case .column: work.append(.retype(dependent, isReplaced: true))
                    case .type:
                        if case .range? = from[dependent]?.content {
                            note(dependent, name)
                        } else {
                            work.append(.replaceType(dependent))
                        }
                    case .view, .index, .trigger, .policy, .function, .foreignTable: work.append(.drop(dependent))
                    case .other where from[dependent]?.isManaged == true: work.append(.drop(dependent))
                    case .constraint: if dependent.owner(.type) != name { work.append(.drop(dependent)) }
                    default: note(dependent, name)
                    }
                }
            }
        }
    }

    /// Whether something on a child of a table may stand on a column that the child has from its parent.
    private static func mayReadColumns(_ name: ItemName) -> Bool {
        [.view, .constraint, .policy, .function].contains(name.kind) || name.kind == .other && name.name == "rule"
    }

    private mutating func afterDrop(of name: ItemName, _ dependent: ItemName) -> [Work] {
        switch dependent.kind {
        case .view, .constraint, .index, .trigger, .policy, .function, .foreignTable: return [.drop(dependent)]
        case .column:
            switch name.kind {
            case .table, .view, .foreignTable: return [.drop(dependent)]
            // A type that goes was left by its columns.
            case .type: return []
            default:
                if isGenerated(dependent) { return [.drop(dependent)] }
                resetDefaults.insert(dependent)
                return []
            }
        case .table:
            // A partition key cannot do without a function.
            if name.kind == .function || name.kind == .other { note(dependent, name) }
            // A child of a table that is made anew is made anew with it.
            return to.table(dependent)?.parents.contains(name) == true ? [.drop(dependent)] : []
        case .type:
            // Its default, or its check of ranges, cannot do without a function.
            if name.kind == .function { note(dependent, name) }
            return []
        case .schema, .sequence, .extension: return []
        case .other:
            switch from[dependent]?.content {
            case .object?: return [.drop(dependent)]
            case .other? where name.kind != .schema: note(dependent, name)
            default: break
            }
            return []
        }
    }

    /// Whether a column is calculated before and afterwards; a column that becomes an ordinary column keeps its values.
    private func isGenerated(_ column: ItemName) -> Bool {
        from.column(column)?.generation != nil && to.column(column)?.generation != nil
    }

    private mutating func afterRetyping(_ dependent: ItemName, _ isReplaced: Bool) -> [Work] {
        switch dependent.kind {
        case .view, .trigger, .policy, .function: return [.drop(dependent)]
        case .constraint: return isReplaced || from.constraint(dependent)?.kind == .foreignKey ? [.drop(dependent)] : []
        case .index: return isReplaced ? [.drop(dependent)] : []
        case .column: return isGenerated(dependent) ? [.drop(dependent)] : []
        case .other:
            if from[dependent]?.isManaged == true { return [.drop(dependent)] }
            note(dependent, nil)
            return []
        default: return []
        }
    }

    private mutating func note(_ dependent: ItemName, _ name: ItemName?) {
        let line =
            "The \(dependent.described) depends on \(name.map { "the \($0.described)" } ?? "a column"), which changes; "
            + "it is not changed with it, so a statement may fail."
        if from[dependent]?.isManaged == true { obstacles.insert(line) } else { untried.insert(line) }
    }
}
