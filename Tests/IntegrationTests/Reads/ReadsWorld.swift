import KindredPostgres
import TestSupport

@testable import Kindred

/// Tables of all kinds for random questions, and random changes of their rows.
enum ReadsWorld {
    /// Rows above 6 are referenced by none, so that they can go and get other keys.
    static let schema = """
        CREATE TABLE team (
            id integer PRIMARY KEY, name text, size integer, tenant text NOT NULL DEFAULT 'x',
            archived boolean NOT NULL DEFAULT false);
        COMMENT ON TABLE team IS '@kindred {"filter": "archived == false"}';
        CREATE TABLE person (
            id integer PRIMARY KEY, name text, size integer, tenant text NOT NULL DEFAULT 'x', notes text, place integer,
            boss_id integer CONSTRAINT boss REFERENCES person, team_id integer CONSTRAINT team REFERENCES team);
        COMMENT ON CONSTRAINT boss ON person IS '@kindred {"inverse": "reports"}';
        COMMENT ON CONSTRAINT team ON person IS '@kindred {"inverse": "people", "orderedBy": "place"}';
        COMMENT ON COLUMN person.notes IS '@kindred {"lazy": true}';
        CREATE TABLE task (
            id integer PRIMARY KEY, name text, size integer, tenant text NOT NULL DEFAULT 'x',
            archived boolean NOT NULL DEFAULT false, notes text, person_id integer CONSTRAINT owner REFERENCES person,
            team_id integer CONSTRAINT team REFERENCES team);
        COMMENT ON TABLE task IS '@kindred {"filter": "archived == false"}';
        COMMENT ON CONSTRAINT owner ON task IS '@kindred {"inverse": "tasks"}';
        COMMENT ON CONSTRAINT team ON task IS '@kindred {"inverse": "tasks"}';
        COMMENT ON COLUMN task.notes IS '@kindred {"lazy": true}';
        CREATE TABLE club (
            id integer PRIMARY KEY, name text, size integer, tenant text NOT NULL DEFAULT 'x',
            archived boolean NOT NULL DEFAULT false);
        COMMENT ON TABLE club IS '@kindred {"filter": "archived == false OR size > 2"}';
        CREATE TABLE membership (
            person_id integer CONSTRAINT clubs REFERENCES person, club_id integer CONSTRAINT members REFERENCES club,
            name text, size integer NOT NULL DEFAULT 0, tenant text NOT NULL DEFAULT 'x',
            archived boolean NOT NULL DEFAULT false, PRIMARY KEY (person_id, club_id));
        COMMENT ON TABLE membership IS '@kindred {"filter": "archived == false"}';
        CREATE TABLE friendship (
            person_id integer CONSTRAINT friends REFERENCES person, friend_id integer CONSTRAINT befriended REFERENCES person,
            PRIMARY KEY (person_id, friend_id));
        CREATE TABLE place (id integer PRIMARY KEY, name text, size integer);
        CREATE TABLE city (PRIMARY KEY (id), notes text) INHERITS (place);
        CREATE TABLE visit (
            id integer PRIMARY KEY, name text, size integer, place_id integer CONSTRAINT place REFERENCES place,
            person_id integer CONSTRAINT visitor REFERENCES person);
        COMMENT ON CONSTRAINT place ON visit IS '@kindred {"inverse": "visits"}';
        COMMENT ON CONSTRAINT visitor ON visit IS '@kindred {"inverse": "visits"}';
        CREATE VIEW big_task AS SELECT * FROM task WHERE size > 1;
        """

    /// A table with its columns, and the columns that name a row.
    struct Table: Sendable {
        let name: String
        var key = ["id"]
        var columns = ["name", "size"]
        var references: [String] = []
        var firstID = 1
        var all: [String] { columns + references }
        /// Another entity by which a program may have written the row.
        var shownBy: String?
    }

    static let tables = [
        Table(name: "team", columns: ["name", "size", "tenant", "archived"]),
        Table(
            name: "person", columns: ["name", "size", "tenant", "notes", "place"], references: ["boss_id", "team_id"]),
        Table(
            name: "task", columns: ["name", "size", "tenant", "archived", "notes"],
            references: ["person_id", "team_id"],
            shownBy: "big_task"),
        Table(name: "club", columns: ["name", "size", "tenant", "archived"]),
        Table(
            name: "membership", key: ["person_id", "club_id"], columns: ["name", "size", "tenant", "archived"],
            references: ["person_id", "club_id"]),
        Table(
            name: "friendship", key: ["person_id", "friend_id"], columns: [], references: ["person_id", "friend_id"]),
        Table(name: "place"),
        Table(name: "city", columns: ["name", "size", "notes"], firstID: 101, shownBy: "place"),
        Table(name: "visit", references: ["place_id", "person_id"]),
    ]

    /// A literal for a column.
    static func value(_ column: String, _ random: inout SeededGenerator) -> String {
        switch column {
        case "tenant": return random.pick(["'x'", "'y'"])
        case "archived": return random.pick(["false", "false", "true"])
        case "size", "place": return "\(Int.random(in: 0...3, using: &random))"
        case "name", "notes": return random.pick(["'a'", "'b'", "'c'", "NULL"])
        // Few teams with many people, of whom some change their places.
        case "team_id": return "\(Int.random(in: 1...2, using: &random))"
        default: return random.once(in: 6) ? "NULL" : "\(Int.random(in: 1...6, using: &random))"
        }
    }

    private static func reference(_ column: String, of table: Table, _ random: inout SeededGenerator) -> String {
        table.key.contains(column) ? "\(Int.random(in: 1...6, using: &random))" : value(column, &random)
    }

    private static func insertion(
        into table: Table, _ id: Int?, _ random: inout SeededGenerator
    ) -> (sql: String, key: [String]) {
        var (columns, values) = (table.all, [String]())
        // The person may not be there yet.
        for column in columns { values.append(column == "boss_id" ? "NULL" : reference(column, of: table, &random)) }
        var key = table.key.compactMap { name in columns.firstIndex(of: name).map { values[$0] } }
        if let id {
            (columns, values, key) = (["id"] + columns, ["\(id)"] + values, ["\(id)"])
        }
        let list = columns.joined(separator: ", ")
        return ("INSERT INTO \(table.name) (\(list)) VALUES (\(values.joined(separator: ", ")))", key)
    }

    /// The rows to begin with.
    static func rows(_ random: inout SeededGenerator) -> String {
        var script = ""
        for table in tables {
            for id in 0..<8 {
                let row = insertion(into: table, table.key == ["id"] ? table.firstID + id : nil, &random)
                script += "\(row.sql) ON CONFLICT DO NOTHING;\n"
            }
        }
        let boss = Int.random(in: 1...6, using: &random)
        return script + "UPDATE person SET boss_id = (id + \(boss)) % 6 + 1 WHERE id % 4 > 0;"
    }

    /// A change of one row by SQL.
    struct Change: Sendable, CustomStringConvertible {
        let table: Table
        let sql: String
        let former: [String]
        let new: [String]
        /// The columns that the statement sets; nil for a row that comes or goes.
        let columns: Set<String>?

        var description: String { sql }

        init(_ random: inout SeededGenerator) {
            // Each kind of column as often as the others, however few tables have it.
            let kind = random.pick(["size", "name", "tenant", "archived", "place", "notes", "person_id", "team_id"])
            let isOfKind = random.chance(70)
            let table = random.pick(ReadsWorld.tables.filter { !isOfKind || $0.all.contains(kind) })
            self.table = table
            func condition(_ key: [String]) -> String {
                zip(table.key, key).map { "\($0) = \($1)" }.joined(separator: " AND ")
            }
            let isNumbered = table.key == ["id"]
            let last = Int.random(in: 6...7, using: &random)
            var key = table.key.map { _ in "\(Int.random(in: 1...6, using: &random))" }
            if isNumbered { key = ["\(table.firstID + Int.random(in: 0...7, using: &random))"] }
            switch isOfKind ? 3 : Int.random(in: 0..<6, using: &random) {
            case 0:
                let row = ReadsWorld.insertion(into: table, isNumbered ? table.firstID + 8 : nil, &random)
                (sql, former, new, columns) = (row.sql, row.key, row.key, nil)
            case 1:
                if isNumbered { key = ["\(table.firstID + last)"] }
                (sql, former, new, columns) = ("DELETE FROM \(table.name) WHERE \(condition(key))", key, key, nil)
            case 2 where isNumbered:
                (former, new, columns) = (["\(table.firstID + last)"], ["\(table.firstID + 9)"], ["id"])
                sql = "UPDATE \(table.name) SET id = \(new[0]) WHERE \(condition(former))"
            default:
                let names = isOfKind ? [kind] : random.some(table.all, atMost: 2)
                let set = names.map { ($0, ReadsWorld.reference($0, of: table, &random)) }
                (former, columns) = (key, Set(set.map(\.0)))
                new = zip(table.key, key).map { name, value in set.first { $0.0 == name }?.1 ?? value }
                let list = set.map { "\($0.0) = \($0.1)" }.joined(separator: ", ")
                sql = "UPDATE \(table.name) SET \(list) WHERE \(condition(key))"
            }
        }

        /// The query for the row with a key as an entity has it, whether a filter or the tenant hides it or not.
        func row(_ key: [String], of entity: EntityRuntime, in runtime: SchemaRuntime, isWhole: Bool) throws
            -> Statement
        {
            var query = SelectQuery(entity)
            query.isFiltered = false
            query.leftOut = isWhole ? [] : nil
            let format = zip(table.key, key).map { "\($0) == \($1)" }.joined(separator: " AND ")
            try query.narrow(by: format, [], in: runtime.schema)
            return try query.statement(in: runtime.schema)
        }
    }
}
