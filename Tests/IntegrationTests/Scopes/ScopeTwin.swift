import Kindred

extension PostgresClient {
    /// Makes `twin` anew: a table with the columns, the unique keys and the own rows of another table, and nothing that
    /// hides rows.
    func makeTwin(of table: String) async throws {
        try await runScript(
            """
            DROP TABLE IF EXISTS twin;
            CREATE TABLE twin (
                LIKE \(table) INCLUDING DEFAULTS INCLUDING IDENTITY INCLUDING INDEXES INCLUDING CONSTRAINTS);
            INSERT INTO twin OVERRIDING SYSTEM VALUE SELECT * FROM ONLY \(table);
            """)
    }
}

extension HiddenPair {
    /// The SQL that removes pairs of the first person that are shown, as a call of a set has to do it.
    ///
    /// - Parameter teams: the condition on their teams.
    func removal(from table: String, _ teams: String) -> String {
        switch self {
        case .marked:
            "UPDATE \(table) SET deleted_at = now() WHERE person_id = 1 AND deleted_at IS NULL AND \(teams)"
        case .filtered: "DELETE FROM \(table) WHERE person_id = 1 AND NOT hidden AND \(teams)"
        case .foreign: "DELETE FROM \(table) WHERE person_id = 1 AND tenant_id = 1 AND \(teams)"
        case .inherited: "DELETE FROM ONLY \(table) WHERE person_id = 1 AND \(teams)"
        }
    }

    /// The SQL that makes a pair, which there is not, of the first person.
    func insertion(into table: String, _ team: Int) -> String {
        "INSERT INTO \(table) VALUES (1, \(team)\(self == .foreign ? ", 1" : ""))"
    }

    /// The SQL that makes a pair of the first person and the second team, whose row is hidden; nil where that is refused.
    func revival(in table: String) -> String? {
        switch self {
        case .marked: "UPDATE \(table) SET deleted_at = NULL WHERE person_id = 1 AND team_id = 2"
        case .filtered, .foreign: nil
        case .inherited: insertion(into: table, 2)
        }
    }

    /// A query for the own rows of a table, in which moments of marks count only where they are of the time before the test.
    func rows(of table: String) -> String {
        let row = self == .marked ? "(person_id, team_id, note, deleted_at = '2020-01-01')::text" : "t::text"
        return "SELECT \(row) FROM ONLY \(table) AS t ORDER BY 1"
    }
}
