import KindredPostgres

/// The name of a thing in a schema, which identifies it on both sides of a comparison.
package struct ItemName: Hashable, Comparable {
    /// Kinds in the order in which things are listed.
    package enum Kind: Int, Comparable {
        case schema, `extension`, type, function, sequence, table, foreignTable, column, constraint, index, view
        case trigger, policy, other

        package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    package var kind: Kind
    package var schema: String
    /// The relation's, type's or function's own name; empty for a schema.
    package var name = ""
    /// The column, constraint, trigger or policy of a relation.
    package var part = ""

    package static func < (left: ItemName, right: ItemName) -> Bool {
        if left.kind != right.kind { return left.kind < right.kind }
        // By their bytes, which a comparison of tuples would not do.
        if left.schema != right.schema { return left.schema < right.schema }
        return left.name == right.name ? left.part < right.part : left.name < right.name
    }

    /// The table or view that a part belongs to.
    package func owner(_ kind: Kind = .table) -> ItemName { ItemName(kind: kind, schema: schema, name: name) }

    /// The thing of another kind that has the same schema and name.
    package func named(_ kind: Kind) -> ItemName { ItemName(kind: kind, schema: schema, name: name) }

    var isEventTrigger: Bool { kind == .other && name == "event trigger" }

    /// Whether it shares the names of tables, views, sequences, indexes and composite types of the schema.
    package var isRelation: Bool {
        switch kind {
        case .table, .foreignTable, .view, .sequence, .index: true
        default: false
        }
    }

    /// A relation's or type's name with its schema, between quotes.
    var quotedPath: String {
        get throws { try SQLIdentifier.quote(schema) + "." + SQLIdentifier.quote(name) }
    }

    /// The name for people.
    package var shown: String {
        ([schema, name, part].filter { !$0.isEmpty }).joined(separator: ".")
    }

    /// The kind and the name for people.
    package var described: String {
        let word =
            switch kind {
            case .schema: "schema"
            case .extension: "extension"
            case .type: "type"
            case .function: "function"
            case .sequence: "sequence"
            case .table: "table"
            case .foreignTable: "foreign table"
            case .column: "column"
            case .constraint: "constraint"
            case .index: "index"
            case .view: "view"
            case .trigger: "trigger"
            case .policy: "policy"
            case .other: "object"
            }
        // The name of another thing begins with its kind.
        return kind == .other ? "\(name) \(part)" : "\(word) \(shown)"
    }

    package init(kind: Kind, schema: String, name: String = "", part: String = "") {
        self.kind = kind
        self.schema = schema
        self.name = name
        self.part = part
    }
}
