import KindredPostgres
import KindredSchema

/// The new values of an update by condition: the same for all rows, or calculated for each.
struct RequestUpdate {
    private let entity: EntityRuntime
    private var constants: Assignments
    private var formulas: [Int: ConditionExpression] = [:]

    /// The columns that the statement sets.
    var written: ColumnUpdates { ColumnUpdates(entity: entity, constants: constants.written, formulas: formulas) }

    init(
        _ values: [String: (any PropertyValue)?],
        of entity: EntityRuntime,
        in core: ContextCore
    ) throws {
        self.entity = entity
        constants = Assignments(entity)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            if let calculated = value as? any CalculatedValue {
                try assign(try calculated.calculation, forKey: key)
            } else {
                try requireOwnColumns(key)
                try constants.assign(value, forKey: key, in: core)
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

    private mutating func assign(_ formula: ConditionExpression, forKey key: String) throws {
        guard let column = entity.attributeIndex(of: key) else {
            guard let relationship = entity.relationship(named: key) else { throw entity.unknownKey(key) }
            throw KindredError(
                .wrongType,
                "\(entity.name).\(relationship.model.name) is a relationship and cannot be calculated",
                entity: entity.name.description,
                key: key
            )
        }
        try entity.requireWritable(entity.entity.attributes[column], key: key)
        formulas[column] = formula
    }

    /// Throws for a relationship whose foreign key shares columns with other keys, since their values may differ by
    /// row.
    private func requireOwnColumns(_ key: String) throws {
        guard entity.attributeIndex(of: key) == nil, let relationship = entity.relationship(named: key),
            relationship.holdsForeignKey,
            case let columns = relationship.ownColumns,
            entity.ownColumns(of: columns) != columns.filter({ $0 != entity.tenantColumn || columns.count == 1 })
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

/// A value that the database calculates from a row's own columns, for `FetchRequest.update(_:)`.
///
/// ```swift
/// try await context.fetch("product").where("stock > 0").update(["stock": Formula("stock - %@", 1)])
/// ```
///
/// The text is an expression in the grammar of ``FetchRequest/where(_:_:)``: key paths over to-one relationships,
/// `path.@count`, numbers, `+` `-` `*` `/` `**`, intervals added to timestamps; each `%@` stands for an argument, which
/// is bound.
public struct Formula: PropertyValue, CalculatedValue {
    let format: String
    let arguments: [(any PropertyValue)?]

    /// Makes an expression; it is parsed, and its keys are checked, when the update is made.
    public init(_ format: String, _ arguments: (any PropertyValue)?...) {
        self.format = format
        self.arguments = arguments
    }

    /// Throws: only an update by condition takes a formula.
    public var propertyContent: DatabaseObject.PropertyContent {
        get throws { throw onlyForUpdates }
    }

    var calculation: ConditionExpression {
        get throws {
            let arguments = try arguments.map { try ConditionArgument($0) }
            var parser = FormatParser(tokens: try FormatLexer.tokens(of: format), arguments: arguments)
            return try parser.formula()
        }
    }
}

/// A calculation that an update by condition can assign instead of a value.
protocol CalculatedValue: PropertyValue {
    var calculation: ConditionExpression { get throws }
}

extension CalculatedValue {
    var onlyForUpdates: KindredError {
        KindredError(.wrongType, "A calculation can only be given to the update of a request")
    }
}
