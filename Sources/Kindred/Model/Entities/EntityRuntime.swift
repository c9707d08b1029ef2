import HarmlessText
import KindredPostgres
package import KindredSchema
import Synchronization

/// An entity prepared for use: positions instead of names, and constant SQL texts.
///
/// Made once per schema and shared by all contexts.
package final class EntityRuntime: Sendable {
    package let entity: Entity
    /// Position in `SchemaRuntime.entities`.
    package let index: Int
    /// Positions of the identity key's attributes; empty if the entity has no key.
    package let key: [Int]
    /// How rows of several tables are told apart; nil if no other table inherits from the entity's.
    package let rowTable: RowTable?
    /// Whether the key is one integer column, which has a fast path.
    package let hasIntegerKey: Bool
    /// The relationships and the class, with the look-ups and checks made from them.
    ///
    /// Not a constant, because relationships refer to entities, which are made first. Set once, by `connect`, before the
    /// schema's runtime leaves its initializer: no task reads while it is written.
    @safe nonisolated(unsafe) private(set) var links = EntityLinks()
    /// The other tables whose rows a write through this entity may change, by position: tables below a view, and tables
    /// that have rows in common by inheritance.
    package let shownEntities: [Int]
    /// Whether other entities share the rows: for a view, a table below one, and tables in a line of inheritance.
    let sharesRows: Bool
    /// Positions of the attributes that a stored row requires, except attributes that the database always fills.
    let requiredColumns: [Int]
    /// Positions of the attributes for which only the program can give a new row's values.
    let givenColumns: [Int]
    /// Positions of the attributes that a new row may leave out.
    let columnsWithDefault: ColumnSet
    /// The generated columns.
    let generatedColumns: ColumnSet
    /// The columns for which no value can be given, because the database computes them.
    let computedColumns: ColumnSet
    /// The unique indexes and EXCLUDE constraints whose conflicts only the server can find.
    let serverChecks: [ServerCheckRuntime]
    /// The version column; nil without optimistic locking.
    let version: VersionColumn?
    /// The condition of the rows that are shown; nil if all are.
    package let filter: RowFilter?
    /// The column that tells whose a row is, in the model of a tenant's context; nil if all tenants share the rows.
    let tenantColumn: Int?
    /// Whether policies of row-level security may hide rows from the role.
    let hidesRows: Bool
    /// The error of the entity's annotations, which each use throws; nil if they fit.
    let annotationError: SchemaError?
    /// The column that marks a row as deleted; nil if deleted rows are gone.
    let deletionMark: Int?
    /// The types of the attributes in results.
    package let resultTypes: [PostgresDataType]
    /// The columns with composite values, or arrays of them.
    let compositeColumns: [Int]
    /// The columns that statements leave out unless they are asked for them.
    package let lazyColumns: ColumnSet
    /// The limits of values besides their types.
    let limits: [AttributeLimits]
    /// The columns that have such limits.
    let limitedColumns: ColumnSet
    /// The labels of enums that were read again, by column.
    let readLabels = RankedMutex<[Int: [String]]>([:], .leaf)
    /// The texts of statements on its rows, made on first use.
    let statementTexts = StatementTexts()
    /// An object that a room above keeps with the entity; made on first use.
    private let kept = RankedMutex<(any AnyObject & Sendable)?>(nil, .text)
    private let empty = RankedMutex<Row?>(nil, .leaf)
    /// Whether a write of the entity's rows has ended in a deadlock since the model was read.
    let hasDeadlocked = Atomic(false)

    init(
        entity: Entity, index: Int, shownEntities: [Int], isShown: Bool, filter: EntityFilter? = nil,
        tenantColumn: String? = nil,
        hidesRows: Bool = false, annotationError: SchemaError? = nil
    ) {
        self.hidesRows = hidesRows
        self.annotationError = annotationError
        self.tenantColumn = tenantColumn.flatMap(entity.attributeIndex(of:))
        self.filter = filter.map { RowFilter($0, of: entity) }
        deletionMark = entity.softDelete.flatMap(entity.attributeIndex(of:))
        self.shownEntities = shownEntities
        sharesRows = entity.isView || isShown || !entity.relatives.isEmpty
        self.entity = entity
        version = VersionColumn(entity)
        self.index = index
        let key = entity.primaryKeyIndexes
        self.key = key
        rowTable = RowTable(entity)
        hasIntegerKey = key.count == 1 && entity.attributes[key[0]].baseType.isInteger
        serverChecks = entity.serverChecks.compactMap { ServerCheckRuntime($0, of: entity) }
        requiredColumns = entity.attributes.indices.filter { position in
            let attribute = entity.attributes[position]
            return attribute.isNotNull && !attribute.isGenerated && attribute.identity != .always
        }
        givenColumns = requiredColumns.filter { position in
            !entity.attributes[position].hasDefault && entity.attributes[position].identity == .none
        }
        generatedColumns = ColumnSet(entity.attributes.indices.filter { entity.attributes[$0].isGenerated })
        computedColumns = ColumnSet(
            entity.attributes.indices.filter {
                entity.attributes[$0].isGenerated || entity.attributes[$0].identity == .always
            })
        columnsWithDefault = ColumnSet(entity.attributes.indices.filter { entity.attributes[$0].hasDefault })
        resultTypes = entity.attributes.map { $0.isReadAsText ? .text : $0.baseType }
        compositeColumns = entity.attributes.indices.filter { column in
            if case .composite = entity.attributes[column].structure { true } else { false }
        }
        lazyColumns = ColumnSet(entity.attributes.indices.filter { entity.attributes[$0].isLazy })
        limits = entity.attributes.enumerated().compactMap { AttributeLimits($1, column: $0) }
        limitedColumns = ColumnSet(limits.map(\.column))
    }

    package var name: QualifiedName { entity.name }

    /// The entity itself; throws if its annotations do not fit, since its names, filter or tenants may then be wrong.
    var used: EntityRuntime {
        get throws {
            if let annotationError { throw annotationError }
            return self
        }
    }

    func connect(_ links: EntityLinks) { self.links = links }

    /// Whether columns may be NULL according to the entity's class.
    func mayBeNull(_ columns: [Int]) -> Bool {
        guard let layout else { return true }
        return !layout.columns.contains { !$0.mayBeNull && columns.contains($0.position) }
    }

    /// The range of an object's row among a result's columns.
    package var attributeColumns: Range<Int> { 0..<entity.attributes.count }

    /// The columns by which a write identifies a row: the key, and the version if there is one.
    var versionedKey: [Int] { version.map { key + [$0.position] } ?? key }

    /// The object that a room above keeps with the entity, made on first use.
    func kept<Kept: AnyObject & Sendable>(_ make: () -> Kept) -> Kept {
        kept.withLock { kept in
            if let known = kept as? Kept { return known }
            let made = make()
            kept = made
            return made
        }
    }

    /// A row with NULL for every attribute, for new objects.
    func emptyRow(_ types: TypeRegistry) -> Row {
        if let known = empty.withLock({ $0 }) { return known }
        // Outside the lock: the registry has one of its own.
        let columns = RowColumns(
            zip(entity.attributes, resultTypes).map { RowColumns.Column(name: $0.name, dataType: $1) }, types: types)
        var row = Row(columns: columns, count: columns.count) { _, _ in }
        // New rows are stored in the entity's own table.
        if let rowTable { row = row.replacing(rowTable.cells) }
        let made = row
        return empty.withLock { empty in
            let first = empty ?? made
            empty = first
            return first
        }
    }

    /// An attribute's position in the entity's attributes.
    package func attributeIndex(of name: String) -> Int? { entity.attributeIndex(of: name) }

    /// The index in `attributes` of each key attribute, in key order; nil unless a foreign key that refers to these attributes
    /// leads to a row by its key.
    package func keyOrder(of attributes: [Int]) -> [Int]? {
        let key = referencedKey
        if attributes == key { return Array(key.indices) }
        guard attributes.count == key.count else { return nil }
        let order = key.compactMap { attributes.firstIndex(of: $0) }
        return order.count == key.count ? order : nil
    }

    /// The error for a write of an entity without a key, or that may only be read.
    var notWritable: KindredError {
        KindredError(
            .readOnly,
            "\(name) cannot be written: it has no primary key, is a view that takes no changes, or the role may only read it",
            entity: name.description
        )
    }

    /// The error for a search by key in an entity without one.
    var withoutKey: KindredError {
        KindredError(
            .readOnly, "\(name) has no key by which an object could be found", entity: name.description)
    }

    /// The error for a key that the entity does not have, with the nearest keys if it is to advise.
    package func unknownKey(_ key: String, isAdvised: Bool = true) -> KindredError {
        let key = key.propertyKey ?? key
        let names = entity.attributes.map(\.name) + entity.relationships.flatMap { [$0.name] + $0.aliases }
        let nearest = isAdvised ? NearestNames.suggestions(for: key, among: names) : []
        let advice =
            nearest.isEmpty
            ? "" : "; did you mean \(nearest.map { "\"\($0)\"" }.joined(separator: ", "))?"
        return KindredError(
            .unknownKey,
            "\(name) has no attribute or relationship \"\(key.shortened)\"\(advice)",
            entity: name.description,
            key: key
        )
    }
}

extension PostgresDataType {
    package var isInteger: Bool { self == .int2 || self == .int4 || self == .int8 }

    /// Whether a column of the type can hold an integer.
    func holds(_ integer: Int64) -> Bool {
        switch self {
        case .int2: Int16(exactly: integer) != nil
        case .int4: Int32(exactly: integer) != nil
        default: self == .int8
        }
    }
}
