import Kindred
import KindredTesting
import TestSupport
import Testing

/// Saves whose rows take values that others give up, where only the server can tell which values are the same.
@Suite struct UniqueByServerTests {
    private enum Kind: String, CaseIterable {
        case expression, ignoringCase, collated, padded, partial, generated, excluding, equalNulls

        /// The type and constraint of the column `code`, and of a table's rest.
        var sql: String {
            let (code, rest): (String, String) =
                switch self {
                case .expression: ("text NOT NULL", "CREATE UNIQUE INDEX ON \"\(rawValue)\" (lower(code));")
                case .ignoringCase: ("citext NOT NULL UNIQUE", "")
                case .collated: ("text COLLATE folded NOT NULL UNIQUE", "")
                case .padded: ("char(3) NOT NULL UNIQUE", "")
                case .partial:
                    ("text NOT NULL", "CREATE UNIQUE INDEX ON \"\(rawValue)\" (lower(code)) WHERE level > 1;")
                case .generated:
                    (
                        "text NOT NULL",
                        "ALTER TABLE generated ADD slug text GENERATED ALWAYS AS (upper(code)) STORED UNIQUE;"
                    )
                case .excluding: ("int4range NOT NULL", "ALTER TABLE excluding ADD EXCLUDE USING gist (code WITH &&);")
                case .equalNulls:
                    ("text", "CREATE UNIQUE INDEX ON \"equalNulls\" (lower(code)) NULLS NOT DISTINCT;")
                }
            return """
                CREATE TABLE "\(rawValue)" (id integer PRIMARY KEY, code \(code), level integer NOT NULL DEFAULT 2, note text);
                \(rest)
                """
        }

        func code(_ dice: inout SeededGenerator) -> String? {
            if self == .equalNulls, dice.once(in: 4) { return nil }
            guard self == .excluding else { return dice.pick(["a", "A", "b", "B", "c", "C", "d", "e"]) }
            let start = Int.random(in: 0...7, using: &dice)
            return "[\(start),\(start + Int.random(in: 1...2, using: &dice)))"
        }
    }

    private struct Row: Equatable {
        var id: Int
        var code: String?
        var level = 2
        var note = "0"
    }

    /// Whether some order of statements is carried out; leaves no trace.
    private static let schema =
        """
        CREATE EXTENSION citext;
        \(foldedCollation)
        CREATE FUNCTION takes(statements text[]) RETURNS boolean LANGUAGE plpgsql AS $$
        DECLARE
            is_taken boolean;
        BEGIN
            IF cardinality(statements) = 0 THEN RETURN true; END IF;
            FOR i IN 1..cardinality(statements) LOOP
                BEGIN
                    EXECUTE statements[i];
                    SET CONSTRAINTS ALL IMMEDIATE;
                    is_taken := takes(statements[:i - 1] || statements[i + 1:]);
                    RAISE EXCEPTION 'taken back';
                EXCEPTION WHEN raise_exception OR unique_violation OR exclusion_violation THEN
                    IF is_taken THEN RETURN true; END IF;
                END;
            END LOOP;
            RETURN false;
        END $$;
        """ + Kind.allCases.map(\.sql).joined(separator: "\n")

    @Test(.database(.sql(schema)), arguments: UInt64(1)...TestAmount.of(16, full: 80, long: 800))
    func aSaveTakesWhateverSQLTakesInSomeOrder(seed: UInt64) async throws {
        let kind = Kind.allCases[Int(seed) % Kind.allCases.count]
        var dice = SeededGenerator(seed: seed)
        try await withDatabase { database, context, other in
            var stored: [Int: Row] = [:]
            var saves = 0
            for step in 0..<14 {
                let objects = try await context.fetch(kind.rawValue).all()
                var wanted = stored
                var statements: [String] = []
                for (key, row) in stored.sorted(by: { $0.key < $1.key }) where dice.once(in: 2) {
                    var new = row
                    let name = "\"\(kind.rawValue)\""
                    guard !dice.once(in: 5) else {
                        wanted[key] = nil
                        statements.append("DELETE FROM \(name) WHERE id = \(row.id)")
                        continue
                    }
                    if dice.once(in: 3) { new.note += "1" }
                    if dice.once(in: 4) { new.level = Int.random(in: 0...3, using: &dice) }
                    if !dice.once(in: 4) { new.code = kind.code(&dice) }
                    wanted[key] = new
                    let code = new.code.map { "'\($0)'" } ?? "NULL"
                    statements.append(
                        "UPDATE \(name) SET code = \(code), level = \(new.level) WHERE id = \(row.id)")
                }
                for number in 0..<Int.random(in: 0...2, using: &dice) where wanted.count < 6 {
                    let row = Row(id: 100 * step + number + 1, code: kind.code(&dice))
                    wanted[row.id] = row
                    let code = row.code.map { "'\($0)'" } ?? "NULL"
                    statements.append(
                        "INSERT INTO \"\(kind.rawValue)\" (id, code, note) VALUES (\(row.id), \(code), '0')")
                }
                let isTaken = try await other.value("SELECT takes(\(statements))") == true
                for object in objects {
                    guard case .integer(let id) = object["id"], let old = stored[Int(id)] else { continue }
                    guard let row = wanted[Int(id)] else {
                        try context.stageDeletion(of: object)
                        continue
                    }
                    if old.code != row.code { object["code"] = try Self.value(row.code, of: object) }
                    if old.level != row.level { object["level"] = .integer(Int64(row.level)) }
                    if old.note != row.note { object["note"] = .string(row.note) }
                }
                for (id, row) in wanted.sorted(by: { $0.key < $1.key }) where stored[id] == nil {
                    let object = try context.add(kind.rawValue, ["id": id, "note": row.note])
                    object["code"] = try Self.value(row.code, of: object)
                }
                do {
                    try await context.save()
                    stored = wanted
                    saves += 1
                } catch let error as KindredError {
                    try #require(!isTaken, "\(kind), seed \(seed), step \(step): \(error)\n\(statements)")
                    context.rollback()
                }
                let found = try await Self.rows(kind, other)
                try #require(found == Self.text(stored), "\(kind), seed \(seed), step \(step)")
            }
            #expect(saves > 0)
        }
    }

    private static func value(_ code: String?, of object: DatabaseObject) throws -> PostgresValue? {
        guard let code, object.entity.attribute(named: "code")?.baseType == .int4range else {
            return code.map { .string($0) }
        }
        let bounds = code.dropFirst().dropLast().split(separator: ",").compactMap { Int32($0) }
        return try PostgresRange(bounds[0]..<bounds[1]).postgresValue
    }

    private static func rows(_ kind: Kind, _ other: PostgresClient) async throws -> [String] {
        let rows = try await other.query(
            "SELECT concat_ws(' ', id, trim(code::text), level, note) FROM \(identifier: kind.rawValue) ORDER BY id")
        return try rows.map { try $0.decode(0, as: String.self) ?? "" }
    }

    private static func text(_ rows: [Int: Row]) -> [String] {
        rows.sorted { $0.key < $1.key }.map { _, row in
            (["\(row.id)"] + [row.code].compactMap { $0 } + ["\(row.level)", row.note]).joined(separator: " ")
        }
    }

    private static let people = """
        CREATE TABLE team (id integer PRIMARY KEY, name text NOT NULL);
        CREATE UNIQUE INDEX one_name ON team (lower(name));
        CREATE TABLE player (id integer PRIMARY KEY, team_id integer NOT NULL REFERENCES team ON DELETE CASCADE);
        CREATE TABLE booking (
            id integer PRIMARY KEY, days int4range NOT NULL, CONSTRAINT one_booking EXCLUDE USING gist (days WITH &&));
        INSERT INTO team VALUES (1, 'red'), (2, 'blue'), (3, 'green');
        INSERT INTO player VALUES (1, 1), (2, 2);
        INSERT INTO booking VALUES (1, '[1,3)'), (2, '[3,5)'), (3, '[5,7)');
        """

    @Test(.database(.sql(people))) func theServerIsAskedOnlyWhereAnOrderIsInDoubt() async throws {
        try await withDatabase { database, context, other in
            let teams = try await context.fetch("team").sorted("id").all()
            // One row gives up, and others take: that order is right whatever they take.
            teams[0]["name"] = "white"
            try context.add("team", ["id": 4, "name": "RED"])
            try await expectStatements(["UPDATE", "INSERT"]) { try await context.save() }
            // Which of two goes first depends on their values.
            teams[0]["name"] = "BLUE"
            teams[1]["name"] = "black"
            try await expectStatements(["SELECT", "UPDATE", "UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT name FROM team ORDER BY id") == ["BLUE", "black", "green", "RED"])
            // Where the columns stay, there is no question.
            for team in teams { team["id"] = .integer(10 + (try team.value(forKey: "id", as: Int64.self) ?? 0)) }
            teams[0].rollback()
            teams[1].rollback()
            try await expectStatements(["UPDATE"]) { try await context.save() }
            teams[0]["name"] = "black"
            teams[1]["name"] = "Blue"
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.constraint == "one_name" && error?.message.contains("cycle") == true)
        }
    }

    @Test(.database(.sql(people))) func periodsMoveUpByOne() async throws {
        try await withDatabase { database, context, other in
            let bookings = try await context.fetch("booking").sorted("id").all()
            for (position, booking) in bookings.enumerated() {
                booking["days"] = try PostgresRange(Int32(2 * position + 3)..<Int32(2 * position + 5)).postgresValue
            }
            try context.add("booking", ["id": 4, "days": PostgresRange(Int32(1)..<Int32(3))])
            try await context.save()
            let days = try await other.values("SELECT days::text FROM booking ORDER BY id")
            #expect(days == ["[3,5)", "[5,7)", "[7,9)", "[1,3)"])
        }
    }

    /// The player must leave before the team goes, and the team before another team has its name.
    @Test(.database(.sql(people + "CREATE UNIQUE INDEX same_name ON team (name);")), arguments: ["red", "Red"])
    func aNameIsTakenFromATeamThatAPlayerLeaves(_ name: String) async throws {
        try await withDatabase { database, context, other in
            let teams = try await context.fetch("team").sorted("id").all()
            let player = try #require(await context.find("player", 1))
            player["team_id"] = 2
            try context.stageDeletion(of: teams[0])
            let new = try context.add("team", ["id": 4, "name": name])
            try await context.save()
            #expect(try await other.values("SELECT team_id FROM player ORDER BY id") == [2, 2])
            #expect(try await other.values("SELECT id FROM team ORDER BY id") == [2, 3, 4])
            #expect(teams[0].isDeleted && !player.isDeleted && !new.isInserted && !context.hasStagedChanges)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE seat (
                    id integer PRIMARY KEY DEFERRABLE, note text, place integer, version integer NOT NULL DEFAULT 1);
                COMMENT ON TABLE seat IS '@kindred {"optimisticLocking": "version"}';
                INSERT INTO seat SELECT i, 'note ' || i, i FROM generate_series(1, 5) AS i;
                """))) func deferrableKeysGoRoundWhileSomeRowsChangeMore() async throws
    {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            for (seat, id) in zip(seats, [2, 3, 1, 5, 4]) { seat["id"] = .integer(Int64(id)) }
            seats[0]["note"] = "changed"
            seats[4]["place"] = nil
            // Values that another program writes meanwhile into unchanged columns are kept.
            try await other.query("UPDATE seat SET note = 'other' WHERE id = 2")
            try await context.save()
            let stored = try await other.values(
                "SELECT concat_ws(' ', id, note, place, version) FROM seat ORDER BY id")
            #expect(stored == ["1 note 3 3 2", "2 changed 1 2", "3 other 2 2", "4 note 5 2", "5 note 4 4 2"])
            #expect(seats.map { $0["id"] } == [2, 3, 1, 5, 4] && !context.hasStagedChanges)
            #expect(try await context.find("seat", 3) === seats[1] && seats[1]["note"] == "other")
        }
    }

    /// A condition on a column that the new row leaves to its default.
    @Test(
        .database(
            .sql(
                """
                CREATE TABLE mail (id integer PRIMARY KEY, address text NOT NULL, is_on boolean NOT NULL DEFAULT true);
                CREATE UNIQUE INDEX ON mail (address) WHERE is_on;
                INSERT INTO mail VALUES (1, 'a'), (2, 'b');
                """))) func aNewRowMayBeInAPartialIndexByItsDefault() async throws
    {
        try await withDatabase { database, context, other in
            let mails = try await context.fetch("mail").sorted("id").all()
            mails[0]["is_on"] = false
            mails[1]["address"] = "c"
            try context.add("mail", ["id": 3, "address": "a"])
            try context.add("mail", ["id": 4, "address": "b"])
            try await expectStatements(["UPDATE", "UPDATE", "INSERT"]) { try await context.save() }
            #expect(try await other.values("SELECT address FROM mail ORDER BY id") == ["a", "c", "a", "b"])
        }
    }
}
