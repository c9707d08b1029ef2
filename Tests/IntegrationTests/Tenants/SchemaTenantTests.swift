import Kindred
import KindredLive
import KindredTesting
import Testing

/// Tenants with schemas of their own: what a context of one reads and writes.
@Suite(.database(.sql(schemaTenants)))
struct SchemaTenantTests {
    private static let names = ["acme", "beta", "Gamma & Co"]

    @Test func theDatabaseItselfHasTheSharedTablesOnly() async throws {
        try await withSchemaTenants { database, _ in
            #expect(database.schema.entities.map(\.name.description) == ["public.country"])
            await expectError(.unknownEntity) { _ = try database.makeContext().fetch("project") }
            await expectError(.unknownEntity) { _ = try database.makeContext().fetch("acme.project") }
            #expect(try await database.makeContext().fetch("country").count() == 2)
            let tenant = try await database.tenant("acme")
            #expect(tenant.name == "acme")
            #expect(
                tenant.schema.entities.map(\.name.name) == ["country", "label", "project", "task", "task_label"])
        }
    }

    @Test func theFirstUseReadsTheSchemaAndLaterOnesNothing() async throws {
        try await withSchemaTenants { database, _ in
            let (_, first) = try await recordingStatements { _ = try await database.tenant("acme") }
            #expect(!first.statements.isEmpty)
            try await expectStatements([]) { _ = try await database.tenant("acme").makeContext() }
            await expectError(.notFound) { _ = try await database.tenant("nobody") }
            await expectError(.notFound) { _ = try await database.tenant("pg_catalog") }
            for name in ["public", "tenant_template"] {
                await expectError(.invalidRequest) { _ = try await database.tenant(name) }
            }
            await expectError(.invalidRequest) {
                try await database.makeContext().transaction { () async throws in _ = try await database.tenant("beta")
                }
            }
        }
    }

    @Test func statementsNameTheSchemaAndNeedNoPath() async throws {
        try await withSchemaTenants { database, _ in
            for name in Self.names {
                let context = try await database.context(of: name)
                let (tasks, recorder) = try await recordingStatements {
                    try await context.fetch("task").prefetch("project.country").sorted("id").all()
                }
                #expect(tasks.count == 6)
                let place = "FROM \"\(name)\".\"task\""
                #expect(recorder.statements.first?.contains(place) == true, "\(recorder.statements)")
                #expect(recorder.statements.contains { $0.contains("\"public\".\"country\"") })
            }
        }
    }

    @Test func eachTenantReadsAndWritesItsOwnTypes() async throws {
        try await withSchemaTenants { database, other in
            for (number, name) in Self.names.enumerated() {
                let context = try await database.context(of: name)
                let garden = try await context.get("project", 1)
                #expect(garden["name"] == PostgresValue.string("<\(number)> garden"))
                #expect(garden["mood"] == "busy")
                guard case .array(let moods)? = try garden.value(forKey: "moods", as: PostgresValue.self) else {
                    Issue.record("moods are no array")
                    continue
                }
                #expect(moods.elements == ["busy", "calm"])
                let place = try garden.value(forKey: "place", as: PostgresComposite.self)
                #expect(try place?.decode("street", as: String.self) == "<\(number)> lane")
                #expect(try place?.decode("mood", as: String.self) == "calm")

                let same = try await context.query("SELECT id FROM project WHERE place = \(place)")
                #expect(try same.first?[0] == 1)

                #expect(try await context.fetch("project").where("mood == 'busy'").count() == 1)
                #expect(try await context.fetch("project").where("mood IN {'calm', 'busy'}").count() == 2)
                garden["mood"] = "calm"
                garden["moods"] = PostgresValue.array(PostgresArray(elementType: moods.elementType, elements: ["calm"]))
                garden["place"] = PostgresComposite([
                    "street": .string("<\(number)> road"), "mood": "busy",
                ])
                try await context.save()
                try await context.create("project", ["id": 9, "name": "<\(number)> shed", "mood": "busy"])
                let schema = try SQLIdentifier.quote(name)
                let rows = try await other.query(
                    SQL(
                        unsafeRaw:
                            "SELECT mood::text || moods::text || place::text FROM \(schema).project WHERE id IN (1, 9) ORDER BY id"
                    ))
                #expect(try rows.first?[0] == PostgresValue.string("calm{calm}(\"<\(number)> road\",busy)"))
                #expect(rows.count == 2)
            }
        }
    }

    @Test func relationshipsLeadToTheTenantsTablesAndTheSharedOnes() async throws {
        try await withSchemaTenants { database, other in
            let (acme, beta) = (try await database.context(of: "acme"), try await database.context(of: "beta"))
            let project = try await acme.get("project", 1)
            #expect(try await project.object(forKey: "country")?["name"] == "Austria")
            let tasks = try await project.set(forKey: "taskSet")
            #expect(try await tasks.count == 3)
            try await tasks.insert(try await acme.get("task", 1))
            let label = try await acme.get("label", 1)
            try await (try await acme.get("task", 2)).set(forKey: "labelSet").insert(label)
            try await acme.delete(try await acme.get("label", 2))
            #expect(try await other.value("SELECT count(*) FROM acme.task WHERE project_id = 1") == 4)
            #expect(try await other.value("SELECT count(*) FROM acme.task_label") == 2)
            #expect(try await beta.fetch("label").count() == 2)
            #expect(try await other.value("SELECT count(*) FROM beta.task_label") == 2)
        }
    }

    @Test func objectsAndIDsOfOthersAreRefused() async throws {
        try await withSchemaTenants { database, _ in
            let (acme, beta) = (try await database.context(of: "acme"), try await database.context(of: "beta"))
            let foreign = try await acme.get("project", 1)
            let id = try #require(foreign.objectID)
            #expect(id.uri == "kindred:/acme/project?id=1")
            #expect(try await acme.get(id) === foreign)
            #expect(try await database.context(of: "acme").get(uri: id.uri)["id"] == 1)
            await expectError(.otherTenant) { _ = try await beta.get(id) }
            await expectError(.otherTenant) { _ = try await beta.get(uri: id.uri) }
            await expectError(.otherTenant) { _ = try await beta.get(uri: "kindred:/tenant_template/project?id=1") }
            #expect(try await beta.get(uri: "kindred:/public/country?code=AT")["name"] == "Austria")
            let task = try await beta.get("task", 1)
            await expectError(.otherTenant) { try await task.setValue(foreign, forKey: "project") }
            await expectError(.otherTenant) { try await beta.delete(foreign) }
            #expect(try await beta.get("project", 1).objectID != id)
        }
    }

    @Test func aTransactionIsThatOfOneTenant() async throws {
        try await withSchemaTenants { database, other in
            let (acme, beta) = (try await database.context(of: "acme"), try await database.context(of: "beta"))
            try await acme.transaction { () async throws in
                try await acme.create("label", ["id": 7, "name": "new"])
                let error = await #expect(throws: PostgresError.self) { _ = try await beta.fetch("label").count() }
                #expect(error?.code == .settingsDiffer)
                // SQL of the program's own finds the tenant's tables.
                #expect(try await acme.query("SELECT count(*) FROM label").first?[0] == 3)
                await fail(acme) { try await acme.create("label", ["id": 8, "name": "other"]) }
                #expect(try await acme.query("SELECT count(*) FROM label").first?[0] == 3)
            }
            #expect(try await other.value("SELECT count(*) FROM acme.label") == 3)
            #expect(try await other.value("SELECT count(*) FROM beta.label") == 2)
        }
    }

    @Test func rawSQLHasThePathOfItsTenant() async throws {
        try await withSchemaTenants { database, _ in
            for _ in 0..<3 {
                for (number, name) in Self.names.enumerated() {
                    let context = try await database.context(of: name)
                    let text = try await context.query("SELECT name, mood, moods FROM project WHERE id = 1").first
                    #expect(try text?[0] == PostgresValue.string("<\(number)> garden"))
                    #expect(try text?[1] == "busy")
                    let found = try await context.query("SELECT * FROM task WHERE id <= 2", as: "task")
                    #expect(found.count == 2 && found.allSatisfy { "\($0["title"] ?? "")".contains("<\(number)>") })
                }
            }
            #expect(try await database.query("SELECT to_regclass('project') IS NULL").first?[0] == true)
        }
    }

    @Test func functionsWithoutAPathOfTheirOwnFindTheTenantsTables() async throws {
        try await withSchemaTenants { database, other in
            try await other.runScript(
                """
                CREATE FUNCTION public.count_labels() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN NEW.size := (SELECT count(*) FROM label); RETURN NEW; END $$;
                CREATE TRIGGER count_labels BEFORE INSERT ON acme.task FOR EACH ROW EXECUTE FUNCTION public.count_labels();
                """)
            let context = try await database.context(of: "acme")
            let task = try await context.create("task", ["id": 70, "title": "counted"])
            #expect(task["size"] == 2)
            #expect(try await database.context(of: "beta").create("task", ["id": 70, "title": "not"])["size"] == 1)
        }
    }

    @Test func aTenantCostsNoStatement() async throws {
        try await withSchemaTenants { database, other in
            var configuration = database.client.configuration
            configuration.searchPath = ["beta", "public"]
            let plain = try await Database.connect(configuration)
            var sent: [[String]] = []
            for context in [plain.makeContext(), try await database.context(of: "acme")] {
                let (_, recorder) = try await recordingStatements {
                    let task = try await context.get("task", 1)
                    _ = try await task.object(forKey: "project")
                    _ = try await task.set(forKey: "labelSet").objects
                    _ = try await context.fetch("task").prefetch("project", "labelSet").sorted("id").all()
                    _ = try await context.fetch("project").where("mood == 'busy'").sum("id")
                    try await task.set(forKey: "labelSet").insert(try await context.get("label", 2))
                    try await task.setValue("new", forKey: "title")
                    let project = try context.add("project", ["id": 20, "name": "barn", "mood": "busy"])
                    try await context.save()
                    _ = try await context.fetch("task").where("id == 3").update(["size": 2])
                    try await context.delete(project)
                    try await context.query("SELECT count(*) FROM task")
                }
                sent.append(recorder.statements)
            }
            #expect(sent[0].count == sent[1].count, "\(sent)")
            #expect(!sent[1].joined().contains("\0"))
            await plain.close()
        }
    }

    @Test func textsOfRequestsNameTheSchema() async throws {
        try await withSchemaTenants { database, _ in
            let request = try await database.context(of: "acme").fetch("task")
            #expect(try request.sql.contains("FROM \"acme\".\"task\""))
        }
    }

    @Test func whatIsOfAllTenantsIsRefused() async throws {
        try await withSchemaTenants { database, _ in
            let context = try await database.context(of: "acme")
            await expectError(.invalidRequest) { _ = try await context.changes(of: "task") }
            let task = try await context.get("task", 1)
            await expectError(.invalidRequest) {
                try await context.transaction { () async throws in try await task.lock(announcing: "mine") }
            }
        }
    }

    @Test func refusalsOfTheServerNameTheEntity() async throws {
        try await withSchemaTenants { database, _ in
            let context = try await database.context(of: "acme")
            let error = await expectError(.constraintViolation) {
                try await context.create("label", ["id": 1, "name": "again"])
            }
            #expect(error?.entity == "tenant_template.label")
            await expectError(.constraintViolation) {
                try await context.create("task", ["title": "x", "project_id": 99])
            }
        }
    }

    @Test func tenantsShareNothingAtTheSameTime() async throws {
        try await withSchemaTenants { database, _ in
            try await withThrowingTaskGroup { group in
                for round in 0..<60 {
                    group.addTask {
                        let number = round % Self.names.count
                        let context = try await database.context(of: Self.names[number])
                        let task = try await context.get("task", round % 6 + 1)
                        #expect(task["title"] == PostgresValue.string("<\(number)> t\(round % 6 + 1)"))
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test func whatATenantsContextCannotDoIsNamed() async throws {
        try await withSchemaTenants { database, other in
            let tenant = try await database.tenant("acme")
            await expectError(.invalidRequest) {
                _ = try tenant.makeContext(settings: ["transaction_timeout": 1_000], tracking: .automatic)
            }
            let strict = try await Database.connect(
                other.configuration, requiredSettings: ["app.x"], tenants: .schemas(template: "tenant_template"))
            try await lend(strict) { strict in
                let tenant = try await strict.tenant("acme")
                await expectError(.missingSettings) { _ = try await tenant.makeContext().fetch("project").count() }
                #expect(try await tenant.makeContext(settings: ["app.x": 1]).fetch("project").count() == 2)
            }
        }
    }
}
