import KindredPostgres
import KindredSchema

// Parameters for the columns and rows of an entity.
extension Parameters {
    /// The values of some columns of one row.
    mutating func values(
        _ values: [PostgresValue?], of columns: [Int], in entity: EntityRuntime, by foreign: ForeignComparison? = nil
    ) throws -> ColumnParameters {
        let parameters = ColumnParameters(entity: entity, columns: columns, first: next, foreign: foreign)
        for (column, value) in zip(columns, values) {
            try bindings.append(value, for: entity.entity.attributes[column])
        }
        return parameters
    }

    /// New values, in the order of their columns.
    mutating func values(_ values: ColumnValues) throws -> ColumnParameters {
        let columns = values.columns
        let parameters = ColumnParameters(entity: values.entity, columns: columns, first: next)
        for (column, value) in values.values { try values.entity.bind(value, as: column, to: &bindings) }
        return parameters
    }

    /// A value as a column's type; throws before anything is sent if it does not fit.
    mutating func value(_ value: PostgresValue?, as column: Int, of entity: EntityRuntime) throws -> Parameter {
        let parameter = Parameter(number: next)
        try entity.bind(value, as: column, to: &bindings)
        return parameter
    }

    /// The key of one row.
    mutating func key(_ key: ObjectKey, of entity: EntityRuntime) throws -> ColumnParameters {
        let parameters = ColumnParameters(entity: entity, columns: entity.key, first: next)
        try append(key, of: entity)
        return parameters
    }

    /// The key of the row that a write changes, and its expected version if the entity has versions.
    mutating func key(_ row: VersionedKey, of entity: EntityRuntime) throws -> ColumnParameters {
        let parameters = ColumnParameters(entity: entity, columns: entity.versionedKey, first: next)
        try append(row.key, of: entity)
        if let version = entity.version {
            try bindings.append(row.version, for: entity.entity.attributes[version.position])
        }
        return parameters
    }

    private mutating func append(_ key: ObjectKey, of entity: EntityRuntime) throws {
        if case .integer(let integer) = key, let attribute = entity.key.first {
            return try bindings.append(.integer(integer), as: entity.entity.attributes[attribute].baseType)
        }
        for (column, value) in zip(entity.key, key.values) {
            try bindings.append(value, for: entity.entity.attributes[column])
        }
    }

    /// The values of some columns of many rows.
    mutating func keys(
        _ keys: [ObjectKey], of columns: [Int], in entity: EntityRuntime, by foreign: ForeignComparison? = nil
    ) throws -> KeySet {
        let set = KeySet(entity: entity, columns: columns, first: next, foreign: foreign)
        try set.append(keys, to: &bindings)
        return set
    }

    /// The keys of many rows; with versions, which the entity must have, their expected versions too.
    mutating func keys(
        _ keys: [ObjectKey], versions: [PostgresValue?]?, of entity: EntityRuntime
    ) throws -> (keys: KeySet, versioned: KeySet?) {
        var set = try self.keys(keys, of: entity.key, in: entity)
        var versioned: KeySet?
        if let versions, let version = entity.version {
            versioned = KeySet(entity: entity, columns: entity.versionedKey, first: set.first)
            try KeySet.append(versions, entity.entity.attributes[version.position], to: &bindings)
        }
        set.shard = try shardValue(of: keys, in: entity, columns: entity.key) { $0.values[$1] }
        return (set, versioned)
    }

    /// Some columns of many rows; `prefix` begins the columns' names in the text.
    mutating func rows(
        _ rows: [Row], of columns: [Int], in entity: EntityRuntime, prefix: String
    ) throws -> ColumnArrays {
        let arrays = ColumnArrays(entity: entity, columns: columns, first: next, prefix: prefix)
        try arrays.append(rows, to: &bindings)
        return arrays
    }

    /// The statement with the text of a shape, made on first use.
    consuming func statement(
        _ shape: String, in entity: EntityRuntime, _ make: () throws -> String
    ) rethrows -> Statement {
        let shape = self.shape(shape)
        return statement(try entity.texts.statement(shape, make))
    }

    /// The shape of a statement that may be one for a single shard.
    func shape(_ shape: String) -> String { isOneShard ? "\(shape) in one shard" : shape }

    package consuming func statement(_ text: StatementText) -> Statement {
        Statement(text: text, bindings: bindings, resultFormat: .binary)
    }
}

extension DefaultStringInterpolation {
    /// Appends numbers in an array's form, since shapes name columns; an array would look up for each number how to
    /// print it.
    mutating func appendInterpolation(_ numbers: [Int]) {
        var separator = "["
        for number in numbers {
            appendLiteral(separator)
            appendLiteral(String(number))
            separator = ", "
        }
        appendLiteral(numbers.isEmpty ? "[]" : "]")
    }
}
