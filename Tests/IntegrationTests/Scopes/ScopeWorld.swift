import Kindred
import KindredTesting
import Testing

/// A way in which rows of a helper are no pairs.
enum HiddenPair: String, CaseIterable, Sendable {
    /// They are marked as deleted.
    case marked
    /// A filter does not show them.
    case filtered
    /// They are another tenant's.
    case foreign
    /// They are of a table that inherits from the helper.
    case inherited

    var person: String { "\(rawValue)_person" }
    var team: String { "\(rawValue)_team" }
    var member: String { "\(rawValue)_member" }
    var teams: String { "\(rawValue)_teamSet" }
    var people: String { "\(rawValue)_personSet" }

    /// The rows that are pairs, as a FROM item of SQL.
    var pairs: String {
        switch self {
        case .marked: "(SELECT * FROM marked_member WHERE deleted_at IS NULL) AS m"
        case .filtered: "(SELECT * FROM filtered_member WHERE NOT hidden) AS m"
        case .foreign: "(SELECT * FROM foreign_member WHERE tenant_id = 1) AS m"
        case .inherited: "ONLY inherited_member AS m"
        }
    }

    /// The rows again as they were at first.
    var reset: String {
        let hidden =
            switch self {
            case .marked: "INSERT INTO marked_member VALUES (1, 2, 'old', '2020-01-01'), (2, 3, 'old', '2020-01-01')"
            case .filtered: "INSERT INTO filtered_member VALUES (1, 2, true), (2, 3, true)"
            case .foreign: "INSERT INTO foreign_member VALUES (1, 2, 2), (2, 3, 2)"
            case .inherited: "INSERT INTO inherited_old VALUES (1, 2), (2, 3)"
            }
        let shown = self == .foreign ? "(1, 1, 1), (1, 3, 1), (2, 1, 1)" : "(1, 1), (1, 3), (2, 1)"
        return "DELETE FROM \(member); INSERT INTO \(member) VALUES \(shown); \(hidden);"
    }
}

/// For each kind of hidden pair two people, four teams, and a helper: the first person is in the teams 1 and 3, the second in 1,
/// and there are hidden rows of the first with team 2, and of the second with team 3.
enum ScopeWorld {
    static let schema =
        HiddenPair.allCases.map { kind in
            let tenant = kind == .foreign ? ", tenant_id integer NOT NULL DEFAULT 1" : ""
            let mark = kind == .marked ? ", deleted_at timestamptz" : ""
            let further =
                switch kind {
                case .marked: ", note text DEFAULT 'new', deleted_at timestamptz"
                case .filtered: ", hidden boolean NOT NULL DEFAULT false"
                case .foreign: ", tenant_id integer NOT NULL"
                case .inherited: ""
                }
            let annotation =
                switch kind {
                case .marked:
                    """
                    COMMENT ON TABLE marked_member IS '@kindred {"softDelete": "deleted_at"}';
                    COMMENT ON TABLE marked_person IS '@kindred {"softDelete": "deleted_at"}';
                    """
                case .filtered: #"COMMENT ON TABLE filtered_member IS '@kindred {"filter": "hidden == false"}';"#
                case .foreign: ""
                case .inherited: "CREATE TABLE inherited_old () INHERITS (inherited_member);"
                }
            return """
                CREATE TABLE \(kind.person) (id integer PRIMARY KEY\(tenant)\(mark));
                CREATE TABLE \(kind.team) (id integer PRIMARY KEY\(tenant));
                CREATE TABLE \(kind.member) (
                    person_id integer REFERENCES \(kind.person) ON DELETE CASCADE, team_id integer REFERENCES \(kind.team)
                    \(further), PRIMARY KEY (person_id, team_id));
                \(annotation)
                INSERT INTO \(kind.person) (id) VALUES (1), (2);
                INSERT INTO \(kind.team) (id) VALUES (1), (2), (3), (4);
                \(kind.reset)
                """
        }.joined(separator: "\n")
}

extension Database {
    /// A context in which a kind of pairs is hidden.
    func context(_ kind: HiddenPair) throws -> DatabaseContext {
        try kind == .foreign ? context(ofTenant: 1) : makeContext()
    }
}

extension PostgresClient {
    /// The whole numbers that a query gives.
    func integers(_ text: String) async throws -> [Int64] {
        try await query(SQL(unsafeRaw: text)).compactMap {
            if case .integer(let number)? = try $0[0] { number } else { nil }
        }
    }

    /// The texts that a query gives.
    func texts(_ text: String) async throws -> [String] {
        try await query(SQL(unsafeRaw: text)).compactMap {
            if case .string(let text)? = try $0[0] { text } else { nil }
        }
    }
}
