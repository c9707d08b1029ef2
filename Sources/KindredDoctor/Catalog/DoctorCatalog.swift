import KindredPostgres
import KindredSchema

/// The rows of PostgreSQL's catalog that the rules look at, as plain values.
///
/// Unlike the model's catalog it holds every index, the partitions with their columns, and statistics.
struct DoctorCatalog: Sendable {
    var settings = Settings()
    var relations: [Relation] = []
    var columns: [Column] = []
    var indexes: [Index] = []
    var foreignKeys: [ForeignKey] = []
    /// The operator families of the operator classes.
    var families: [UInt32: UInt32] = [:]
    /// Which equality operators of foreign keys each operator family can search for.
    var searchable: Set<SearchOperator> = []
    var sequences: [Sequence] = []
    /// Functions in a language that resolves names by the search path, and functions that run with the rights of their
    /// owners.
    var functions: [Function] = []
    var policies: [Policy] = []
    /// Views, with the tables with row security that they read.
    var viewsOfSecuredTables: [(view: UInt32, table: UInt32)] = []
    /// Functions without a search path of their own, with the tables and views that call them.
    var looseCalls: [(relation: UInt32, function: Function)] = []
    var comments: [CatalogObject: String] = [:]
    var constraints: [Constraint] = []
    /// Objects that depend on the types of columns, so that these cannot be changed.
    var columnUses: [ColumnUse] = []
    /// The names of the extensions in the schema `public`.
    var publicExtensions: [String] = []

    struct Settings: Sendable {
        /// Such as 150004.
        var serverVersion = 0
        var isStandby = false
        var countsAccess = true
        /// How long the server has counted accesses to indexes, in seconds; nil if unknown.
        var statisticsAge: Int64?
        var isSuperuser = false
    }

    /// A row of `pg_class` that is a table, a partition or a view.
    struct Relation: Sendable {
        var oid: UInt32
        var schema = "public"
        var name: String
        /// `relkind`: r, p, v, m or f.
        var kind = UInt8(ascii: "r")
        var isPartition = false
        /// The partitioned table that it is a partition of; 0 for none.
        var parent: UInt32 = 0
        /// The tables that it inherits from, as no partition does.
        var ancestors: [UInt32] = []
        /// Whether a composite type gives it its columns.
        var isTyped = false
        /// Whether a crash empties it, so that no other table can refer to it.
        var isUnlogged = false
        /// The estimated number of rows; 0 for partitioned tables, whose partitions have them.
        var rows = 0
        var hasRowSecurity = false
        var isSecurityInvoker = false
        var hasUpdateTrigger = false
        /// Rows deleted, and updated, since statistics began.
        var deletes = 0
        var updates = 0

        var isPartitioned: Bool { kind == UInt8(ascii: "p") }
        var isView: Bool { kind == UInt8(ascii: "v") || kind == UInt8(ascii: "m") }
        /// Whether it can have indexes of its own.
        var holdsRows: Bool { kind == UInt8(ascii: "r") }
        var qualifiedName: QualifiedName { QualifiedName(schema: schema, name: name) }
    }

    /// A row of `pg_attribute`.
    struct Column: Sendable {
        var relation: UInt32
        var number: Int16
        var name: String
        var type: UInt32 = 20
        var typeName = "bigint"
        /// 0 where the type has none.
        var collation: UInt32 = 0
        /// nil for the type's usual one.
        var collationName: QualifiedName?
        var isNotNull = false
        var hasDefault = false
        var isIdentity = false
        var isGenerated = false
        /// Whether a table that it inherits from, or is a partition of, has it too.
        var isInherited = false
        /// Whether the rows of a partitioned table are divided by it.
        var isPartitionKey = false
    }

    /// A row of `pg_index`.
    struct Index: Sendable {
        var oid: UInt32
        var relation: UInt32
        var name: String
        var method = "btree"
        /// The key columns, then the INCLUDE columns; 0 stands for an expression.
        var columns: [Int16]
        var keyCount: Int
        var isUnique = false
        var isPrimary = false
        var isExclusion = false
        var isValid = true
        var isReady = true
        var isLive = true
        var hasDistinctNulls = true
        var isReplicaIdentity = false
        /// Whether it is the index of a partitioned table, which holds no rows itself.
        var isPartitioned = false
        /// Operator classes, collations and orders of the key columns.
        var classes: [UInt32] = []
        var collations: [UInt32] = []
        var options: [Int16] = []
        /// As `pg_get_expr` writes them.
        var expressions: String?
        var predicate: String?
        /// All columns of an index with an expression or a predicate, including columns that only these name; empty for
        /// every other index.
        var namedColumns: [Int16] = []
        /// The constraint that it belongs to, if any.
        var constraint: UInt32 = 0
        var constraintName: String?
        var isDeferrable = false
        /// The index of the partitioned table that it is a part of; 0 for none.
        var parent: UInt32 = 0
        /// How often it was used since statistics began.
        var scans: Int64 = 0
        var pages = 0

        var keyColumns: ArraySlice<Int16> { columns.prefix(keyCount) }
        var includedColumns: ArraySlice<Int16> { columns.dropFirst(keyCount) }
        var isUsable: Bool { isValid && isReady && isLive }
    }

    /// A row of `pg_constraint` of the kind f.
    struct ForeignKey: Sendable {
        var oid: UInt32
        var relation: UInt32
        var name: String
        var columns: [Int16]
        var target: UInt32
        var targetColumns: [Int16]
        /// `confdeltype` and `confupdtype`: a, r, c, n, d.
        var deleteAction = UInt8(ascii: "a")
        var updateAction = UInt8(ascii: "a")
        /// The columns of `ON DELETE SET NULL (...)`; empty for all.
        var deleteSetColumns: [Int16] = []
        var isMatchFull = false
        /// The constraint that it is a part of; 0 for none.
        var parent: UInt32 = 0
        var isValidated = true
        var isDeferrable = false
        var isDeferred = false
        var isEnforced = true
        /// Whether the last column is a period.
        var hasPeriod = false
        /// The operators that compare two values of each column.
        var operators: [UInt32] = []
        /// The unique index of the referenced table.
        var targetIndex: UInt32 = 0
    }

    struct SearchOperator: Sendable, Hashable {
        var family: UInt32
        var operation: UInt32
    }

    /// A sequence that gives a column its values.
    struct Sequence: Sendable {
        var oid: UInt32
        var schema = "public"
        var name: String
        var relation: UInt32
        var column: Int16
        var maximum: Int64
        var increment: Int64 = 1
        var isReadable = true
        /// nil if it was never used, or if the role may not know.
        var lastValue: Int64?
    }

    /// A row of `pg_proc`.
    struct Function: Sendable {
        var oid: UInt32
        var schema = "public"
        var name: String
        var arguments: String
        var hasSearchPath = false
        /// Whether it runs with its owner's rights.
        var isSecurityDefiner = false
        /// Whether its body was resolved when it was made: BEGIN ATOMIC.
        var isResolved = false

        var signature: String { "\(schema).\(name)(\(arguments))" }
    }

    /// A row of `pg_policy`.
    struct Policy: Sendable {
        var oid: UInt32
        var relation: UInt32
        var name: String
        var using: String?
        var check: String?
        /// Whether one of several such policies is enough.
        var isPermissive = true
        /// `polcmd`: r, a, w, d, or * for all.
        var command = UInt8(ascii: "*")
        /// `public` for every role.
        var roles: [String] = ["public"]
    }

    /// A row of `pg_constraint` of any other kind than f.
    struct Constraint: Sendable {
        var relation: UInt32
        var name: String
        /// The condition of a validated check.
        var check: String?
    }

    struct ColumnUse: Sendable {
        var relation: UInt32
        var column: Int16
        /// The object that depends on the type, such as `view totals`.
        var user: String
    }
}

/// An object that a comment, and so an annotation, can stand on.
enum CatalogObject: Sendable, Hashable {
    /// A table, view, index or sequence.
    case relation(UInt32)
    case column(UInt32, Int16)
    case constraint(UInt32)
    case function(UInt32)
    case schema(UInt32)
    case policy(UInt32)
}
