/// What a model becomes: tables with all that belongs to them, before it is written as SQL.
struct SchemaPlan {
    var schema: String
    var types: [TypePlan] = []
    var tables: [TablePlan] = []
}

/// A composite type.
struct TypePlan: Hashable {
    var name: String
    var fields: [Field]

    struct Field: Hashable {
        var name: String
        var type: String
    }
}

/// What a table or column stands for, by the model's own names.
enum PlanOrigin: Hashable {
    case entity(String)
    case helper(entity: String, relationship: String)
    case key
    case discriminator
    /// The name is also that of a relationship whose foreign key the column is, or whose order it keeps.
    case attribute(entity: String, name: String)
    case reference(entity: String, name: String)
    case position(entity: String, name: String)
}

struct TablePlan {
    var name: String
    var origin: PlanOrigin
    var columns: [ColumnPlan] = []
    /// The primary key first, then uniqueness and conditions.
    var constraints: [ConstraintPlan] = []
    var foreignKeys: [ForeignKeyPlan] = []
    var indexes: [IndexPlan] = []
    /// The names of entities that the discriminator may hold.
    var kinds: [String] = []
    var comment: String?
}

struct ColumnPlan: Hashable {
    /// What gives a value to a column that is left out.
    enum Fill: Hashable {
        case nothing
        case value(String)
        case identity
        case generated(PlanText)
    }

    var name: String
    var origin: PlanOrigin
    /// As SQL.
    var type: String
    var isRequired = false
    var fill = Fill.nothing
    var comment: String?
}

struct ConstraintPlan: Hashable {
    var name: String
    var definition: PlanText
    /// Whether an index of the constraint's name belongs to it.
    var hasIndex = false
    var isPrimaryKey = false
}

struct ForeignKeyPlan: Hashable {
    var name: String
    var column: String
    /// The table that it refers to, by its place in the plan.
    var target: Int
    var targetColumn: String
    var onDelete: String
    /// Whether it is looked at when the transaction ends, since rows of a circle refer to each other.
    var isDeferred = false
    var comment: String?
}

struct IndexPlan: Hashable {
    var name: String
    var isUnique = false
    /// What stands behind the table's name.
    var definition: PlanText
}
