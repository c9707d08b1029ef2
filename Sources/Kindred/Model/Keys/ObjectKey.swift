package import KindredPostgres

/// The values of an identity key or a foreign key, in a form that compares as the server does.
///
/// Integers of any width are one case, so that an `integer` key finds the `bigint` that references it.
package enum ObjectKey: Hashable, Sendable {
    case integer(Int64)
    case values([PostgresValue])
    /// An object without a row; the number is unique in the process.
    case temporary(Int64)

    /// The key of the given values; one integer takes the short form.
    package init(_ values: [PostgresValue]) {
        if values.count == 1 {
            self.init(values[0])
        } else {
            self = .values(values.map(\.canonicalKey))
        }
    }

    /// The key of one value.
    private init(_ value: PostgresValue) {
        if case .integer(let integer) = value {
            self = .integer(integer)
        } else {
            self = .values([value.canonicalKey])
        }
    }

    // `__shared`, because an initializer retains arguments that it owns.
    /// The key in the given columns of a row; nil if one of them is NULL.
    package init?(_ row: __shared Row, _ columns: __shared [Int]) throws {
        if columns.count == 1 {
            if let integer = row.integer(at: columns[0]) {
                self = .integer(integer)
                return
            }
            guard let value = try row[columns[0]] else { return nil }
            self.init(value)
            return
        }
        var values: [PostgresValue] = []
        values.reserveCapacity(columns.count)
        for column in columns {
            guard let value = try row[column] else { return nil }
            values.append(value)
        }
        self.init(values)
    }

    /// The key in the given columns of a result's row, without copying the row; nil if one of them is NULL.
    init?(_ result: __shared QueryResult, row: Int, _ columns: __shared [Int]) throws {
        if columns.count == 1 {
            if result.columns.isInteger(at: columns[0]), let integer = try result.integer(row: row, column: columns[0])
            {
                self = .integer(integer)
                return
            }
            guard let value = try result.value(row: row, column: columns[0]) else { return nil }
            self.init(value)
            return
        }
        var values: [PostgresValue] = []
        values.reserveCapacity(columns.count)
        for column in columns {
            guard let value = try result.value(row: row, column: column) else { return nil }
            values.append(value)
        }
        self.init(values)
    }

    /// The value of a single-integer key.
    package var integer: Int64? {
        if case .integer(let integer) = self { integer } else { nil }
    }

    /// The key's values, in key order.
    package var values: [PostgresValue] {
        switch self {
        case .integer(let integer): [.integer(integer)]
        case .values(let values): values
        case .temporary(let number): [.integer(number)]
        }
    }

    /// Hashes the values only, since keys of one entity have the same case.
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let integer): hasher.combine(integer)
        case .values(let values): hasher.combine(values)
        case .temporary(let number): hasher.combine(~number)
        }
    }

    package var isTemporary: Bool {
        if case .temporary = self { true } else { false }
    }
}

extension PostgresValue {
    /// The canonical form of all values that the server holds equal: 1.0 for 1.00, 0 for -0.
    fileprivate var canonicalKey: PostgresValue {
        switch self {
        case .numeric(let numeric): .numeric(numeric.normalized)
        case .double(let double) where double == 0: .double(0)
        case .float(let float) where float == 0: .float(0)
        default: self
        }
    }
}
