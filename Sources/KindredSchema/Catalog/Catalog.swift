/// The rows of PostgreSQL's catalog that the model is made of, as plain values.
///
/// It is all that inference looks at: two catalogs with the same rows, in any order, give the same model.
package struct Catalog: Sendable {
    /// Tables, views and the rest of `pg_class` that can hold rows, partitions and unreadable ones included.
    package var relations: [Relation] = []
    /// Their columns, and the fields of composite types.
    package var columns: [Column] = []
    /// Primary keys, UNIQUE constraints and foreign keys.
    package var constraints: [Constraint] = []
    /// For foreign keys that stand on a single partition or refer to one: what they mean for the whole tables.
    package var partitionKeys: [PartitionKey] = []
    /// Unique indexes; those that belong to a constraint may be left out.
    package var indexes: [Index] = []
    /// Types outside `pg_catalog`.
    package var types: [TypeRow] = []
    /// Labels of the enums among them.
    package var enumLabels: [EnumLabel] = []
    /// Comments on tables and columns, and those on constraints that are annotations.
    package var comments: [Comment] = []
    /// Views that show rows of one table or view each, one for one.
    package var projections: [Projection] = []
    /// Where the columns of all views come from that show plain columns of anything.
    package var viewOrigins: [ViewOrigins] = []
    /// The schemas that unqualified names are looked up in.
    package var searchPath: [String] = []
    /// The role that read the catalog.
    package var role = ""
    /// Whether row security does not hold for that role, which is no superuser.
    package var bypassesRowSecurity = false
    /// Those schemas of the search path in which everybody may create what they like.
    package var openSchemas: [String] = []

    package init() {}
}
