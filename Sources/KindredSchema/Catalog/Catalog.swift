import KindredPostgres

/// The rows of PostgreSQL's catalog from which the model is made, as plain values.
///
/// Inference depends on nothing else: two catalogs with the same rows, in any order, give the same model.
package struct Catalog: Sendable, Hashable {
    /// Tables, views and other relations with rows, including partitions and unreadable ones.
    package var relations: [Relation] = []
    /// The columns of the relations, and the fields of composite types.
    package var columns: [Column] = []
    /// Primary keys, UNIQUE constraints and foreign keys.
    package var constraints: [Constraint] = []
    /// Foreign keys on a single partition, or to one, in terms of the partitioned tables.
    package var partitionKeys: [PartitionKey] = []
    /// Unique indexes; indexes that belong to a constraint may be left out.
    package var indexes: [Index] = []
    /// The values of unique indexes and EXCLUDE constraints that only the server can compare, sorted by index and place.
    package var serverChecks: [ServerCheckElement] = []
    /// Types outside `pg_catalog`.
    package var types: [TypeRow] = []
    /// The operators and functions outside of `pg_catalog` that compare values.
    package var operators: [Operator] = []
    /// Labels of the enums among them.
    package var enumLabels: [EnumLabel] = []
    /// Comments on tables and columns, and comments on constraints that are annotations.
    package var comments: [Comment] = []
    /// Views that show each row of one table or view at most once.
    package var projections: [Projection] = []
    /// The origins of the columns of all views that show plain columns.
    package var viewOrigins: [ViewOrigins] = []
    /// The search path.
    package var searchPath: [String] = []
    /// The role that read the catalog.
    package var role = ""
    /// Whether that role, not a superuser, bypasses row security.
    package var bypassesRowSecurity = false
    /// Whether Citus may distribute tables.
    package var isDistributed = false
    /// The schemas of the search path in which PUBLIC may create objects.
    package var openSchemas: [String] = []

    package init() {}

    /// Notes the columns by which tables are distributed, by the tables' OIDs.
    package mutating func distribute(_ tables: [UInt32: String]) {
        var numbers: [UInt32: Int16] = [:]
        for column in columns {
            guard let name = tables[column.relation], name == column.name else { continue }
            numbers[column.relation] = column.number
        }
        for place in relations.indices {
            guard let number = numbers[relations[place].oid] else { continue }
            relations[place].partitionColumns = [number]
            relations[place].isDistributed = true
        }
    }
}
