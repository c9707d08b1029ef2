/// What would be lost on the way from one snapshot to another, and what the other looks like with all of that kept.
struct Withholding {
    /// The new side with everything that would be lost.
    private(set) var kept: SchemaSnapshot
    /// The statements that are not planned.
    private(set) var statements: [String] = []
    private let from: SchemaSnapshot

    init(from: SchemaSnapshot, to: SchemaSnapshot) {
        self.from = from
        kept = to
        // Tables before their columns, so that these are not listed twice.
        for kind: ItemName.Kind in [.table, .view, .type, .sequence, .column, .schema] {
            for (name, item) in from.items.sorted(by: { $0.key < $1.key }) where name.kind == kind {
                consider(name, item, to[name])
            }
        }
    }

    private mutating func consider(_ name: ItemName, _ item: SchemaItem, _ new: SchemaItem?) {
        switch (item.content, new?.content) {
        case (.table(let old), .table(let new)?):
            if old.partitionKey != new.partitionKey { keepTable(name, "DROP TABLE \(shown(name))") }
        case (.table, _): keepTable(name, "DROP TABLE \(shown(name))")
        case (.view(let view), nil):
            keep(name, "DROP \(view.isMaterialized ? "MATERIALIZED " : "")VIEW \(shown(name))")
            keepParts { $0.owner(.view) == name && $0.kind == .column }
            for index in from.items.keys where from.index(index)?.relation == name { keep(index, nil) }
        case (.composite(let old), .composite(let new)?):
            var fields = new
            for field in old where !new.contains(where: { $0.name == field.name }) {
                statements.append("ALTER TYPE \(shown(name)) DROP ATTRIBUTE \(quoted(field.name))")
                fields.append(field)
            }
            kept.items[name]?.content = .composite(fields)
        case (.enumeration, nil), (.domain, nil), (.composite, nil):
            keep(name, "DROP TYPE \(shown(name))")
            keepParts { $0.owner(.type) == name && $0.kind == .constraint }
        case (.sequence(let sequence), nil):
            // Where the column goes on as an identity, nothing is lost; where the column goes, it is kept with it.
            if let owner = sequence.owner, kept.column(owner)?.identity != nil { return }
            keep(name, "DROP SEQUENCE \(shown(name))")
        case (.column(let old), .column(let new)?):
            // Of a table that is kept as it is.
            guard kept.column(name) == new else { return }
            let change = TypeChange(from: old, to: new)
            let becomesGenerated = new.generation != nil && old.generation == nil
            guard change.canLoseData && !isReplaced(old, new) && new.generation == nil || becomesGenerated else {
                return
            }
            let action =
                becomesGenerated
                ? "DROP COLUMN \(quoted(name.part))" : "ALTER COLUMN \(quoted(name.part)) TYPE \(new.type)"
            statements.append("ALTER TABLE \(shown(name)) \(action)")
            kept.items[name]?.content = item.content
            keepDependencies(of: name)
        case (.column, nil):
            guard kept[name.owner()] != nil, kept[name] == nil else { return }
            keep(name, "ALTER TABLE \(shown(name)) DROP COLUMN \(quoted(name.part))")
        case (.schema, nil): keep(name, "DROP SCHEMA \(quoted(name.schema))")
        default: break
        }
    }

    /// A type that is made anew under its name is converted by way of its text.
    private func isReplaced(_ old: ColumnItem, _ new: ColumnItem) -> Bool { old.type == new.type }

    private mutating func keepTable(_ name: ItemName, _ statement: String) {
        kept.items = kept.items.filter { $0.key.owner() != name || $0.key.kind == .table }
        keep(name, statement)
        keepParts { $0.owner() == name && [.column, .constraint, .trigger, .policy].contains($0.kind) }
        for index in from.items.keys.sorted() where from.index(index)?.relation == name { keep(index, nil) }
        for index in kept.items.keys where kept.index(index)?.relation == name && from[index] == nil {
            kept.items[index] = nil
        }
    }

    private mutating func keepParts(_ condition: (ItemName) -> Bool) {
        for part in from.items.keys.sorted() where condition(part) { keep(part, nil) }
    }

    private mutating func keep(_ name: ItemName, _ statement: String?) {
        if let statement { statements.append(statement) }
        kept.items[name] = from[name]
        if name.isRelation {
            // What else would have the name has to wait.
            for kind: ItemName.Kind in [.table, .view, .sequence, .index] where kind != name.kind {
                var other = name
                other.kind = kind
                guard kept[other] != nil, from[other] == nil else { continue }
                statements.append("CREATE \(other.described.uppercased().prefix { $0 != " " }) \(shown(other))")
                kept.items[other] = nil
                kept.items = kept.items.filter { item in
                    !(item.key.schema == other.schema && item.key.name == other.name && !item.key.part.isEmpty
                        && from[item.key] == nil)
                }
            }
        }
        keepDependencies(of: name)
    }

    /// What is kept needs its schema.
    private mutating func keepDependencies(of name: ItemName) {
        let schema = ItemName(kind: .schema, schema: name.schema)
        if name.kind != .schema, kept[schema] == nil, from[schema] != nil { kept.items[schema] = from[schema] }
    }

    private func shown(_ name: ItemName) -> String { (try? DDL.path(name)) ?? name.shown }
    private func quoted(_ name: String) -> String { (try? DDL.name(name)) ?? name }
}
