import KindredPostgres

/// The tables that a model becomes, with everything that belongs to them.
struct SchemaPlan {
    var schema: String
    var types: [TypePlan] = []
    var tables: [TablePlan] = []

    /// The names that tables, types and indexes have in the schema.
    var relations: [String] {
        types.map(\.name)
            + tables.flatMap { [$0.name] + $0.constraints.filter(\.hasIndex).map(\.name) + $0.indexes.map(\.name) }
    }
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

/// The part of a model that a table or column stands for, by the model's own names.
enum PlanOrigin: Hashable {
    case entity(String)
    case helper(entity: String, relationship: String)
    case key
    case discriminator
    /// An attribute's column; in the next two cases the name is the relationship whose foreign key or order the column
    /// holds.
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

    func column(named name: String) -> ColumnPlan? { columns.first { $0.name == name } }

    /// Gives columns other names, everywhere in the table.
    mutating func rename(_ names: [String: String]) {
        for place in columns.indices {
            columns[place].name = names[columns[place].name] ?? columns[place].name
            if case .generated(let text) = columns[place].fill {
                columns[place].fill = .generated(text.renaming(names))
            }
        }
        for place in constraints.indices {
            constraints[place].definition = constraints[place].definition.renaming(names)
        }
        for place in indexes.indices { indexes[place].definition = indexes[place].definition.renaming(names) }
        for place in foreignKeys.indices {
            foreignKeys[place].column = names[foreignKeys[place].column] ?? foreignKeys[place].column
        }
    }
}

struct ColumnPlan: Hashable {
    /// The source of the value of a column that is left out.
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

    var isGenerated: Bool {
        if case .generated = fill { true } else { false }
    }

    /// The columns that it is generated from.
    var sources: [String] {
        if case .generated(let text) = fill { text.columns } else { [] }
    }
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
    /// The text behind the table's name.
    var definition: PlanText
}
