import KindredPostgres
import KindredSchema

/// A parameter for each of some columns.
struct ColumnParameters {
    let entity: EntityRuntime
    let columns: [Int]
    let first: Int

    /// The parameters in the order of the columns.
    var list: [String] { columns.indices.map { "$\(first + $0)" } }

    /// The parameter of a column; nil for another column.
    subscript(column: Int) -> Parameter? {
        columns.firstIndex(of: column).map { Parameter(number: first + $0) }
    }

    /// `"a" = $1 AND "b" = $2`.
    func equality(_ alias: String? = nil) throws -> String {
        try comparisons("=", alias).joined(separator: " AND ")
    }

    /// `"a" IS DISTINCT FROM $1 OR "b" IS DISTINCT FROM $2`.
    func difference(_ alias: String) throws -> String {
        try comparisons("IS DISTINCT FROM", alias).joined(separator: " OR ")
    }

    /// The assignments `"a" = $1`, `"b" = $2`.
    func assignments() throws -> [String] {
        try zip(columns, list).map { "\(try entity.quoted($0)) = \($1)" }
    }

    private func comparisons(_ symbol: String, _ alias: String?) throws -> [String] {
        try zip(columns, list).map {
            "\(try entity.compared($0, alias: alias)) \(symbol) \(entity.compared($0, with: $1))"
        }
    }
}
