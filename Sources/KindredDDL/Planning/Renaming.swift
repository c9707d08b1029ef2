import KindredPostgres

/// A thing that gets another name in its place.
package struct Renaming {
    package let name: ItemName
    package let content: ItemContent?
    package let newName: String

    package init(_ name: ItemName, _ content: ItemContent? = nil, to newName: String) {
        self.name = name
        self.content = content
        self.newName = newName
    }

    /// The name that it has afterwards.
    package var target: ItemName {
        var target = name
        if name.part.isEmpty { target.name = newName } else { target.part = newName }
        return target
    }

    /// Statements in an order in which no name is taken; where names are exchanged, one thing gets a name between.
    package static func statements(_ renamings: [Renaming]) throws -> [SchemaStatement] {
        var waiting = renamings.filter { $0.name != $0.target }
        var (steps, exchanges): ([Renaming], Int) = ([], 0)
        while let first = waiting.first {
            let taken = Set(waiting.flatMap { occupied(by: $0.name, $0.content) })
            let ready = waiting.filter { taken.isDisjoint(with: occupied(by: $0.target, $0.content)) }
            steps += ready
            waiting.removeAll { taken.isDisjoint(with: occupied(by: $0.target, $0.content)) }
            guard ready.isEmpty else { continue }
            exchanges += 1
            let step = Renaming(first.name, first.content, to: "kindred_renaming_\(exchanges)")
            steps.append(step)
            waiting.removeFirst()
            waiting.append(Renaming(step.target, first.content, to: first.newName))
        }
        return try steps.compactMap { step in
            try DDL.rename(step.name, step.content, to: step.newName).map {
                SchemaStatement($0, lock: "ACCESS EXCLUSIVE, for a moment")
            }
        }
    }

    /// The names that nothing else can have beside a thing: an index of a constraint has its name among relations, too.
    static func occupied(by name: ItemName, _ content: ItemContent?) -> Set<ItemName> {
        switch (name.kind, content) {
        case (.constraint, .constraint(let constraint)) where ![.foreignKey, .check].contains(constraint.kind):
            [name, ItemName(kind: .index, schema: name.schema, name: name.part)]
        case (.column, _), (.constraint, _): [name]
        case (.type, .composite): [name.named(.index)]
        default: name.isRelation ? [name.named(.index)] : []
        }
    }
}

/// The renames of constraints, indexes and sequences whose tables or columns have new names already: each has the same
/// definition under another name.
package struct PartRenames {
    /// The statements, in an order in which no name is taken.
    package let statements: [SchemaStatement]
    /// The older side as they leave it.
    package let renamed: SchemaSnapshot

    package init(_ from: SchemaSnapshot, _ to: SchemaSnapshot) throws {
        let renamings = Self.free(Self.find(from, to), in: from)
        statements = try Renaming.statements(renamings)
        let targets = Dictionary(renamings.map { ($0.name, $0.target) }) { first, _ in first }
        var renamed = from
        renamed.items = [:]
        for (name, item) in from.items {
            var item = item
            item.dependencies = Set(item.dependencies.map { targets[$0] ?? $0 })
            // Its statement has its name.
            if name.kind == .index, let target = targets[name], let new = to[target] { item.content = new.content }
            renamed.items[targets[name] ?? name] = item
        }
        self.renamed = renamed.indexed()
    }

    /// A definition with its place, without the name.
    private enum Definition: Hashable {
        case constraint(table: ItemName, String, deferral: String)
        case index(String, relation: ItemName)
        case sequence(SequenceItem, schema: String)

        init?(_ name: ItemName, _ content: ItemContent) {
            switch content {
            case .constraint(let constraint) where !constraint.isOfDomain:
                self = .constraint(table: name.owner(), constraint.definition, deferral: constraint.deferral)
            case .index(let index) where index.isValid: self = .index(index.unnamed, relation: index.relation)
            case .sequence(let sequence) where sequence.owner != nil: self = .sequence(sequence, schema: name.schema)
            default: return nil
            }
        }
    }

    private static func find(_ from: SchemaSnapshot, _ to: SchemaSnapshot) -> [Renaming] {
        var added: [Definition: [ItemName]] = [:]
        for (name, item) in to.items.sorted(by: { $0.key > $1.key }) where from[name] == nil {
            if let definition = Definition(name, item.content) { added[definition, default: []].append(name) }
        }
        return from.items.filter { to[$0.key] == nil }.sorted { $0.key < $1.key }.compactMap { name, item in
            guard let definition = Definition(name, item.content), let new = added[definition]?.popLast() else {
                return nil
            }
            return Renaming(name, item.content, to: new.part.isEmpty ? new.name : new.part)
        }
    }

    /// Leaves out renames to names that something else keeps: that is dropped later, or made again.
    private static func free(_ renamings: [Renaming], in from: SchemaSnapshot) -> [Renaming] {
        let taken = Set(from.items.flatMap { Renaming.occupied(by: $0.key, $0.value.content) })
        var (free, count) = (renamings, -1)
        while free.count != count {
            count = free.count
            let kept = taken.subtracting(free.flatMap { Renaming.occupied(by: $0.name, $0.content) })
            free = free.filter { kept.isDisjoint(with: Renaming.occupied(by: $0.target, $0.content)) }
        }
        return free
    }
}
