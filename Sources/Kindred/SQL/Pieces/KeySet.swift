import KindredPostgres
import KindredSchema

/// A set of keys as parameters: one array per key column, for any number of keys.
struct KeySet {
    let entity: EntityRuntime
    let columns: [Int]
    /// The number of the first array.
    var first = 1
    /// The value by which the rows are distributed, if all keys share it.
    var shard: ShardValue?
    /// How a foreign key compares the columns with the keys.
    var foreign: ForeignComparison?

    /// The keys without the shard's value, as for a condition on rows with other keys.
    var unconfined: KeySet { KeySet(entity: entity, columns: columns, first: first, foreign: foreign) }

    /// The condition for rows whose columns are one of the keys.
    ///
    /// One column: `t."id" = ANY($1)`. Several: `(t."a", t."b") IN (SELECT * FROM unnest($1, $2))`. Where a comparison is not
    /// `=`, several columns are compared one by one.
    func condition(_ alias: String? = nil) throws -> String {
        let names = try columns.map { try entity.texts.compared($0, alias: alias) }
        let shard = try shard.clause(alias)
        if names.count == 1, foreign == nil {
            return "\(entity.texts.equality(of: columns[0], names[0], "ANY(\(arrays[0]))"))\(shard)"
        }
        if foreign != nil || entity.hasOwnEquality(columns) { return "\(try exists(alias))\(shard)" }
        return "(\(names.joined(separator: ", "))) IN (SELECT * FROM \(rows))\(shard)"
    }

    /// The condition for rows whose columns are one of the keys, each compared by its own type's `=`.
    ///
    /// `IN` compares whole rows, and so needs an order on every type, which types such as `xid` do not have.
    func exists(_ alias: String?) throws -> String {
        // Beside columns without an alias a name that no table has.
        let prefix = alias == nil ? "kindred_given_" : "k"
        let pairs = try columns.enumerated().map { place, column in
            let (name, value) = (try entity.texts.compared(column, alias: alias), "given.\(prefix)\(place)")
            return foreign?.sql(at: place, name, value) ?? entity.texts.equality(of: column, value, name)
        }
        return "EXISTS (SELECT FROM \(table("given", names: prefix)) WHERE \(pairs.joined(separator: " AND ")))"
    }

    /// `t."a" = o.k0 AND …`: whether a row has the key that stands in a FROM item.
    func equality(_ alias: String, to item: String) throws -> String {
        try columns.enumerated().map { place, column in
            let name = try entity.texts.compared(column, alias: alias)
            return foreign?.sql(at: place, name, "\(item).k\(place)")
                ?? entity.texts.equality(of: column, name, "\(item).k\(place)")
        }.joined(separator: " AND ")
    }

    /// The keys as a FROM item: `unnest($1, $2)`.
    var rows: String { "unnest(\(arrays.joined(separator: ", ")))" }

    /// The keys as a FROM item with the columns `k0`, `k1` and so on.
    func table(_ alias: String, names prefix: String = "k") -> String {
        "\(rows) AS \(alias)(\(columns.indices.map { "\(prefix)\($0)" }.joined(separator: ", ")))"
    }

    /// The names of the columns in `table`.
    var names: [String] { columns.indices.map { "k\($0)" } }

    /// The arrays, one for each column; types whose array type the library does not know are sent as text and cast by the
    /// server.
    var arrays: [String] {
        columns.enumerated().map { position, column in
            let attribute = entity.entity.attributes[column]
            let parameter = Parameter(number: first + position)
            guard attribute.baseType.arrayType == nil else { return parameter.description }
            return "\(parameter)::text[]::\(attribute.comparedType ?? attribute.sqlType)[]"
        }
    }

    /// The number of keys.
    var cardinality: String { "cardinality(\(Parameter(number: first)))" }

    /// Appends one array parameter per key column.
    func append(_ keys: [ObjectKey], to bindings: inout Bindings) throws {
        if columns.count == 1 {
            let attribute = entity.entity.attributes[columns[0]]
            let integers = keys.compactMap(\.integer)
            if integers.count == keys.count, try bindings.appendIntegers(integers, of: attribute.baseType) {
                return
            }
            return try Self.append(keys.lazy.map { $0.values[0] }, attribute, to: &bindings)
        }
        let values = keys.map(\.values)
        for (position, column) in columns.enumerated() {
            try Self.append(values.lazy.map { $0[position] }, entity.entity.attributes[column], to: &bindings)
        }
    }

    /// Appends one array parameter with a value for each row.
    static func append(
        _ values: some Collection<PostgresValue?>, _ attribute: Attribute, to bindings: inout Bindings
    ) throws {
        guard attribute.baseType.arrayType == nil else {
            return try bindings.appendArray(values, of: attribute.baseType)
        }
        // A value that is no text, such as an hstore, must be printed.
        try bindings.appendArray(values.lazy.map { value in value.map { .string($0.description) } }, of: .text)
    }
}

extension Array {
    /// The elements in slices of a size that suits one parameter.
    package func slices(of size: Int = 10_000) -> [[Element]] {
        guard count > size else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
