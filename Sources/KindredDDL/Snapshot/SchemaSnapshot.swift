package import KindredPostgres

/// Everything that a comparison knows of one side, under its names.
package struct SchemaSnapshot {
    package var items: [ItemName: SchemaItem] = [:]
    /// The casts that an assignment makes by itself: `integer>bigint`.
    package var assignmentCasts: Set<ServerText> = []
    /// The casts that a statement has to name.
    package var explicitCasts: Set<ServerText> = []
    /// The server's version, such as 150004.
    package var serverVersion = 0

    package init() {}

    package subscript(name: ItemName) -> SchemaItem? { items[name] }

    /// Columns and constraints by their tables and domains; see ``indexed()``.
    private var parts: [ItemName: [ItemName]] = [:]

    /// The snapshot with an index of its columns and constraints by their tables, for its present items.
    package func indexed() -> SchemaSnapshot {
        var result = self
        let parts = items.keys.filter { $0.kind == .column || $0.kind == .constraint }
        result.parts = Dictionary(grouping: parts) { $0.owner() }
        return result
    }

    /// The columns of a table, in its order.
    package func columns(of table: ItemName) -> [ItemName] {
        parts[table.owner(), default: []].filter { $0.kind == .column }
            .sorted { (items[$0]?.position ?? 0, $0) < (items[$1]?.position ?? 0, $1) }
    }

    /// The constraints of a table or domain, by name.
    package func constraints(of owner: ItemName) -> [ItemName] {
        parts[owner.owner(), default: []].filter { $0.kind == .constraint }.sorted()
    }

    package func column(_ name: ItemName) -> ColumnItem? {
        if case .column(let column) = items[name]?.content { column } else { nil }
    }

    package func table(_ name: ItemName) -> TableItem? {
        if case .table(let table) = items[name]?.content { table } else { nil }
    }

    /// The default and NOT NULL of a table's own column, as its heirs get them; nil for other columns.
    package func ownState(of column: String, in table: ItemName) -> ColumnOverride? {
        self.column(ItemName(kind: .column, schema: table.schema, name: table.name, part: column)).map {
            ColumnOverride(defaultText: $0.defaultText, isNotNull: $0.isNotNull)
        }
    }

    /// The default and NOT NULL of a table's column, its own or inherited; nil if it has none of that name.
    package func state(of column: String, in table: ItemName) -> ColumnOverride? {
        if let own = ownState(of: column, in: table) { return own }
        guard let item = self.table(table) else { return nil }
        return item.overrides[column] ?? item.parents.lazy.compactMap { state(of: column, in: $0) }.first
    }

    /// The number of tables above a table.
    package func depth(of table: ItemName) -> Int {
        var (depth, next) = (0, self.table(table)?.parents.first)
        while let parent = next, depth < 1_000 { (depth, next) = (depth + 1, self.table(parent)?.parents.first) }
        return depth
    }

    package func constraint(_ name: ItemName) -> ConstraintItem? {
        if case .constraint(let constraint) = items[name]?.content { constraint } else { nil }
    }

    package func index(_ name: ItemName) -> IndexItem? {
        if case .index(let index) = items[name]?.content { index } else { nil }
    }

    package func view(_ name: ItemName) -> ViewItem? {
        if case .view(let view) = items[name]?.content { view } else { nil }
    }

    package func sequence(_ name: ItemName) -> SequenceItem? {
        if case .sequence(let sequence) = items[name]?.content { sequence } else { nil }
    }

    package func object(_ name: ItemName) -> ObjectItem? {
        if case .object(let object) = items[name]?.content { object } else { nil }
    }

    /// The roles that privileges, policies and default privileges name.
    package var roles: [String] {
        var roles: Set<ServerText> = []
        for item in items.values {
            roles.formUnion(texts: item.grants.map(\.role))
            roles.formUnion(texts: item.roles)
        }
        // Every server has its own predefined roles.
        return roles.texts.filter { !$0.isEmpty && !$0.hasPrefix("pg_") }.sorted()
    }

    /// Whether only one of two things of the same name can exist: true for relations and composite types, and for any
    /// type and a relation with rows, since such a relation is a type, too.
    package func excludes(_ name: ItemName, _ other: ItemName) -> Bool {
        guard name.kind == .type || other.kind == .type else { return true }
        let (type, relation) = name.kind == .type ? (name, other) : (other, name)
        if [.table, .foreignTable, .view].contains(relation.kind) { return true }
        if case .composite = items[type]?.content { return true }
        return false
    }

    /// The things that depend on each thing.
    package var dependents: [ItemName: Set<ItemName>] {
        var result: [ItemName: Set<ItemName>] = [:]
        for (name, item) in items {
            for dependency in item.dependencies { result[dependency, default: []].insert(name) }
        }
        return result
    }

    /// Names in an order in which each comes after its dependencies; in a cycle the least name is the first.
    ///
    /// - Parameters:
    ///   - names: The names to bring into order.
    ///   - fold: Gives the name that stands for another: a column's table, where they are made by one statement.
    package func ordered(_ names: Set<ItemName>, fold: (ItemName) -> ItemName = { $0 }) -> [ItemName] {
        var missing: [ItemName: Set<ItemName>] = [:]
        for name in names { missing[name] = [] }
        for (name, item) in items {
            let node = fold(name)
            guard names.contains(node) else { continue }
            for dependency in item.dependencies.map(fold) where dependency != node && names.contains(dependency) {
                missing[node, default: []].insert(dependency)
            }
        }
        var waiting: [ItemName: [ItemName]] = [:]
        for (name, dependencies) in missing {
            for dependency in dependencies { waiting[dependency, default: []].append(name) }
        }
        var result: [ItemName] = []
        var ready = missing.filter(\.value.isEmpty).map(\.key).sorted(by: >)
        while result.count < names.count {
            // In a cycle one has to be the first.
            if ready.isEmpty, let next = missing.keys.min() { ready = [next] }
            guard let name = ready.popLast() else { break }
            guard missing.removeValue(forKey: name) != nil else { continue }
            result.append(name)
            for other in (waiting[name] ?? []).sorted(by: >) {
                missing[other]?.remove(name)
                if missing[other]?.isEmpty == true { ready.append(other) }
            }
        }
        return result
    }
}
