import KindredPostgres
import KindredSchema

/// A parameter for each of some columns.
struct ColumnParameters {
    let entity: EntityRuntime
    let columns: [Int]
    let first: Int
    /// How a foreign key compares the columns with the values.
    var foreign: ForeignComparison?

    /// The parameters in the order of the columns.
    var list: [String] { columns.indices.map { "$\(first + $0)" } }

    /// The parameter of a column; nil for another column.
    subscript(column: Int) -> Parameter? {
        columns.firstIndex(of: column).map { Parameter(number: first + $0) }
    }

    /// `"a" = $1 AND "b" = $2`.
    func equality(_ alias: String? = nil) throws -> String {
        try equalities(alias).joined(separator: " AND ")
    }

    /// `"a" IS DISTINCT FROM $1 OR "b" IS DISTINCT FROM $2`.
    func difference(_ alias: String) throws -> String {
        try zip(try equalities(alias), zip(columns, list)).map { equality, column in
            let (name, value) = (
                try entity.texts.compared(column.0, alias: alias), entity.texts.compared(column.0, with: column.1)
            )
            guard foreign != nil || entity.hasOwnEquality([column.0]) else {
                return "\(name) IS DISTINCT FROM \(value)"
            }
            return "NOT coalesce(\(equality), \(name) IS NULL AND \(value) IS NULL)"
        }.joined(separator: " OR ")
    }

    /// The assignments `"a" = $1`, `"b" = $2`.
    func assignments() throws -> [String] {
        try zip(columns, list).map { "\(try entity.texts.quoted($0)) = \($1)" }
    }

    private func equalities(_ alias: String?) throws -> [String] {
        try zip(columns, list).enumerated().map { place, column in
            let name = try entity.texts.compared(column.0, alias: alias)
            return try foreign?.sql(at: place, name, column.1)
                ?? entity.texts.equality(column.0, alias: alias, to: column.1)
        }
    }
}
