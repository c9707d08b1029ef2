import KindredPostgres

/// The knowledge of files before: the CHECK constraints by which columns are never NULL, and whether they are validated.
struct LintHistory: Sendable {
    private struct Check {
        var table: WrittenName
        let constraint: String
        /// The columns that it requires not to be NULL.
        let columns: Set<ServerText>
        var isValid: Bool
    }

    /// By the table's name without its schema.
    private var checks: [ServerText: [Check]] = [:]

    mutating func add(_ constraint: String, columns: Set<ServerText>, isValid: Bool, to table: WrittenName) {
        checks[table.name, default: []].append(
            Check(table: table, constraint: constraint, columns: columns, isValid: isValid))
    }

    mutating func validate(_ constraint: String, of table: WrittenName) {
        for index in places(of: table) where checks[table.name]?[index].constraint == constraint {
            checks[table.name]?[index].isValid = true
        }
    }

    mutating func drop(_ constraint: String, of table: WrittenName) {
        for index in places(of: table).reversed() where checks[table.name]?[index].constraint == constraint {
            checks[table.name]?.remove(at: index)
        }
    }

    mutating func drop(_ table: WrittenName) {
        for index in places(of: table).reversed() { checks[table.name]?.remove(at: index) }
    }

    mutating func rename(_ table: WrittenName, to name: String) {
        for index in places(of: table).reversed() {
            guard var check = checks[table.name]?.remove(at: index) else { continue }
            check.table = check.table.renamed(to: name)
            checks[name, default: []].append(check)
        }
    }

    /// Whether a validated CHECK says that the column is never NULL, so that SET NOT NULL reads no row.
    func isNeverNull(_ column: String, of table: WrittenName) -> Bool {
        places(of: table).contains { index in
            checks[table.name].map { $0[index].isValid && $0[index].columns.contains(column) } ?? false
        }
    }

    /// Whether the table has any validated CHECK, which may have a partition's bounds.
    func hasValidCheck(_ table: WrittenName) -> Bool {
        places(of: table).contains { checks[table.name]?[$0].isValid == true }
    }

    private func places(of table: WrittenName) -> [Int] {
        let known = checks[table.name] ?? []
        return known.indices.filter { known[$0].table.mayBe(table) }
    }
}
