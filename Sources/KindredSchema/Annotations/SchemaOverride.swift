import KindredPostgres

/// An annotation given in code instead of in a comment in the database.
///
/// It takes precedence over a comment on the same object.
///
/// ```swift
/// .foreignKey("email_person_id_fkey", of: "email", name: "owner", inverse: "emails", deleteRule: .cascade)
/// // COMMENT ON CONSTRAINT email_person_id_fkey ON email IS
/// //     '@kindred {"name": "owner", "inverse": "emails", "deleteRule": "cascade"}'
/// ```
public struct SchemaOverride: Sendable, Hashable {
    /// The pair of foreign keys that makes a table a helper table.
    public enum HelperChoice: Sendable, Hashable {
        /// The table is not a helper.
        case noHelper
        /// The table is a helper with these two constraints.
        case pair(String, String)
    }

    enum Target: Sendable, Hashable {
        case foreignKey(String, ForeignKeyOptions)
        case table(TableOptions)
        case column(String, ColumnOptions)
        /// The unique key that identifies objects, as long as it is one.
        case preferredKey([String])
    }

    let table: String
    let target: Target

    /// Whether its table is among a catalog's relations.
    package func isOfTable(in catalog: Catalog) -> Bool {
        let meanings = Set(DatabaseSchema.interpretations(of: table, searchPath: catalog.searchPath))
        return catalog.relations.contains { meanings.contains(QualifiedName(catalog: $0.schema, $0.name)) }
    }

    /// Sets names and rules of a foreign key's relationships.
    ///
    /// - Parameters:
    ///   - constraint: The foreign key's name.
    ///   - table: The table that holds it: `email` by the search path, or `public.email`.
    ///   - name: The name of the relationship on the table that holds the key; in a helper table also the name of the
    ///     referenced table's many-to-many relationship, unless `manyToMany` says otherwise.
    ///   - inverse: The name of the relationship on the referenced table.
    ///   - manyToMany: For a key of a helper table, the name of the referenced table's many-to-many relationship.
    ///   - deleteRule: The effect of deleting an object of the referenced table on the objects that refer to it.
    ///   - toOneDeleteRule: The effect of deleting an object that holds the key on the object that it refers to.
    ///   - manyToManyDeleteRule: The effect of deleting an object of the referenced table on its many-to-many partners.
    ///   - orderedBy: A column of the table that holds the key, which orders the referenced table's sets.
    ///   - minimumCount: The smallest number of objects in the referenced table's set at the end of a transaction that
    ///     changed it; a write outside of one is a transaction by itself. Raw SQL is not checked. Two statements in one
    ///     round trip lock and count the affected owners; a change that may remove members looks up their owners first.
    ///     Under REPEATABLE READ two concurrent transactions may both pass; use SERIALIZABLE if that matters.
    ///   - maximumCount: The largest number.
    ///   - ignore: Whether the key makes no relationship.
    public static func foreignKey(
        _ constraint: String,
        of table: String,
        name: String? = nil,
        inverse: String? = nil,
        manyToMany: String? = nil,
        deleteRule: DeleteRule? = nil,
        toOneDeleteRule: DeleteRule? = nil,
        manyToManyDeleteRule: DeleteRule? = nil,
        orderedBy: String? = nil,
        minimumCount: Int? = nil,
        maximumCount: Int? = nil,
        ignore: Bool? = nil
    ) -> SchemaOverride {
        let options = ForeignKeyOptions(
            name: name,
            inverse: inverse,
            manyToMany: manyToMany,
            deleteRule: deleteRule,
            toOneDeleteRule: toOneDeleteRule,
            manyToManyDeleteRule: manyToManyDeleteRule,
            orderedBy: orderedBy,
            minimumCount: minimumCount,
            maximumCount: maximumCount,
            ignore: ignore
        )
        return SchemaOverride(table: table, target: .foreignKey(constraint, options))
    }

    /// Sets the key of a table's or view's objects, whether it is an entity or a helper, and which rows are shown.
    ///
    /// - Parameters:
    ///   - table: The table or view: `person` by the search path, or `public.person`.
    ///   - key: The columns that identify an object, for views and tables without a key.
    ///   - manyToMany: The pair of foreign keys that makes the table a helper, if several pairs qualify.
    ///   - ignore: Whether to leave the table out; its foreign keys then make no relationships.
    ///   - optimisticLocking: How a write detects that the row has changed since it was read.
    ///   - relationships: Whether a view joins in the relationships of the tables that it shows: always, or never.
    ///     Without it a view does unless a foreign key would give more than 100 relationships by views.
    ///   - group: The name of the group of the table or view in diagrams, such as `sales`.
    ///   - filter: The condition of the rows that are shown, in the grammar of format strings: `archived == false`. It
    ///     names columns of the table and constants.
    ///   - softDelete: A nullable timestamp column that marks a row as deleted. Rows in which it has a value are not
    ///     shown, and `delete` sets it.
    ///   - tenant: Whether a row belongs to the tenant in the column that the tenants of contexts are told by, which is the
    ///     default. `false` leaves the table out: all tenants share its rows.
    public static func table(
        _ table: String,
        key: [String]? = nil,
        manyToMany: HelperChoice? = nil,
        ignore: Bool? = nil,
        optimisticLocking: OptimisticLocking? = nil,
        relationships: Bool? = nil,
        group: String? = nil,
        filter: String? = nil,
        softDelete: String? = nil,
        tenant: Bool? = nil
    ) -> SchemaOverride {
        let options = TableOptions(
            key: key, manyToMany: manyToMany, ignore: ignore, optimisticLocking: optimisticLocking,
            relationships: relationships, group: group, filter: filter, softDelete: softDelete, tenant: tenant)
        return SchemaOverride(table: table, target: .table(options))
    }

    /// Sets whether a column is an attribute, whether it is its row's version, whether it is read with its row, and what generated
    /// classes make of it.
    ///
    /// - Parameters:
    ///   - column: The column's name.
    ///   - table: The table or view it belongs to: `person` by the search path, or `public.person`.
    ///   - ignore: Whether to leave the column out; columns of the key and of foreign keys cannot be left out.
    ///   - version: Whether every write increments the column, and fails if another writer has; it is an integer or a
    ///     timestamp, and NOT NULL.
    ///   - lazy: Whether objects are read without the column, which is loaded when it is asked for; not for columns of keys,
    ///     unique indexes, relationships and the filter.
    ///   - property: The name of the property in generated classes; `kindred generate` alone looks at it.
    ///   - nullElements: Whether an array may have NULL among its elements. `false` makes the property an array of values in place
    ///     of optionals, as a CHECK of the form `array_position(tags, NULL) IS NULL` does.
    public static func column(
        _ column: String,
        of table: String,
        ignore: Bool? = nil,
        version: Bool? = nil,
        lazy: Bool? = nil,
        property: String? = nil,
        nullElements: Bool? = nil
    ) -> SchemaOverride {
        SchemaOverride(
            table: table,
            target: .column(
                column,
                ColumnOptions(
                    ignore: ignore, version: version, lazy: lazy, property: property, nullElements: nullElements)))
    }
}

extension SchemaOverride {
    /// Has a unique key identify the objects of a table without a primary key, whatever other unique keys come; nothing where it is
    /// none any more.
    package static func preferredKey(_ columns: [String], of table: String) -> SchemaOverride {
        SchemaOverride(table: table, target: .preferredKey(columns))
    }
}

struct ForeignKeyOptions: Sendable, Hashable {
    var name: String?
    var inverse: String?
    var manyToMany: String?
    var deleteRule: DeleteRule?
    var toOneDeleteRule: DeleteRule?
    var manyToManyDeleteRule: DeleteRule?
    var orderedBy: String?
    var minimumCount: Int?
    var maximumCount: Int?
    var ignore: Bool?

    /// The other one's options, completed by this one's.
    func overridden(by other: Self) -> Self {
        Self(
            name: other.name ?? name,
            inverse: other.inverse ?? inverse,
            manyToMany: other.manyToMany ?? manyToMany,
            deleteRule: other.deleteRule ?? deleteRule,
            toOneDeleteRule: other.toOneDeleteRule ?? toOneDeleteRule,
            manyToManyDeleteRule: other.manyToManyDeleteRule ?? manyToManyDeleteRule,
            orderedBy: other.orderedBy ?? orderedBy,
            minimumCount: other.minimumCount ?? minimumCount,
            maximumCount: other.maximumCount ?? maximumCount,
            ignore: other.ignore ?? ignore
        )
    }
}

struct TableOptions: Sendable, Hashable {
    var key: [String]?
    var manyToMany: SchemaOverride.HelperChoice?
    var ignore: Bool?
    var optimisticLocking: OptimisticLocking?
    var relationships: Bool?
    var group: String?
    var filter: String?
    var softDelete: String?
    var tenant: Bool?

    /// The other one's options, completed by this one's.
    func overridden(by other: Self) -> Self {
        Self(
            key: other.key ?? key,
            manyToMany: other.manyToMany ?? manyToMany,
            ignore: other.ignore ?? ignore,
            optimisticLocking: other.optimisticLocking ?? optimisticLocking,
            relationships: other.relationships ?? relationships,
            group: other.group ?? group,
            filter: other.filter ?? filter,
            softDelete: other.softDelete ?? softDelete,
            tenant: other.tenant ?? tenant
        )
    }
}

struct ColumnOptions: Sendable, Hashable {
    var ignore: Bool?
    var version: Bool?
    var lazy: Bool?
    var property: String?
    var nullElements: Bool?

    /// The other one's options, completed by this one's.
    func overridden(by other: Self) -> Self {
        Self(
            ignore: other.ignore ?? ignore, version: other.version ?? version, lazy: other.lazy ?? lazy,
            property: other.property ?? property, nullElements: other.nullElements ?? nullElements)
    }
}
