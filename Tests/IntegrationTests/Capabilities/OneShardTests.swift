import Foundation
import Kindred
import KindredTesting
import Testing

/// Statements about rows of one tenant, where every table is partitioned by tenant: each touches one partition of a table.
///
/// The server itself shows the plan of each statement that it runs, with its values, as a notice by `auto_explain`.
@Suite struct OneShardTests {
    private static let tables = ["project", "task", "label", "task_label"]

    private static let schema = """
        CREATE TABLE project (tenant_id integer, id integer, name text, PRIMARY KEY (tenant_id, id))
            PARTITION BY HASH (tenant_id);
        CREATE TABLE task (tenant_id integer, id integer, title text, project_id integer, PRIMARY KEY (tenant_id, id),
            FOREIGN KEY (tenant_id, project_id) REFERENCES project) PARTITION BY HASH (tenant_id);
        CREATE TABLE label (tenant_id integer, id integer, name text, PRIMARY KEY (tenant_id, id))
            PARTITION BY HASH (tenant_id);
        CREATE TABLE task_label (tenant_id integer, task_id integer, label_id integer,
            PRIMARY KEY (tenant_id, task_id, label_id), FOREIGN KEY (tenant_id, task_id) REFERENCES task,
            FOREIGN KEY (tenant_id, label_id) REFERENCES label) PARTITION BY HASH (tenant_id);
        DO $$ BEGIN
            FOR i IN 0..15 LOOP
                EXECUTE format('CREATE TABLE %1$I PARTITION OF %2$I FOR VALUES WITH (MODULUS 4, REMAINDER %3$s)',
                    (ARRAY['project', 'task', 'label', 'task_label'])[i / 4 + 1] || '_' || i % 4,
                    (ARRAY['project', 'task', 'label', 'task_label'])[i / 4 + 1], i % 4);
            END LOOP;
        END $$;
        INSERT INTO project SELECT t, i, 'project' FROM generate_series(1, 8) AS t, generate_series(1, 3) AS i;
        INSERT INTO task SELECT t, i, 'task', 1 + i % 3 FROM generate_series(1, 8) AS t, generate_series(1, 9) AS i;
        INSERT INTO label SELECT t, i, 'label' FROM generate_series(1, 8) AS t, generate_series(1, 3) AS i;
        INSERT INTO task_label SELECT t, i, 1 FROM generate_series(1, 8) AS t, generate_series(1, 9) AS i;
        """

    /// The partitions in a plan, by table.
    private static func partitions(in plan: String) -> [String: Set<String>] {
        var found: [String: Set<String>] = [:]
        let words = plan.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        // `Index Scan using task_0_pkey on task_0 t`: the alias follows, which may have a number, too.
        for (word, next) in zip(words, words.dropFirst()) where word == "on" {
            for table in tables where next.dropLast() == "\(table)_" { found[table, default: []].insert(String(next)) }
        }
        return found
    }

    /// Runs `body` with a context of a database whose server tells its plans; returns the plans of the library's
    /// statements.
    private func plans(_ body: (DatabaseContext) async throws -> Void) async throws -> [String]? {
        var configuration = try PostgresConfiguration(uri: TestDatabase.current.uri)
        configuration.pool.maximumConnections = 1
        let admin = try await PostgresClient.connect(configuration)
        do {
            try await admin.query("LOAD 'auto_explain'")
        } catch let error as PostgresError {
            // Not every installation has it.
            #expect(error.sqlState?.rawValue == "58P01", "\(error)")
            await admin.close()
            return nil
        }
        try await admin.runScript(
            """
            DO $$
                DECLARE
                    setting text;
                BEGIN
                    FOREACH setting IN ARRAY ARRAY['session_preload_libraries = auto_explain',
                        'auto_explain.log_min_duration = 0', 'auto_explain.log_level = notice',
                        'plan_cache_mode = force_custom_plan']
                    LOOP
                        EXECUTE format('ALTER DATABASE %I SET %s', current_database(), setting);
                    END LOOP;
                END $$;
            """)
        await admin.close()
        let database = try await Database.connect(configuration)
        let notices = database.client.notices()
        do {
            try await body(database.makeContext())
            try await database.client.query("DO $$ BEGIN RAISE NOTICE 'the end'; END $$")
        } catch {
            await database.close()
            throw error
        }
        var plans: [String] = []
        for await notice in notices {
            if notice.message == "the end" { break }
            plans.append(notice.message)
        }
        await database.close()
        return plans.filter { $0.contains("plan:") && $0.contains(#""public"."#) }
    }

    @Test(.database(.sql(schema))) func eachStatementTouchesOnePartitionOfATable() async throws {
        let plans = try await plans { context in
            let projects = try await context.fetch("project").where("tenant_id = 1").sorted("id").all()
            let labels = try await context.fetch("label").where("tenant_id = 1").sorted("id").all()
            // Loads for all objects of a group: members, members of members, their counts, and parts.
            let tasks = try await projects[0].set(forKey: "taskSet").all()
            #expect(tasks.count == 3 && projects.count == 3)
            #expect(try await tasks[0].set(forKey: "labelSet").all().count == 1)
            #expect(try await labels[0].set(forKey: "taskSet").all().count == 9)
            let part = try await context.fetch("project").where("tenant_id = 1")
                .prefetch("taskSet") { $0.where("title = %@", "task").sorted("id").limit(2) }.all()
            #expect(part.count == 3)
            // Ends of foreign keys, by their keys.
            let others = context.database.makeContext()
            let fresh = try await others.fetch("task").where("tenant_id = 1").all()
            #expect(try await fresh[0].object(forKey: "project") != nil)
            // Staged values, different ones and the same.
            for (number, task) in tasks.enumerated() { task["title"] = .string("task \(number)") }
            try await context.save()
            for task in tasks { task["title"] = "the same" }
            try await context.save()
            // Locks, and sets that change.
            #expect(try await context.lockedObjects(among: tasks).isEmpty)
            let second = try await projects[1].set(forKey: "taskSet")
            try await second.formUnion(tasks)
            try await second.subtract(tasks.prefix(2))
            try await second.set(tasks.suffix(2))
            try await second.removeAll()
            let own = try await tasks[0].set(forKey: "labelSet")
            try await own.formUnion(labels)
            try await own.subtract(labels.prefix(2))
            try await own.removeAll()
            // Deletions with rules: of pairs, and of references.
            try await context.delete(Array(tasks.prefix(2)))
            try await context.delete(tasks[2])
            try await context.delete([labels[1], labels[2]])
        }
        guard let plans else { return }
        var touched: Set<String> = []
        for plan in plans {
            for (table, partitions) in Self.partitions(in: plan) {
                touched.insert(table)
                #expect(partitions.count == 1, "\(table): \(plan)")
            }
        }
        #expect(touched == Set(Self.tables))
        #expect(plans.count > 15, "\(plans.count)")
    }

    /// The equality is there only where all keys share the value.
    @Test(.database(.sql(schema))) func rowsOfSeveralTenantsAreFoundAsBefore() async throws {
        try await withDatabase { _, context, other in
            let projects = try await context.fetch("project").where("id = 1").all()
            try await expectStatements(["SELECT"]) { () async throws in
                for project in projects { #expect(try await project.set(forKey: "taskSet").all().count == 3) }
            }
            let tasks = try await context.fetch("task").where("id < 3").all()
            for (number, task) in tasks.enumerated() { task["title"] = .string("task \(number)") }
            try await expectStatements(["UPDATE"]) { try await context.save() }
            #expect(try await other.value("SELECT count(*) FROM task WHERE title <> 'task'") == 16)
            try await context.delete(tasks)
            #expect(try await other.value("SELECT count(*) FROM task") == 56)
        }
    }

    /// Citus says by which column a table is distributed, in a table of its own; here it is made up.
    @Test(.database("CREATE TABLE task (tenant_id integer, id integer, PRIMARY KEY (tenant_id, id))"))
    func theColumnOfADistributedTableIsRead() async throws {
        try await distributeByTenant(["task"])
        try await withClient { admin in try await admin.query("INSERT INTO task VALUES (1, 1), (1, 2), (2, 1)") }
        try await withDatabase { _, context, _ in
            // Rows of two tenants are locked by two statements.
            for (condition, count) in [("tenant_id = 1", 1), ("id = 1", 2)] {
                let tasks = try await context.fetch("task").where(condition).all()
                let (locked, recorder) = try await recordingStatements { try await context.lockedObjects(among: tasks) }
                #expect(tasks.count == 2 && locked.isEmpty)
                let texts = recorder.statements.filter { $0.contains("SKIP LOCKED") }
                let isOfOne = texts.allSatisfy { $0.contains(#" AND t."tenant_id" = $3 FOR NO KEY UPDATE"#) }
                #expect(isOfOne && texts.count == count, "\(texts)")
            }
        }
    }
}
