import KindredPostgres

/// The cells of a row, all of them texts or arrays of texts, by the names that their query gives them.
///
/// `CatalogCells` reads the model's catalog in binary form and by position, since it runs whenever a program connects.
struct SnapshotCells {
    private let row: Row
    private let places: [ServerText: Int]

    static func rows(of result: QueryResult) -> [SnapshotCells] {
        let places = Dictionary(zip(result.columns.map { ServerText($0.name) }, result.columns.indices)) { first, _ in
            first
        }
        return result.map { SnapshotCells(row: $0, places: places) }
    }

    private func place(_ column: String) throws -> Int {
        guard let place = places[column] else {
            throw PostgresError(.decodingFailed, "The catalog's answer has no column \(column)")
        }
        return place
    }

    func optional(_ column: String) throws -> String? { try row.decode(try place(column), as: String.self) }
    func text(_ column: String) throws -> String { try optional(column) ?? "" }
    func flag(_ column: String) throws -> Bool { try text(column) == "true" }
    func list(_ column: String) throws -> [String] { try row.decode(try place(column), as: [String].self) ?? [] }

    /// Privileges: the privilege, whether it can be passed on, the length of a column's name, and both names.
    func grants(_ column: String) throws -> [Grant] {
        try list(column).compactMap { text in
            let parts = text.split(separator: "\t", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count == 4, let length = Int(parts[2]) else { return nil }
            let names = parts[3].unicodeScalars
            return Grant(
                role: String(names.dropFirst(length)), privilege: String(parts[0]),
                column: String(names.prefix(length)),
                isGrantable: parts[1] == "true")
        }.sorted()
    }
}
