import Kindred
import KindredTesting
import Testing

/// Writes to a many-to-many set touch the pairs that are shown, and store no hidden pairs.
@Suite(.database(.sql(ScopeWorld.schema))) struct HiddenPairWritingTests {
    /// A write of the first person's teams, and the SQL that does the same to a copy of the helper; nil where it is refused.
    private struct Write: Sendable {
        let name: String
        let sql: String?
        let statements: [String]
        let write: @Sendable (_ teams: ToMany<DatabaseObject>, _ team: [DatabaseObject]) async throws -> Void
    }

    private static let mark =
        "UPDATE twin SET deleted_at = now() WHERE person_id = 1 AND deleted_at IS NULL AND team_id"
    private static let restore = "UPDATE twin SET deleted_at = NULL WHERE person_id = 1 AND team_id = 2"

    private static let marking: [Write] = [
        Write(name: "insert a pair", sql: "", statements: ["WITH"]) { try await $0.insert($1[1]) },
        Write(name: "insert a marked pair", sql: restore, statements: ["WITH"]) { try await $0.insert($1[2]) },
        Write(name: "insert a new pair", sql: "INSERT INTO twin VALUES (1, 4)", statements: ["WITH"]) {
            try await $0.insert($1[4])
        },
        Write(name: "several", sql: "\(restore); INSERT INTO twin VALUES (1, 4)", statements: ["WITH"]) {
            try await $0.formUnion([$1[1], $1[2], $1[4]])
        },
        Write(
            name: "payload", sql: "\(restore); UPDATE twin SET note = 'x' WHERE person_id = 1 AND team_id = 2",
            statements: ["WITH"]
        ) {
            try await $0.insert($1[2], through: ["note": "x"])
        },
        Write(name: "remove a pair", sql: "\(mark) = 1", statements: ["UPDATE"]) { try await $0.remove($1[1]) },
        Write(name: "remove a marked pair", sql: "", statements: ["UPDATE"]) { try await $0.remove($1[2]) },
        Write(name: "subtract", sql: "\(mark) IN (1, 2)", statements: ["UPDATE"]) {
            try await $0.subtract([$1[1], $1[2]])
        },
        Write(name: "removeAll", sql: "\(mark) > 0", statements: ["UPDATE"]) { teams, _ in try await teams.removeAll()
        },
        Write(name: "set", sql: "\(mark) = 1; \(restore)", statements: ["UPDATE", "WITH", "WITH"]) {
            try await $0.set([$1[2], $1[3]])
        },
        Write(name: "set of nothing", sql: "\(mark) > 0", statements: ["UPDATE"]) { teams, _ in try await teams.set([])
        },
    ]

    private static let filtering: [Write] = [
        Write(name: "insert a hidden pair", sql: nil, statements: ["WITH", "WITH", "WITH"]) {
            try await $0.insert($1[2])
        },
        Write(name: "insert a new pair", sql: "INSERT INTO twin VALUES (1, 4)", statements: ["WITH"]) {
            try await $0.insert($1[4])
        },
        Write(name: "insert a new pair that is hidden", sql: nil, statements: ["WITH"]) {
            try await $0.insert($1[4], through: ["hidden": true])
        },
        Write(name: "several", sql: nil, statements: ["WITH", "WITH", "WITH"]) {
            try await $0.formUnion([$1[4], $1[2]])
        },
        Write(name: "remove a hidden pair", sql: "", statements: ["DELETE"]) { try await $0.remove($1[2]) },
        Write(name: "subtract", sql: "DELETE FROM twin WHERE person_id = 1 AND team_id = 1", statements: ["DELETE"]) {
            try await $0.subtract([$1[1], $1[2]])
        },
        Write(name: "removeAll", sql: "DELETE FROM twin WHERE person_id = 1 AND NOT hidden", statements: ["DELETE"]) {
            teams, _ in
            try await teams.removeAll()
        },
        Write(name: "set", sql: nil, statements: ["DELETE", "WITH", "WITH"]) { try await $0.set([$1[2], $1[3]]) },
        Write(
            name: "set of others",
            sql: "DELETE FROM twin WHERE person_id = 1 AND team_id = 1; INSERT INTO twin VALUES (1, 4)",
            statements: ["DELETE", "WITH", "WITH"]
        ) {
            try await $0.set([$1[4], $1[3]])
        },
    ]

    private static let foreign: [Write] = [
        Write(name: "insert a pair that another tenant has", sql: nil, statements: ["WITH", "WITH", "WITH"]) {
            try await $0.insert($1[2])
        },
        Write(name: "several", sql: nil, statements: ["WITH", "WITH", "WITH"]) {
            try await $0.formUnion([$1[4], $1[2]])
        },
        Write(name: "insert a new pair", sql: "INSERT INTO twin VALUES (1, 4, 1)", statements: ["WITH"]) {
            try await $0.insert($1[4])
        },
        Write(name: "set", sql: nil, statements: ["DELETE", "WITH", "WITH"]) { try await $0.set([$1[2], $1[3]]) },
        Write(name: "removeAll", sql: "DELETE FROM twin WHERE person_id = 1 AND tenant_id = 1", statements: ["DELETE"])
        { teams, _ in
            try await teams.removeAll()
        },
    ]

    /// The moments of marks aside, except that one stays.
    private static func rows(_ table: String, _ kind: HiddenPair) -> String {
        let row = kind == .marked ? "(person_id, team_id, note, deleted_at = '2020-01-01')::text" : "t::text"
        return "SELECT \(row) FROM \(table) AS t ORDER BY 1"
    }

    /// Plays writes of a kind by themselves and in a transaction, and compares rows and both ends' sets with the copy.
    private func play(_ writes: [Write], _ kind: HiddenPair) async throws {
        try await withDatabase { database, _, other in
            for isInTransaction in [false, true] {
                for write in writes {
                    try await other.runScript("\(kind.reset) DROP TABLE IF EXISTS twin")
                    try await other.runScript(
                        "CREATE TABLE twin (LIKE \(kind.member) INCLUDING DEFAULTS); INSERT INTO twin SELECT * FROM \(kind.member)"
                    )
                    let context = try database.context(kind)
                    let teams = try await context.get(kind.person, 1).set(forKey: kind.teams)
                    let team = try await [context.get(kind.team, 1)] + context.fetch(kind.team).sorted("id").all()
                    let helpers = try await context.fetch(kind.member).unfiltered().all()
                    var sets: [ToMany<DatabaseObject>] = []
                    for object in team { sets.append(try await object.set(forKey: kind.people)) }
                    for set in sets + [teams] { _ = try await set.ids }
                    var refused: KindredError?
                    let (_, recorder) = try await recordingStatements {
                        do {
                            if isInTransaction {
                                try await context.transaction { () async throws in try await write.write(teams, team) }
                            } else {
                                try await write.write(teams, team)
                            }
                        } catch let error as KindredError {
                            refused = error
                        }
                    }
                    let what = "\(kind), \(write.name)\(isInTransaction ? " in a transaction" : "")"
                    if let sql = write.sql {
                        #expect(refused == nil, "\(what)")
                        if !sql.isEmpty { try await other.runScript(sql) }
                    } else {
                        #expect(refused?.code == .constraintViolation, "\(what): \(String(describing: refused))")
                        #expect(refused?.key == kind.teams, "\(what)")
                        if kind == .filtered {
                            #expect(refused?.message.contains("hidden == false") == true, "\(what)")
                        }
                    }
                    if !isInTransaction {
                        let begun = recorder.statements.map { $0.prefix { $0 != " " } }.map(String.init)
                        #expect(begun == write.statements, "\(what): \(recorder.statements)")
                    }
                    let (stored, wanted) = (
                        try await other.texts(Self.rows(kind.member, kind)),
                        try await other.texts(Self.rows("twin", kind))
                    )
                    #expect(stored == wanted, "\(what)")
                    let pairs = kind.pairs
                    #expect(
                        try await teams.ids
                            == other.integers("SELECT team_id FROM \(pairs) WHERE person_id = 1 ORDER BY 1"), "\(what)")
                    for (id, set) in sets.enumerated() where id > 0 {
                        #expect(
                            try await set.ids
                                == other.integers("SELECT person_id FROM \(pairs) WHERE team_id = \(id) ORDER BY 1"),
                            "\(what), team \(id)")
                    }
                    if kind == .marked {
                        let marked = helpers.filter { !$0.isDeleted && $0["deleted_at"] != nil }.count
                        let count = try await other.integers(
                            "SELECT count(*) FROM marked_member WHERE deleted_at IS NOT NULL")
                        #expect(count == [Int64(marked)], "\(what), held rows")
                    }
                }
            }
        }
    }

    @Test func marksAreSetAndTakenBack() async throws { try await play(Self.marking, .marked) }

    @Test func hiddenPairsAreNotTouchedAndRefused() async throws { try await play(Self.filtering, .filtered) }

    @Test func pairsOfOtherTenantsAreRefused() async throws { try await play(Self.foreign, .foreign) }

    @Test func stagedPairsAreCheckedToo() async throws {
        try await withDatabase { database, context, other in
            // Rows that are there before their person is: a key that comes back.
            try await other.runScript(
                """
                ALTER TABLE marked_member DROP CONSTRAINT marked_member_person_id_fkey;
                ALTER TABLE filtered_member DROP CONSTRAINT filtered_member_person_id_fkey;
                INSERT INTO marked_member VALUES (5, 1, 'old', '2020-01-01');
                INSERT INTO filtered_member VALUES (5, 1, true);
                """)
            for (kind, code): (HiddenPair, KindredError.Code?) in [(.marked, nil), (.filtered, .constraintViolation)] {
                let context = database.makeContext()
                let team = try await context.get(kind.team, 1)
                let person = try context.add(kind.person, ["id": 5])
                let teams = try await person.set(forKey: kind.teams)
                try await teams.insert(team)
                guard let code else {
                    try await context.save()
                    #expect(try await teams.ids == [1])
                    #expect(
                        try await other.texts(
                            "SELECT note FROM marked_member WHERE person_id = 5 AND deleted_at IS NULL")
                            == ["old"])
                    continue
                }
                let error = await expectError(code) { try await context.save() }
                #expect(error?.message.contains("hidden == false") == true)
                #expect(try await other.integers("SELECT count(*) FROM \(kind.person) WHERE id = 5") == [0])
            }
        }
    }

    @Test func markingAnEndLeavesPairsToTheHelpersKey() async throws {
        try await withDatabase { _, context, other in
            func marks() async throws -> [String] {
                try await other.texts(
                    """
                    SELECT concat_ws(' ', person_id, team_id, CASE WHEN m.deleted_at IS NULL THEN 'shown'
                        WHEN m.deleted_at = p.deleted_at THEN 'together' ELSE 'before' END)
                    FROM marked_member AS m JOIN marked_person AS p ON p.id = person_id ORDER BY 1
                    """)
            }
            let before = try await marks()
            #expect(before == ["1 1 shown", "1 2 before", "1 3 shown", "2 1 shown", "2 3 before"])
            let person = try await context.get("marked_person", 1)
            let (teams, people) = (
                try await person.set(forKey: "marked_teamSet"),
                try await context.get("marked_team", 1).set(forKey: "marked_personSet")
            )
            #expect(try await teams.ids == [1, 3])
            #expect(try await people.ids == [1, 2])
            try await context.delete(person)
            #expect(try await marks() == ["1 1 together", "1 2 before", "1 3 together", "2 1 shown", "2 3 before"])
            #expect(try await teams.ids == [])
            #expect(try await people.ids == [2])
            try await context.restore(person)
            #expect(try await marks() == before)
            #expect(try await teams.ids == [1, 3])
            #expect(try await people.ids == [1, 2])
            try await context.delete(person, permanently: true)
            #expect(try await other.integers("SELECT count(*) FROM marked_member WHERE person_id = 1") == [0])
            #expect(try await people.ids == [2])
        }
    }

    @Test func whereAnEndGoesItsHiddenPairsGoToo() async throws {
        try await withDatabase { _, context, other in
            // Their key has no action: the library deletes them.
            try await context.delete(try await context.get("filtered_team", 2))
            #expect(
                try await other.texts("SELECT t::text FROM filtered_member AS t ORDER BY 1")
                    == ["(1,1,f)", "(1,3,f)", "(2,1,f)", "(2,3,t)"])
        }
    }

    @Test func changesOfTheHelpersRowsAreFollowed() async throws {
        try await withDatabase { _, context, other in
            let teams = try await context.get("marked_person", 1).set(forKey: "marked_teamSet")
            #expect(try await teams.ids == [1, 3])
            let rows = try await context.fetch("marked_member").unfiltered().where("person_id = 1").sorted("team_id")
                .all()
            try await rows[1].setValue(nil, forKey: "deleted_at")
            #expect(try await teams.ids == [1, 2, 3])
            try await context.delete(rows[0])
            #expect(try await teams.ids == [2, 3])
            #expect(try await context.fetch("marked_member").where("person_id = 1 AND team_id = 3").delete() == 1)
            #expect(try await teams.ids == [2])
            try await context.restore(rows[2])
            #expect(
                try await teams.ids
                    == other.integers("SELECT team_id FROM \(HiddenPair.marked.pairs) WHERE person_id = 1 ORDER BY 1"))
        }
    }
}
