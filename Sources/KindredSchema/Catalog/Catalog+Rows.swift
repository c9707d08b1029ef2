import KindredPostgres

extension Catalog {
    /// A row of `pg_class`.
    package struct Relation: Sendable, Hashable {
        package var oid: UInt32
        package var schema = "public"
        package var name: String
        /// `relkind`: r, p, v, m, f, or c for a composite type.
        package var kind = UInt8(ascii: "r")
        package var isPartition = false
        /// Whether the role may read every column.
        package var isReadable = true
        /// Whether the role may use the schema; without it nothing inside can be named.
        package var isReachable = true
        package var privileges: Entity.Privileges = .all
        /// Whether a view is updatable; true for everything else.
        package var isUpdatable = true
        /// Whether a BEFORE INSERT row trigger exists, which may fill columns.
        package var hasInsertTrigger = false
        /// The tables that inherit from it, directly or not: its keys do not cover their rows.
        package var children: [UInt32] = []
        /// The obstacles that may keep rows from being written.
        package var obstacles: RowObstacles = []
        /// Whether policies of row-level security apply to the role.
        package var hasActivePolicies = false
        /// The columns that the role may change where it may not change all; empty without such.
        package var updatableColumns: [Int16] = []
        /// The columns by which rows are distributed among partitions or shards; 0 for an expression.
        package var partitionColumns: [Int16] = []
        /// Whether Citus distributes its rows by that column.
        package var isDistributed = false

        package var hasChildren: Bool { !children.isEmpty }
    }

    /// A row of `pg_attribute`.
    package struct Column: Sendable, Hashable {
        package var relation: UInt32
        package var number: Int16
        package var name: String
        package var type: UInt32 = 20
        package var typeModifier: Int32 = -1
        package var typeName = "bigint"
        package var isNotNull = false
        package var hasDefault = false
        /// `attidentity`: a, d, or 0.
        package var identity: UInt8 = 0
        package var isGenerated = false
        /// Whether the role has SELECT on this column.
        package var isGranted = false
        /// Whether its collation treats different texts as equal (nondeterministic).
        package var hasLooseCollation = false
        /// Whether its default is the time of the insert; known for tables with two foreign keys, which may be helpers.
        package var hasInsertTime = false
        /// Its collation as SQL writes it; nil for the database's, and for a type without one.
        package var collation: String?
    }

    /// A row of `pg_constraint`.
    package struct Constraint: Sendable, Hashable {
        package enum Kind: UInt8, Sendable {
            case primaryKey = 0x70
            case unique = 0x75
            case foreignKey = 0x66
            case exclusion = 0x78
            case check = 0x63
        }

        package var oid: UInt32
        package var relation: UInt32
        package var name: String
        package var kind: Kind
        package var columns: [Int16]
        /// The referenced table; 0 unless this is a foreign key.
        package var target: UInt32 = 0
        package var targetColumns: [Int16] = []
        /// `confdeltype`: a, r, c, n, d.
        package var deleteAction = UInt8(ascii: "a")
        /// `confupdtype`: the same letters.
        package var updateAction = UInt8(ascii: "a")
        /// The columns of `ON DELETE SET NULL (...)`; empty for all.
        package var deleteSetColumns: [Int16] = []
        /// The partitioned table's constraint of which it is a part; 0 for none.
        package var parent: UInt32 = 0
        package var isEnforced = true
        /// Whether the last column is a period: WITHOUT OVERLAPS, or PERIOD.
        package var hasPeriod = false
        /// Whether the key is MATCH FULL: NULL in all of its columns or in none.
        package var isMatchFull = false
        /// Whether every row was checked; false for NOT VALID.
        package var isValidated = true
        /// Whether the constraint is deferred until the transaction ends.
        package var isDeferrable = false
        /// The condition of a check of one array's elements that holds for every row, as `pg_get_expr` writes it.
        package var elementCheck: String?
        /// Whether it is checked after each statement, but `SET CONSTRAINTS` can defer it by name.
        package var canBeDeferred = false
        /// Whether a foreign key leads to a table of another owner.
        package var isOfOtherOwner = false
        /// The operators by which a foreign key compares, with the referenced column on their left; empty if all are built in.
        package var operators: [UInt32] = []
    }

    /// A foreign key on a single partition, or to one, in terms of the partitioned tables, whose columns may have other
    /// numbers.
    package struct PartitionKey: Sendable, Hashable {
        /// The key in `pg_constraint`.
        package var constraint: UInt32
        /// The root of the partition that holds the key, or the table that holds it.
        package var source: UInt32
        package var columns: [Int16]
        /// The root of the referenced partition, or the referenced table.
        package var target: UInt32
        package var targetColumns: [Int16]
    }

    /// A row of `pg_index`.
    package struct Index: Sendable, Hashable {
        package var name = ""
        package var relation: UInt32
        /// The key columns, then the INCLUDE columns; 0 stands for an expression.
        package var columns: [Int16]
        /// The number of key columns in `columns`.
        package var keyCount: Int
        package var isUnique = true
        package var isValid = true
        package var hasExpressions = false
        /// The condition of a partial index, as `pg_get_expr` writes it.
        package var predicate: String?
        /// Whether it belongs to a deferred constraint.
        package var isDeferrable = false
        /// Whether NULLs are distinct; false for `NULLS NOT DISTINCT`.
        package var hasDistinctNulls = true
        /// Whether its key columns have the collations and the equality of the table's columns.
        package var hasColumnsEquality = true
        /// Whether it is the index of `REPLICA IDENTITY USING INDEX`.
        package var isReplicaIdentity = false
    }

    /// A value of a unique index or EXCLUDE constraint that is partial, or whose values only the server can compare.
    package struct ServerCheckElement: Sendable, Hashable {
        /// The index in `pg_class`.
        package var index: UInt32
        package var relation: UInt32
        /// The column; 0 for an expression, and for a generated column, whose expression stands for it.
        package var column: Int16
        package var expression: String
        package var conflict: String
        package var predicate: String?
        package var hasDistinctNulls = true
        /// Whether the index has something besides its condition that only the server can evaluate.
        package var needsServer: Bool
        /// The columns that expressions and condition depend on; 0 stands for the whole row.
        package var columns: [Int16]
    }

    /// A row of `pg_type`.
    package struct TypeRow: Sendable, Hashable {
        package var oid: UInt32
        package var schema = "public"
        package var name: String
        /// `typtype`: b, c, d, e, p, r, m.
        package var kind = UInt8(ascii: "b")
        /// `typcategory`: S for strings, A for arrays.
        package var category = UInt8(ascii: "U")
        /// The base type of a domain; 0 for anything else.
        package var base: UInt32 = 0
        package var baseModifier: Int32 = -1
        /// The element of an array; 0 for anything else.
        package var element: UInt32 = 0
        /// The array of this type; 0 for none.
        package var array: UInt32 = 0
        /// The row of `pg_class` that holds a composite's fields; 0 for anything else.
        package var relation: UInt32 = 0
        package var isNotNull = false
        package var hasDefault = false
    }

    /// A row of `pg_operator` that compares values; or an aggregate of the type on its left, which has no number.
    package struct Operator: Sendable, Hashable {
        package var oid: UInt32
        package var schema = "public"
        package var name: String
        package var left: UInt32
        package var right: UInt32
        /// The operator that gives the opposite; 0 for none.
        package var negator: UInt32 = 0
        /// Its place in the default class of the type: 1 to 5 of B-trees, 6 for equality of hash tables, 0 for none.
        package var strategy: Int16 = 0
    }

    /// A row of `pg_enum`.
    package struct EnumLabel: Sendable, Hashable {
        package var type: UInt32
        package var position: Float
        package var label: String
    }

    /// A row of `pg_description`.
    package struct Comment: Sendable, Hashable {
        package enum Object: Sendable, Hashable {
            case relation(UInt32)
            case column(UInt32, Int16)
            /// A constraint of any kind; with its name, as it may be missing from the catalog's constraints.
            case constraint(UInt32, name: String, relation: UInt32)

            /// The place of an annotation, as problems name it.
            ///
            /// - Parameters:
            ///   - table: The table or view that it stands on, or that its column or constraint belongs to.
            ///   - column: The column's name, for a comment on one.
            package func location(on table: QualifiedName, column: String = "") -> String {
                switch self {
                case .relation: "the comment on \(table)"
                case .column: "the comment on column \(column) of \(table)"
                case .constraint(_, let name, _): "the comment on constraint \(name) of \(table)"
                }
            }
        }

        package var object: Object
        package var text: String
    }

    /// The origins of a view's columns, as Describe would report them.
    package struct ViewOrigins: Sendable, Hashable {
        /// A column of a table or view.
        package struct Origin: Sendable, Hashable {
            package var relation: UInt32
            package var column: Int16
        }

        package var view: UInt32
        /// For each column of the view that is a plain column of a table or view, that column.
        package var columns: [Int16: Origin]
        /// The relations that the view reads more than once: two of their columns may be of different rows.
        package var repeated: Set<UInt32> = []
    }

    /// A view that shows each row of one table or view at most once.
    package struct Projection: Sendable, Hashable {
        package var view: UInt32
        package var base: UInt32
        /// Whether it reads the base without the tables that inherit from it.
        package var isOnly = false
        /// For each column of the view that is a plain column of the base, or its `tableoid`, that column's number.
        package var columns: [Int16: Int16]
    }
}
