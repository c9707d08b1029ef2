extension Catalog {
    /// A row of `pg_class`.
    package struct Relation: Sendable {
        package var oid: UInt32
        package var schema: String
        package var name: String
        /// `relkind`: r, p, v, m, f, or c for a composite type.
        package var kind: UInt8
        package var isPartition: Bool
        /// Whether the role may read every column.
        package var isReadable: Bool
        /// Whether the role may use the schema; without it nothing inside can be named.
        package var isReachable: Bool
        package var privileges: Entity.Privileges
        /// Whether a view takes changes; true for everything else.
        package var isUpdatable: Bool
        /// Whether a trigger sees new rows before they are stored, and may fill their columns.
        package var hasInsertTrigger: Bool
        /// Whether other tables inherit from this one, so that its rows are not all under its own keys.
        package var hasChildren: Bool

        package init(
            oid: UInt32,
            schema: String = "public",
            name: String,
            kind: Character = "r",
            isPartition: Bool = false,
            isReadable: Bool = true,
            isReachable: Bool = true,
            privileges: Entity.Privileges = .all,
            isUpdatable: Bool = true,
            hasInsertTrigger: Bool = false,
            hasChildren: Bool = false
        ) {
            self.oid = oid
            self.schema = schema
            self.name = name
            self.kind = kind.asciiValue ?? 0
            self.isPartition = isPartition
            self.isReadable = isReadable
            self.isReachable = isReachable
            self.privileges = privileges
            self.isUpdatable = isUpdatable
            self.hasInsertTrigger = hasInsertTrigger
            self.hasChildren = hasChildren
        }
    }

    /// A row of `pg_attribute`.
    package struct Column: Sendable {
        package var relation: UInt32
        package var number: Int16
        package var name: String
        package var type: UInt32
        package var typeModifier: Int32
        package var typeName: String
        package var isNotNull: Bool
        package var hasDefault: Bool
        /// `attidentity`: a, d, or 0.
        package var identity: UInt8
        package var isGenerated: Bool
        /// Whether the role was granted to read this very column.
        package var isGranted: Bool
        /// Whether its collation holds texts equal that differ.
        package var hasLooseCollation: Bool

        package init(
            relation: UInt32,
            number: Int16,
            name: String,
            type: UInt32 = 20,
            typeModifier: Int32 = -1,
            typeName: String = "bigint",
            isNotNull: Bool = false,
            hasDefault: Bool = false,
            identity: UInt8 = 0,
            isGenerated: Bool = false,
            isGranted: Bool = false,
            hasLooseCollation: Bool = false
        ) {
            self.relation = relation
            self.number = number
            self.name = name
            self.type = type
            self.typeModifier = typeModifier
            self.typeName = typeName
            self.isNotNull = isNotNull
            self.hasDefault = hasDefault
            self.identity = identity
            self.isGenerated = isGenerated
            self.isGranted = isGranted
            self.hasLooseCollation = hasLooseCollation
        }
    }

    /// A row of `pg_constraint`.
    package struct Constraint: Sendable {
        package enum Kind: UInt8, Sendable {
            case primaryKey = 0x70
            case unique = 0x75
            case foreignKey = 0x66
            case exclusion = 0x78
        }

        package var oid: UInt32
        package var relation: UInt32
        package var name: String
        package var kind: Kind
        package var columns: [Int16]
        /// The referenced table; 0 unless this is a foreign key.
        package var target: UInt32
        package var targetColumns: [Int16]
        /// `confdeltype`: a, r, c, n, d.
        package var deleteAction: UInt8
        /// `confupdtype`, likewise.
        package var updateAction: UInt8
        /// The columns of `ON DELETE SET NULL (...)`; empty for all.
        package var deleteSetColumns: [Int16]
        /// The constraint of the partitioned table that this one is a part of; 0 for none.
        package var parent: UInt32
        package var isEnforced: Bool
        /// Whether the last column is a period: WITHOUT OVERLAPS, or PERIOD.
        package var hasPeriod: Bool
        /// Whether MATCH FULL makes a composite foreign key NULL as a whole or not at all.
        package var isMatchFull: Bool
        /// Whether every row is known to obey; false for NOT VALID.
        package var isValidated: Bool
        /// Whether rows may break the constraint until the transaction ends.
        package var isDeferrable: Bool
        /// Whether it is checked after each statement unless `SET CONSTRAINTS` defers it by its name.
        package var canBeDeferred: Bool

        package init(
            oid: UInt32,
            relation: UInt32,
            name: String,
            kind: Kind,
            columns: [Int16],
            target: UInt32 = 0,
            targetColumns: [Int16] = [],
            deleteAction: Character = "a",
            updateAction: Character = "a",
            deleteSetColumns: [Int16] = [],
            parent: UInt32 = 0,
            isEnforced: Bool = true,
            hasPeriod: Bool = false,
            isMatchFull: Bool = false,
            isValidated: Bool = true,
            isDeferrable: Bool = false,
            canBeDeferred: Bool = false
        ) {
            self.oid = oid
            self.relation = relation
            self.name = name
            self.kind = kind
            self.columns = columns
            self.target = target
            self.targetColumns = targetColumns
            self.deleteAction = deleteAction.asciiValue ?? 0
            self.updateAction = updateAction.asciiValue ?? 0
            self.deleteSetColumns = deleteSetColumns
            self.parent = parent
            self.isEnforced = isEnforced
            self.hasPeriod = hasPeriod
            self.isMatchFull = isMatchFull
            self.isValidated = isValidated
            self.isDeferrable = isDeferrable
            self.canBeDeferred = canBeDeferred
        }
    }

    /// What a foreign key that stands on a single partition, or refers to one, means for the partitioned tables, whose
    /// columns may have other numbers.
    package struct PartitionKey: Sendable {
        /// The key in `pg_constraint`.
        package var constraint: UInt32
        /// The table that the partition which holds the key belongs to, or that holds the key itself.
        package var source: UInt32
        package var columns: [Int16]
        /// The table that the referenced partition belongs to, or that is referenced itself.
        package var target: UInt32
        package var targetColumns: [Int16]

        package init(
            constraint: UInt32, source: UInt32, columns: [Int16], target: UInt32, targetColumns: [Int16]
        ) {
            self.constraint = constraint
            self.source = source
            self.columns = columns
            self.target = target
            self.targetColumns = targetColumns
        }
    }

    /// A row of `pg_index`.
    package struct Index: Sendable {
        package var relation: UInt32
        /// The key columns, then the INCLUDE columns; 0 stands for an expression.
        package var columns: [Int16]
        /// How many of `columns` are key columns.
        package var keyCount: Int
        package var isUnique: Bool
        package var isValid: Bool
        package var hasExpressions: Bool
        /// The condition of a partial index, as `pg_get_expr` writes it.
        package var predicate: String?
        /// Whether it belongs to a constraint that rows may break until the transaction ends.
        package var isDeferrable: Bool
        /// Whether NULL is different from NULL, as it is without `NULLS NOT DISTINCT`.
        package var hasDistinctNulls: Bool

        package init(
            relation: UInt32,
            columns: [Int16],
            keyCount: Int? = nil,
            isUnique: Bool = true,
            isValid: Bool = true,
            hasExpressions: Bool = false,
            predicate: String? = nil,
            isDeferrable: Bool = false,
            hasDistinctNulls: Bool = true
        ) {
            self.relation = relation
            self.columns = columns
            self.keyCount = keyCount ?? columns.count
            self.isUnique = isUnique
            self.isValid = isValid
            self.hasExpressions = hasExpressions
            self.predicate = predicate
            self.isDeferrable = isDeferrable
            self.hasDistinctNulls = hasDistinctNulls
        }
    }

    /// A row of `pg_type`.
    package struct TypeRow: Sendable {
        package var oid: UInt32
        package var schema: String
        package var name: String
        /// `typtype`: b, c, d, e, p, r, m.
        package var kind: UInt8
        /// `typcategory`: S for strings, A for arrays.
        package var category: UInt8
        /// What a domain is made of; 0 for anything else.
        package var base: UInt32
        package var baseModifier: Int32
        /// The element of an array; 0 for anything else.
        package var element: UInt32
        /// The array of this type; 0 for none.
        package var array: UInt32
        /// The row of `pg_class` that holds a composite's fields; 0 for anything else.
        package var relation: UInt32
        package var isNotNull: Bool
        package var hasDefault: Bool

        package init(
            oid: UInt32,
            schema: String = "public",
            name: String,
            kind: Character = "b",
            category: Character = "U",
            base: UInt32 = 0,
            baseModifier: Int32 = -1,
            element: UInt32 = 0,
            array: UInt32 = 0,
            relation: UInt32 = 0,
            isNotNull: Bool = false,
            hasDefault: Bool = false
        ) {
            self.oid = oid
            self.schema = schema
            self.name = name
            self.kind = kind.asciiValue ?? 0
            self.category = category.asciiValue ?? 0
            self.base = base
            self.baseModifier = baseModifier
            self.element = element
            self.array = array
            self.relation = relation
            self.isNotNull = isNotNull
            self.hasDefault = hasDefault
        }
    }

    /// A row of `pg_enum`.
    package struct EnumLabel: Sendable {
        package var type: UInt32
        package var position: Float
        package var label: String

        package init(type: UInt32, position: Float, label: String) {
            self.type = type
            self.position = position
            self.label = label
        }
    }

    /// A row of `pg_description`.
    package struct Comment: Sendable {
        package enum Object: Sendable, Hashable {
            case relation(UInt32)
            case column(UInt32, Int16)
            /// A constraint of any kind; with its name, as it need not be among the catalog's constraints.
            case constraint(UInt32, name: String, relation: UInt32)
        }

        package var object: Object
        package var text: String

        package init(_ object: Object, _ text: String) {
            self.object = object
            self.text = text
        }
    }

    /// Where the columns of a view come from, as a description of its statement would tell.
    package struct ViewOrigins: Sendable {
        /// A column of a table or view.
        package struct Origin: Sendable, Hashable {
            package var relation: UInt32
            package var column: Int16

            package init(_ relation: UInt32, _ column: Int16) {
                self.relation = relation
                self.column = column
            }
        }

        package var view: UInt32
        /// For each column of the view that is a plain column of a table or view, that column.
        package var columns: [Int16: Origin]
        /// The relations that the view takes rows from in several places: two columns of one need not be of one row.
        package var repeated: Set<UInt32>

        package init(view: UInt32, columns: [Int16: Origin], repeated: Set<UInt32> = []) {
            self.view = view
            self.columns = columns
            self.repeated = repeated
        }
    }

    /// A view that shows each row of one table or view at most once.
    package struct Projection: Sendable {
        package var view: UInt32
        package var base: UInt32
        /// For each column of the view that is a plain column of the base, that column's number.
        package var columns: [Int16: Int16]

        package init(view: UInt32, base: UInt32, columns: [Int16: Int16]) {
            self.view = view
            self.base = base
            self.columns = columns
        }
    }
}
