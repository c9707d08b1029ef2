import KindredPostgres

@testable import KindredSchema

/// Builds catalogs from short descriptions.
///
/// Tables are named `person` (in `public`) or `audit.person`; columns are written `id!` for NOT NULL.
struct TestCatalog {
    private(set) var catalog = Catalog()
    private var nextOID: UInt32 = 20_000
    // By bytes, as PostgreSQL tells names apart.
    private var oids: [[UInt8]: UInt32] = [:]
    private var columnNames: [[UInt8]: [String]] = [:]

    init() {
        catalog.searchPath = ["public"]
        catalog.role = "tester"
    }

    static func make(_ body: (inout TestCatalog) -> Void) -> TestCatalog {
        var catalog = TestCatalog()
        body(&catalog)
        return catalog
    }

    mutating func oid() -> UInt32 {
        nextOID += 1
        return nextOID
    }

    func oid(of table: String) -> UInt32 {
        oids[Array(table.utf8)] ?? 0
    }

    func numbers(_ columns: [String], of table: String) -> [Int16] {
        columns.map { column in
            Int16((columnNames[Array(table.utf8)] ?? []).firstIndex { $0 == column }.map { $0 + 1 } ?? 0)
        }
    }

    mutating func table(
        _ name: String,
        _ columns: [String],
        primaryKey: [String]? = nil,
        kind: Character = "r",
        modify: (inout Catalog.Relation) -> Void = { _ in }
    ) {
        let oid = oid()
        oids[Array(name.utf8)] = oid
        let bareNames = columns.map { $0.hasSuffix("!") ? String($0.dropLast()) : $0 }
        columnNames[Array(name.utf8)] = bareNames
        let (schema, bare) = Self.split(name)
        var relation = Catalog.Relation(oid: oid, schema: schema, name: bare, kind: kind.asciiValue ?? 0)
        modify(&relation)
        catalog.relations.append(relation)
        let isKeyed = primaryKey ?? []
        for (index, column) in columns.enumerated() {
            let bareColumn = bareNames[index]
            catalog.columns.append(
                Catalog.Column(
                    relation: oid,
                    number: Int16(index + 1),
                    name: bareColumn,
                    isNotNull: column.hasSuffix("!") || isKeyed.contains { $0 == bareColumn }
                )
            )
        }
        if let primaryKey { constraint("\(bare)_pkey", of: name, .primaryKey, primaryKey) }
    }

    mutating func modifyColumn(_ column: String, of table: String, _ modify: (inout Catalog.Column) -> Void) {
        for index in catalog.columns.indices
        where catalog.columns[index].relation == oid(of: table) && catalog.columns[index].name == column {
            modify(&catalog.columns[index])
        }
    }

    mutating func unique(_ name: String, of table: String, _ columns: [String]) {
        constraint(name, of: table, .unique, columns)
    }

    mutating func constraint(
        _ name: String,
        of table: String,
        _ kind: Catalog.Constraint.Kind,
        _ columns: [String],
        modify: (inout Catalog.Constraint) -> Void = { _ in }
    ) {
        var row = Catalog.Constraint(
            oid: oid(),
            relation: oid(of: table),
            name: name,
            kind: kind,
            columns: numbers(columns, of: table)
        )
        modify(&row)
        catalog.constraints.append(row)
    }

    mutating func index(of table: String, _ columns: [String], modify: (inout Catalog.Index) -> Void = { _ in }) {
        var row = Catalog.Index(
            relation: oid(of: table), columns: numbers(columns, of: table), keyCount: columns.count)
        modify(&row)
        catalog.indexes.append(row)
    }

    /// Adds a foreign key; returns its OID.
    @discardableResult
    mutating func foreignKey(
        _ name: String,
        of table: String,
        _ columns: [String],
        to target: String,
        _ targetColumns: [String] = ["id"],
        modify: (inout Catalog.Constraint) -> Void = { _ in }
    ) -> UInt32 {
        let oid = oid()
        var row = Catalog.Constraint(
            oid: oid,
            relation: self.oid(of: table),
            name: name,
            kind: .foreignKey,
            columns: numbers(columns, of: table),
            target: self.oid(of: target),
            targetColumns: numbers(targetColumns, of: target)
        )
        modify(&row)
        catalog.constraints.append(row)
        return oid
    }

    /// Says what a foreign key of a partition, or to one, means for the tables that they are partitions of.
    mutating func partitionKey(
        _ name: String,
        of table: String,
        _ columns: [String],
        to target: String,
        _ targetColumns: [String] = ["id"]
    ) {
        let row = catalog.constraints.last { $0.kind == .foreignKey && $0.name == name }
        catalog.partitionKeys.append(
            Catalog.PartitionKey(
                constraint: row?.oid ?? 0,
                source: oid(of: table),
                columns: numbers(columns, of: table),
                target: oid(of: target),
                targetColumns: numbers(targetColumns, of: target)
            )
        )
    }

    mutating func comment(onTable table: String, _ text: String) {
        catalog.comments.append(.init(object: .relation(oid(of: table)), text: text))
    }

    mutating func comment(onColumn column: String, of table: String, _ text: String) {
        catalog.comments.append(.init(object: .column(oid(of: table), numbers([column], of: table)[0]), text: text))
    }

    mutating func comment(onConstraint name: String, of table: String, _ text: String) {
        let row = catalog.constraints.first { $0.relation == oid(of: table) && $0.name == name }
        catalog.comments.append(
            .init(object: .constraint(row?.oid ?? 0, name: name, relation: oid(of: table)), text: text))
    }

    mutating func projection(_ view: String, of base: String, _ columns: [String: String]) {
        var mapping: [Int16: Int16] = [:]
        for (shown, origin) in columns {
            mapping[numbers([shown], of: view)[0]] = numbers([origin], of: base)[0]
        }
        catalog.projections.append(.init(view: oid(of: view), base: oid(of: base), columns: mapping))
    }

    /// Adds a view that shows columns of a table or view as they are, under their names or `new=old`.
    ///
    /// - Parameter isProjection: Whether it shows each row at most once, and so has the table's key.
    mutating func view(
        _ name: String,
        of base: String,
        _ columns: [String],
        isProjection: Bool = true,
        kind: Character = "v"
    ) {
        let pairs = columns.map { column -> (shown: String, origin: String) in
            let parts = column.split(separator: "=", maxSplits: 1).map(String.init)
            return (parts[0], parts[parts.count - 1])
        }
        table(name, pairs.map(\.shown), kind: kind)
        var origins: [Int16: Catalog.ViewOrigins.Origin] = [:]
        for (place, pair) in pairs.enumerated() {
            origins[Int16(place + 1)] = .init(
                relation: oid(of: base), column: numbers([pair.origin], of: base)[0])
        }
        catalog.viewOrigins.append(.init(view: oid(of: name), columns: origins))
        guard isProjection else { return }
        catalog.projections.append(
            .init(view: oid(of: name), base: oid(of: base), columns: origins.mapValues(\.column)))
    }

    mutating func modify(_ body: (inout Catalog) -> Void) {
        body(&catalog)
    }

    func schema(_ overrides: [SchemaOverride] = []) throws -> DatabaseSchema {
        try DatabaseSchema(catalog: catalog, overrides: overrides)
    }

    private static func split(_ name: String) -> (String, String) {
        guard let dot = name.firstIndex(of: ".") else { return ("public", name) }
        return (String(name[..<dot]), String(name[name.index(after: dot)...]))
    }
}

extension DatabaseSchema {
    /// The relationship that a key reaches, or nil.
    func relationship(_ entity: String, _ key: String) throws -> Relationship? {
        try self.entity(named: entity).relationship(named: key)
    }

    /// An entity's relationships in one line each: `name [aliases] kind destination inverse`.
    func summary(_ entity: String) throws -> [String] {
        try self.entity(named: entity).relationships.map { relationship in
            let names = ([relationship.name] + relationship.aliases).joined(separator: " ")
            return "\(names): \(relationship.kind) \(relationship.destination) \(relationship.inverse)"
        }
    }
}

extension Entity {
    /// Every key of every relationship.
    var keys: [String] {
        relationships.flatMap { [$0.name] + $0.aliases }
    }
}
