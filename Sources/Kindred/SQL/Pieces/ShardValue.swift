import KindredPostgres
import KindredSchema

/// The value of a column by which rows are distributed, where all keys of a statement share it.
///
/// A plain equality beside the condition on the keys lets the server look at one partition, or at one shard of a distributed
/// table: it sees none in a set of keys.
struct ShardValue {
    let entity: EntityRuntime
    let column: Int
    let parameter: Parameter

    /// ` AND t."tenant_id" = $3`.
    func clause(_ alias: String?) throws -> String {
        " AND \(try entity.texts.equality(column, alias: alias, to: parameter.description))"
    }
}

extension Optional<ShardValue> {
    /// Nothing where the keys share no such value.
    func clause(_ alias: String?) throws -> String { try self?.clause(alias) ?? "" }
}

extension Parameters {
    /// The value that keys share in the column by which rows are distributed, the first that the keys have; nil if they share none.
    ///
    /// Keys of a single column need no such value: the set of keys says as much.
    ///
    /// - Parameters:
    ///   - columns: the columns of the keys.
    ///   - value: gives a key's value, by its place among the columns.
    mutating func shardValue<Keys: Collection>(
        of keys: Keys, in entity: EntityRuntime, columns: [Int], value: (Keys.Element, Int) throws -> PostgresValue?
    ) throws -> ShardValue? {
        guard columns.count > 1, let first = keys.first,
            // The column must not depend on the keys: the statement's text is kept by its shape.
            let column = entity.shardColumns.first(where: columns.contains),
            let place = columns.firstIndex(of: column), let shared = try value(first, place),
            try keys.allSatisfy({ try value($0, place) == shared })
        else { return nil }
        isOneShard = true
        return ShardValue(entity: entity, column: column, parameter: try self.value(shared, as: column, of: entity))
    }

    /// The keys of many rows, with the value by which they are distributed where they share it.
    mutating func shardKeys(
        _ keys: [ObjectKey], of columns: [Int], in entity: EntityRuntime, by foreign: ForeignComparison? = nil
    ) throws -> KeySet {
        var set = try self.keys(keys, of: columns, in: entity, by: foreign)
        set.shard = try shardValue(of: keys, in: entity, columns: columns) { $0.values[$1] }
        return set
    }
}
