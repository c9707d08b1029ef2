import Kindred
import KindredTesting
import Testing

/// Parts of many-to-many relationships name the columns of the helper's rows: `@through`.
@Suite(.database(.sql(partSchema))) struct PairPartTests {
    private static let admins =
        "SELECT person_id FROM membership WHERE project_id = %1 AND role = 'admin' ORDER BY rank DESC, person_id LIMIT 2"

    private func admins(_ project: DatabaseObject) async throws -> FetchRequest<DatabaseObject> {
        try await project.set(forKey: "members").where("@through.role == %@", "admin")
            .sorted("@through.rank", ascending: false).sorted("id").limit(2)
    }

    private func load(_ context: DatabaseContext) async throws -> [DatabaseObject] {
        try await context.fetch("project").sorted("id").prefetch("members") {
            $0.where("@through.role == %@", "admin").sorted("@through.rank", ascending: false).sorted("id").limit(2)
        }.all()
    }

    @Test func theHelpersColumnsDecideAndSort() async throws {
        try await withDatabase { database, context, other in
            var projects: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in projects = try await load(context) }
            for project in projects {
                let expected = try await other.keys(Self.admins, of: project)
                try await expectStatements([]) { () async throws in
                    #expect(try await admins(project).all().keys == expected)
                }
            }
        }
    }

    @Test func aRequestOfASetTakesThemWithoutAPart() async throws {
        try await withDatabase { database, context, other in
            let project = try await context.fetch("project").where("id == 3").one()
            let expected = try await other.keys(Self.admins, of: project)
            try await expectStatements(["SELECT", "SELECT", "SELECT", "SELECT"]) { () async throws in
                #expect(try await admins(project).all().keys == expected)
                let members = try await project.set(forKey: "members")
                #expect(try await members.where("@through.role == 'admin'").count() == 3)
                #expect(try await members.where("@through.role == 'admin' AND name != %@", "person 1").count() == 2)
                let rows = try await members.sorted("id").select("name", "@through.role").all()
                #expect(rows.count == 6 && (rows[0]["@through.role"] ?? nil) == "admin")
                #expect((rows[5]["@through.role"] ?? nil) == "guest")
            }
            try await expectStatements(["WITH"]) { () async throws in
                let guests = try await project.set(forKey: "members").where("@through.role == 'guest' AND id == 6")
                #expect(try await guests.update(["name": "visitor"]) == 1)
            }
            await expectError(.unknownKey) { _ = try context.fetch("person").where("@through.role == 'admin'") }
            await expectError(.unknownKey) {
                _ = try await project.set(forKey: "members").where("@through.colour == 'red'")
            }
            await expectError(.unknownKey) { _ = try await project.set(forKey: "tasks").sorted("@through.role") }
        }
    }

    @Test func changesOfPairsMakeAPartStale() async throws {
        try await withDatabase { database, context, other in
            let projects = try await load(context)
            func expectAdmins(_ statements: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
                var expected: [[PostgresValue?]] = []
                for project in projects { expected.append(try await other.keys(Self.admins, of: project)) }
                try await expectStatements(statements, sourceLocation: sourceLocation) { () async throws in
                    var found: [[PostgresValue?]] = []
                    for project in projects { found.append(try await admins(project).all().keys) }
                    #expect(found == expected, sourceLocation: sourceLocation)
                }
            }
            try await expectAdmins([])
            let person = try #require(try await context.find("person", 6))
            let members = try await projects[0].set(forKey: "members")
            try await members.insert(person, through: ["role": "admin", "rank": 99])
            try await expectAdmins(["SELECT"])
            try await members.remove(person)
            try await expectAdmins(["SELECT"])
            // The helper's rows are objects, too.
            let pair = try await context.fetch("membership").where("project_id == 2 AND person_id == 5").one()
            try await pair.setValue("admin", forKey: "role")
            try await expectAdmins(["SELECT"])
            pair["rank"] = 50
            try await expectAdmins([])
            try await context.save()
            try await expectAdmins(["SELECT"])
            // A column that the part does not read concerns it not.
            try await person.setValue("someone", forKey: "name")
            try await expectAdmins([])
            try await context.delete(pair)
            try await expectAdmins(["SELECT"])
            try await context.fetch("membership").where("role == 'guest'").update(["role": "admin"])
            try await expectAdmins(["SELECT"])
        }
    }
}
