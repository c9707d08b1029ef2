import KindredPostgres
import KindredSchema

/// The new values of an update by condition: the same for all rows, or calculated for each.
struct RequestUpdate {
    private let entity: EntityRuntime
    private var constants: Assignments
    private var formulas: [Int: ConditionExpression] = [:]

    /// What the statement sets.
    var written: ColumnUpdates { ColumnUpdates(entity: entity, constants: constants.written, formulas: formulas) }

    init(
        _ values: [String: (any PropertyValue)?],
        of entity: EntityRuntime,
        in context: DatabaseContext
    ) throws {
        self.entity = entity
        constants = Assignments(entity)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            if let calculated = value as? any CalculatedValue {
                try take(try calculated.calculation, forKey: key)
            } else {
                try requireOwnColumns(key)
                try constants.assign(value, forKey: key, in: context)
            }
        }
        for column in columns { try entity.requireNoVersion(column, key: entity.entity.attributes[column].name) }
        for column in columns where entity.key.contains(column) {
            let name = entity.entity.attributes[column].name
            throw KindredError(
                .readOnly,
                "\(entity.name).\(name) identifies the objects; change it object by object",
                entity: entity.name.description,
                key: name
            )
        }
    }

    /// The columns that are set, in the entity's order.
    var columns: [Int] { written.columns }

    private mutating func take(_ formula: ConditionExpression, forKey key: String) throws {
        guard let column = entity.attributeIndex(of: key) else {
            if entity.relationship(named: key) == nil { throw entity.unknownKey(key) }
            throw KindredError(
                .wrongType,
                "\(entity.name).\(key.propertyKey ?? key) is a relationship and cannot be calculated",
                entity: entity.name.description,
                key: key
            )
        }
        try entity.requireWritable(entity.entity.attributes[column], key: key)
        formulas[column] = formula
    }

    /// Refuses a relationship whose foreign key shares columns with others, since those of the rows may differ.
    private func requireOwnColumns(_ key: String) throws {
        guard entity.attributeIndex(of: key) == nil, let relationship = entity.relationship(named: key),
            case .foreignKey(let columns, _) = relationship.link, entity.ownColumns(of: columns) != columns
        else { return }
        throw KindredError(
            .wrongType,
            """
            \(entity.name).\(relationship.model.name) shares a column with another key, so that not every row can refer to the same object; \
            set it object by object
            """,
            entity: entity.name.description,
            key: key
        )
    }
}
