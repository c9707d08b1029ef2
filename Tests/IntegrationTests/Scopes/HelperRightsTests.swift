import Kindred
import KindredTesting
import Testing

/// A role's calls for marked pairs depend on its right to update the helper.
@Suite(.database(.sql(ScopeWorld.schema))) struct HelperRightsTests {
    /// Rights on the helper, apart from SELECT.
    private enum Rights: String, CaseIterable {
        case none = "INSERT, DELETE"
        case mark = "INSERT, DELETE, UPDATE (deleted_at)"
        case all = "INSERT, DELETE, UPDATE"
    }

    /// A write of the first person's teams, the SQL that does the same to a copy, and the rights that it needs.
    private struct Write: Sendable {
        let name: String
        let sql: String
        let rights: Rights
        let write: @Sendable (_ person: DatabaseObject, _ team: [DatabaseObject]) async throws -> Void
    }

    private static func teams(_ person: DatabaseObject) async throws -> ToMany<DatabaseObject> {
        try await person.set(forKey: "marked_teamSet")
    }

    private static let restored = HiddenPair.marked.revival(in: "twin") ?? ""
    private static let added = HiddenPair.marked.insertion(into: "twin", 4)

    private static let writes: [Write] = [
        Write(name: "insert a new pair", sql: added, rights: .none) { try await teams($0).insert($1[4]) },
        Write(name: "insert a pair that is shown", sql: "", rights: .none) { try await teams($0).insert($1[1]) },
        Write(name: "insert a marked pair", sql: restored, rights: .mark) { try await teams($0).insert($1[2]) },
        Write(name: "formUnion", sql: "\(restored); \(added)", rights: .mark) {
            try await teams($0).formUnion([$1[4], $1[2], $1[1]])
        },
        Write(
            name: "set", sql: "\(restored); \(HiddenPair.marked.removal(from: "twin", "team_id = 1"))", rights: .mark
        ) {
            try await teams($0).set([$1[2], $1[3]])
        },
        Write(name: "from the other side", sql: restored, rights: .mark) {
            try await $1[2].set(forKey: "marked_personSet").insert($0)
        },
        Write(
            name: "payload",
            sql: "\(restored); UPDATE twin SET note = 'x' WHERE person_id = 1 AND team_id = 2", rights: .all
        ) {
            try await teams($0).insert($1[2], through: ["note": "x"])
        },
        Write(name: "remove", sql: HiddenPair.marked.removal(from: "twin", "team_id = 1"), rights: .mark) {
            try await teams($0).remove($1[1])
        },
        Write(name: "removeAll", sql: HiddenPair.marked.removal(from: "twin", "true"), rights: .mark) { person, _ in
            try await teams(person).removeAll()
        },
        Write(name: "delete the person", sql: HiddenPair.marked.removal(from: "twin", "true"), rights: .mark) {
            person, _ in
            try await person.context.delete(person)
        },
        Write(
            name: "delete the person and restore it",
            sql: "", rights: .mark
        ) { person, _ in
            try await person.context.delete(person)
            try await person.context.restore(person)
        },
    ]

    @Test func aMarkIsTakenBackByTheRightToUpdate() async throws {
        let kind = HiddenPair.marked
        try await withTenants { database, admin, _ in
            try await admin.runScript(
                "GRANT ALL ON marked_person, marked_team TO PUBLIC; GRANT SELECT ON marked_member TO PUBLIC")
            for rights in Rights.allCases {
                try await admin.runScript(
                    """
                    REVOKE INSERT, UPDATE, DELETE ON marked_member FROM PUBLIC;
                    GRANT \(rights.rawValue) ON marked_member TO PUBLIC;
                    """)
                try await database.refreshSchema()
                let order = Rights.allCases
                for (write, isInTransaction) in Self.writes.flatMap({ [($0, false), ($0, true)] }) {
                    let what = "\(rights), \(write.name)\(isInTransaction ? " in a transaction" : "")"
                    try await admin.runScript("UPDATE marked_person SET deleted_at = NULL; \(kind.reset)")
                    try await admin.makeTwin(of: kind.member)
                    let context = database.makeContext()
                    let person = try await context.get(kind.person, 1)
                    let team = try await [context.get(kind.team, 1)] + context.fetch(kind.team).sorted("id").all()
                    let teams = try await Self.teams(person)
                    #expect(try await teams.ids == [1, 3], "\(what)")
                    func call() async throws {
                        if isInTransaction {
                            try await context.transaction { () async throws in try await write.write(person, team) }
                        } else {
                            try await write.write(person, team)
                        }
                    }
                    let isAllowed =
                        try #require(order.firstIndex(of: rights)) >= #require(order.firstIndex(of: write.rights))
                    if isAllowed {
                        try await call()
                        if !write.sql.isEmpty { try await admin.runScript(write.sql) }
                    } else {
                        do {
                            try await call()
                            Issue.record("\(what) passes")
                        } catch let error as KindredError {
                            #expect(error.code == .accessDenied, "\(what): \(String(reflecting: error))")
                        }
                        #expect(
                            try await admin.integers("SELECT count(*) FROM marked_person WHERE deleted_at IS NULL")
                                == [2], "\(what)")
                    }
                    let (stored, wanted) = (
                        try await admin.texts(kind.rows(of: kind.member)), try await admin.texts(kind.rows(of: "twin"))
                    )
                    #expect(stored == wanted, "\(what)")
                    #expect(
                        try await teams.ids
                            == admin.integers("SELECT team_id FROM \(kind.pairs) WHERE person_id = 1 ORDER BY 1"),
                        "\(what)")
                }
            }
        }
    }

    @Test func aPersonWhosePairsCannotComeBackStaysMarked() async throws {
        let kind = HiddenPair.marked
        try await withTenants { database, admin, _ in
            try await admin.runScript(
                """
                GRANT ALL ON marked_person, marked_team TO PUBLIC;
                GRANT SELECT, INSERT, DELETE ON marked_member TO PUBLIC;
                UPDATE marked_person SET deleted_at = '2021-01-01' WHERE id = 1;
                UPDATE marked_member SET deleted_at = '2021-01-01' WHERE person_id = 1 AND deleted_at IS NULL;
                """)
            try await database.refreshSchema()
            let before = try await admin.texts("SELECT t::text FROM marked_member AS t ORDER BY 1")
            let context = database.makeContext()
            let person = try await context.any(kind.person, 1)
            await expectError(.accessDenied) { try await context.restore(person) }
            #expect(person["deleted_at"] != nil)
            #expect(try await admin.integers("SELECT id FROM marked_person WHERE deleted_at IS NULL") == [2])
            #expect(try await admin.texts("SELECT t::text FROM marked_member AS t ORDER BY 1") == before)
        }
    }

    @Test func stagedPairsNeedTheRightToo() async throws {
        let kind = HiddenPair.marked
        try await withTenants { database, admin, _ in
            try await admin.runScript(
                """
                GRANT ALL ON marked_person, marked_team TO PUBLIC;
                GRANT SELECT, INSERT, DELETE ON marked_member TO PUBLIC;
                ALTER TABLE marked_member DROP CONSTRAINT marked_member_person_id_fkey;
                INSERT INTO marked_member VALUES (5, 1, 'old', '2020-01-01');
                ALTER TABLE marked_member ADD CONSTRAINT marked_member_person_id_fkey
                    FOREIGN KEY (person_id) REFERENCES marked_person ON DELETE CASCADE NOT VALID;
                """)
            for isAllowed in [false, true] {
                if isAllowed { try await admin.runScript("GRANT UPDATE ON marked_member TO PUBLIC") }
                try await database.refreshSchema()
                let context = database.makeContext()
                let team = try await context.get(kind.team, 1)
                let person = try context.add(kind.person, ["id": 5])
                try await person.set(forKey: kind.teams).insert(team)
                if isAllowed {
                    try await context.save()
                } else {
                    await expectError(.accessDenied) { try await context.save() }
                }
                #expect(
                    try await admin.integers("SELECT count(*) FROM \(kind.person) WHERE id = 5") == [isAllowed ? 1 : 0])
                #expect(
                    try await admin.integers("SELECT team_id FROM \(kind.pairs) WHERE person_id = 5")
                        == (isAllowed ? [1] : []))
            }
        }
    }
}
