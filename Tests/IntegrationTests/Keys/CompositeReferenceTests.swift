import Kindred
import KindredTesting
import Testing

/// Objects in memory to which composite foreign keys refer, as in tables with a tenant's column: they are not read again.
@Suite struct CompositeReferenceTests {
    private static let schema = """
        CREATE TABLE tenant (id int PRIMARY KEY);
        CREATE TABLE project (
            tenant_id int NOT NULL REFERENCES tenant, id int PRIMARY KEY, name text NOT NULL, UNIQUE (tenant_id, id));
        CREATE TABLE member (tenant_id int REFERENCES tenant, number int, name text, PRIMARY KEY (tenant_id, number));
        CREATE TABLE task (
            id int PRIMARY KEY, tenant_id int NOT NULL, project_id int NOT NULL, assignee_id int,
            CONSTRAINT project FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, id),
            CONSTRAINT assignee FOREIGN KEY (assignee_id, tenant_id) REFERENCES member (number, tenant_id));
        INSERT INTO tenant VALUES (1), (2);
        INSERT INTO project SELECT i % 2 + 1, i, 'Project ' || i FROM generate_series(1, 40) i;
        INSERT INTO member SELECT t, i, 'Member ' || i FROM generate_series(1, 2) t, generate_series(1, 5) i;
        INSERT INTO task SELECT i, i % 2 + 1, i, CASE WHEN i % 5 > 0 THEN i % 5 END FROM generate_series(1, 40) i;
        """

    @Test(.database(.sql(schema))) func theyAreFoundInMemory() async throws {
        try await withDatabase { database, context, other in
            let projects = try await context.fetch("project").sorted("id").all()
            let members = try await context.fetch("member").all()
            try await expectStatements(["SELECT"]) { () async throws in
                for task in try await context.fetch("task").sorted("id").all() {
                    let project = try await task.object(forKey: "project")
                    #expect(project != nil && projects.contains { $0 === project })
                    let assignee = try await task.object(forKey: "assignee")
                    #expect(assignee == nil || members.contains { $0 === assignee })
                }
            }
        }
    }

    @Test(.database(.sql(schema))) func prefetchesAndViewsTakeThemFromMemory() async throws {
        try await withDatabase { database, context, other in
            let request = try context.fetch("task").sorted("id")
            var projects = try await context.fetch("project").all()
            var members = try await context.fetch("member").all()
            var tasks: [DatabaseObject] = []
            try await expectStatements(["SELECT"]) { () async throws in
                tasks = try await request.prefetch("project", "assignee").all()
            }
            // Prefetched objects stay, whatever the program still holds.
            #expect(projects.count == 40 && members.count == 10)
            (projects, members) = ([], [])
            try await expectStatements([]) { () async throws in
                for task in tasks {
                    let name = try await task.value(forKeyPath: "project.name")?.attribute
                    #expect(name == .string("Project \(task["id"]?.description ?? "")"))
                    _ = try await task.value(forKeyPath: "assignee.name")
                }
            }
            // A project is not in memory: one query, for it alone.
            let fresh = database.makeContext()
            let most = try await fresh.fetch("project").where("id <= 39").all()
            let (views, recorder) = try await recordingStatements {
                try await fresh.fetch("task").sorted("id").views("id", "project.name")
            }
            #expect(recorder.statements.count == 2 && views.count == 40 && most.count == 39)
        }
    }

    @Test(.database(.sql(schema))) func whatHasChangedMeanwhileIsReadAgain() async throws {
        try await withDatabase { database, context, other in
            let project = try await context.fetch("project").where("id = 1").one()
            try await context.fetch("project").where("id = 1").update(["name": "New"])
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                let task = try await context.fetch("task").where("id = 2").prefetch("project").one()
                #expect(try await task.value(forKeyPath: "project.name")?.attribute == "Project 2")
            }
            let task = try await context.fetch("task").where("id = 1").prefetch("project").one()
            #expect(try await task.value(forKeyPath: "project.name")?.attribute == "New")
            #expect(try await task.object(forKey: "project") === project)
            try await context.delete(try await context.fetch("task").where("id = 1").one())
            try await context.delete(project)
            #expect(project.isDeleted)
        }
    }

    /// The foreign key refers to a unique key with the tenant, and not to the primary key.
    @Test(
        .database(
            .sql(
                """
                CREATE TABLE project (tenant_id int NOT NULL, id int PRIMARY KEY, UNIQUE (tenant_id, id));
                CREATE TABLE task (
                    id int PRIMARY KEY, position int NOT NULL, tenant_id int NOT NULL, project_id int NOT NULL,
                    CONSTRAINT project__tasks FOREIGN KEY (tenant_id, project_id) REFERENCES project (tenant_id, id));
                COMMENT ON CONSTRAINT project__tasks ON task IS '@kindred {"orderedBy": "position"}';
                INSERT INTO project VALUES (1, 1);
                INSERT INTO task VALUES (1, 1, 1, 1), (2, 4, 1, 1);
                """)))
    func aNewMemberOfAnOrderedSetGetsItsPosition() async throws {
        try await withDatabase { _, context, other in
            let project = try await context.fetch("project").one()
            try context.add("task", ["id": 3, "project": project])
            try await expectStatements(["SELECT", "INSERT"]) { () async throws in try await context.save() }
            #expect(try await other.values("SELECT position FROM task ORDER BY id") == [1, 4, 5])
        }
    }
}
