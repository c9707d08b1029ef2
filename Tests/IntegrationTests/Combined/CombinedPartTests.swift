import Kindred
import KindredTesting
import Testing

/// Parts of relationships whose members have a filter, and of which columns are left out.
@Suite(.database(.sql(combinedSchema))) struct CombinedPartTests {
    @Test func aFilteredPartIsNotTheUnfilteredOne() async throws {
        try await withDatabase { database, context, _ in
            let projects = try await context.projects { $0.sorted("id") }
            let tasks = try await projects[0].set(forKey: "tasks")
            try await expectStatements([]) { () async throws in
                #expect(try await tasks.sorted("id").all().keys == [1, 2, 3])
                #expect(try await tasks.request().count() == 3)
            }
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                #expect(try await tasks.unfiltered().sorted("id").all().keys == [1, 2, 3, 4])
                #expect(try await tasks.unfiltered().count() == 4)
                #expect(try await tasks.objects.count == 3)
            }
            let other = database.makeContext()
            let others = try await other.projects { $0.unfiltered().sorted("id").limit(4) }
            try await expectStatements([]) { () async throws in
                #expect(
                    try await others.keys(of: "tasks") { try $0.unfiltered().sorted("id").limit(4) }
                        == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])
                #expect(try await others[0].set(forKey: "tasks").unfiltered().limit(2).count() == 2)
            }
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                let tasks = try await others[0].set(forKey: "tasks")
                #expect(try await tasks.sorted("id").limit(4).all().keys == [1, 2, 3])
                #expect(try await tasks.request().count() == 3)
            }
        }
    }

    @Test func marksMakePartsStale() async throws {
        try await withDatabase { _, context, _ in
            let projects = try await context.projects { $0.openTasks }
            func expect(_ keys: [[PostgresValue?]], sourceLocation: SourceLocation = #_sourceLocation) async throws {
                let (found, recorder) = try await recordingStatements {
                    try await projects.keys(of: "tasks") { try $0.openTasks() }
                }
                #expect(found == keys, sourceLocation: sourceLocation)
                #expect(recorder.statements.count == 1, "\(recorder.statements)", sourceLocation: sourceLocation)
            }
            let task = try await context.fetch("task").where("id == 2").one()
            try await context.delete(task)
            try await expect([[1], [7, 5], [11, 10]])
            try await context.restore(task)
            try await expect([[2, 1], [7, 5], [11, 10]])
            // Rows without objects.
            #expect(try await context.fetch("task").where("id == 5").delete() == 1)
            try await expect([[2, 1], [7], [11, 10]])
            #expect(try await context.fetch("task").unfiltered().where("id == 4").update(["deleted_at": nil]) == 1)
            try await expect([[4, 2, 1], [7], [11, 10]])
            try await context.delete(task, permanently: true)
            try await expect([[4, 1], [7], [11, 10]])
            let staged = try await context.fetch("task").where("id == 10").one()
            try context.stageDeletion(of: staged)
            try await expectStatements([]) { () async throws in
                #expect(try await projects[2].set(forKey: "tasks").openTasks().all().keys == [11, 10])
            }
            try await context.save()
            try await expect([[4, 1], [7], [11]])
            // A project takes its tasks with it; its part of them is read anew.
            try await context.delete(projects[1])
            try await expect([[4, 1], [], [11]])
            try await context.restore(projects[1])
            try await expect([[4, 1], [7], [11]])
        }
    }

    @Test func aPartOfPairsFollowsTheFilter() async throws {
        try await withDatabase { _, context, _ in
            let tasks = try await context.fetch("task").sorted("id").prefetch("labels") {
                $0.omitting("color").sorted("id").limit(1)
            }.all()
            #expect(tasks.count == 9)
            let label = try #require(try await context.find("label", 1))
            func firstLabels() async throws -> Set<[PostgresValue?]> {
                Set(try await tasks.keys(of: "labels") { try $0.sorted("id").limit(1) })
            }
            try await expectStatements([]) { () async throws in #expect(try await firstLabels() == [[1]]) }
            try await label.setValue(true, forKey: "archived")
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await firstLabels() == [[3]]) }
            try await context.fetch("label").unfiltered().where("id <= 2").update(["archived": false])
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await firstLabels() == [[1]]) }
            // Columns that hide a row are always read.
            await expectError(.invalidRequest) { _ = try context.fetch("label").omitting("archived") }
            await expectError(.invalidRequest) {
                _ = try context.fetch("task").prefetch("labels") { $0.omitting("archived").limit(1) }
            }
            let only = try await context.fetch("label").only("name").sorted("id").first()
            #expect(only?.has("archived") == true)
        }
    }

    @Test func leftOutColumnsOfAPartAreLoadedTogether() async throws {
        try await withDatabase { _, context, _ in
            let projects = try await context.projects { $0.omitting("body").sorted("id").limit(2) }
            func tasks(
                _ request: (FetchRequest<DatabaseObject>) throws -> FetchRequest<DatabaseObject> = { $0 }
            ) async throws -> [DatabaseObject] {
                var tasks: [DatabaseObject] = []
                for project in projects {
                    tasks += try await request(try await project.set(forKey: "tasks").sorted("id").limit(2)).all()
                }
                return tasks
            }
            var held: [DatabaseObject] = []
            try await expectStatements([]) { () async throws in held = try await tasks() }
            #expect(held.keys == [1, 2, 5, 6, 9, 10])
            #expect(held.allSatisfy { $0.has("title") && !$0.has("body") && !$0.has("log") })
            try await expectStatements(["SELECT"]) { () async throws in
                for task in held {
                    #expect(try await task.loaded("body") == .string("body \(task["id"]?.description ?? "")"))
                }
            }
            // A request that names a column has it; a request that leaves out the same columns is the part.
            try await expectStatements([]) { () async throws in _ = try await tasks { try $0.omitting("body") } }
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                let logs = try await tasks { try $0.only("log") }
                for task in logs { #expect(task["log"] == .string("log \(task["id"]?.description ?? "")")) }
                #expect(logs.keys == held.keys)
            }
            try await expectStatements([]) { () async throws in _ = try await tasks { try $0.only("title", "log") } }
            #expect(held.allSatisfy { $0.has("body") && $0.has("log") })
        }
    }

    @Test func membersKeepWhatTheyHave() async throws {
        try await withDatabase { _, context, other in
            let tasks = try await context.fetch("task").unfiltered().sorted("id").all()
            #expect(try await tasks[0].loaded("log") == "log 1")
            _ = try await context.projects { $0.omitting("body", "title").sorted("id") }
            #expect(tasks.allSatisfy { $0.has("title") && $0.has("body") } && tasks[0].has("log"))
            // The row has changed, and columns that were not read with it are no longer known.
            try await other.query("UPDATE task SET title = 'new', body = 'newer', position = 1 WHERE id = 1")
            _ = try await context.projects { $0.omitting("title").sorted("position") }
            #expect(tasks[0]["body"] == "newer" && tasks[0]["position"] == 1 && !tasks[0].has("title"))
            #expect(try await tasks[0].loaded("title") == "new")
            #expect(tasks[1]["title"] == "task 2")
            // A staged value stays, and is written as the only change.
            tasks[1]["body"] = "mine"
            try await other.query("UPDATE task SET title = 'theirs', position = 2 WHERE id = 2")
            _ = try await context.projects { $0.omitting("body").sorted("position", ascending: false) }
            #expect(tasks[1]["body"] == "mine" && tasks[1]["title"] == "theirs")
            try await context.save()
            #expect(try await other.value("SELECT title || ' ' || body FROM task WHERE id = 2") == "theirs mine")
        }
    }

    @Test func aPrefetchLoadsWhatWasLeftOutBefore() async throws {
        try await withDatabase { database, context, _ in
            // Of a set, of a part, and of an object at the other end.
            let projects = try await context.fetch("project").sorted("id").prefetch("tasks", omitting: ["body"]).all()
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                _ = try await context.fetch("project").sorted("id").prefetch("tasks").all()
            }
            try await expectStatements([]) { () async throws in
                for project in projects {
                    for task in try await project.set(forKey: "tasks").objects {
                        #expect(task.has("body") && !task.has("log"))
                    }
                }
            }
            let parts = database.makeContext()
            let others = try await parts.projects { $0.only("title").sorted("id") }
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                _ = try await parts.projects { $0.only("title", "log").sorted("id") }
            }
            try await expectStatements([]) { () async throws in
                for project in others {
                    for task in try await project.set(forKey: "tasks").sorted("id").all() {
                        #expect(task.has("title") && task.has("log") && !task.has("body"))
                    }
                }
            }
            let ends = database.makeContext()
            let tasks = try await ends.fetch("task").sorted("id").prefetch("project", omitting: ["plan"]).all()
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                _ = try await ends.fetch("task").sorted("id").prefetch("project").all()
            }
            try await expectStatements([]) { () async throws in
                for task in tasks { #expect(try await task.object(forKey: "project")?.has("plan") == true) }
            }
        }
    }

    @Test func aPartIsReadAnewByTheLatestGroup() async throws {
        try await withDatabase { _, context, other in
            let projects = try await context.projects { $0.omitting("body").openTasks }
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await context.projects { $0.openTasks.omitting("body") } == projects)
            }
            try await other.query("UPDATE task SET deleted_at = now() WHERE id IN (2, 5)")
            for project in projects { try await project.refresh() }
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await projects.keys(of: "tasks") { try $0.openTasks() } == [[1], [7], [11, 10]])
            }
        }
    }

    @Test func aPathLeadsToAllBranches() async throws {
        try await withDatabase { _, context, _ in
            let request = try context.fetch("project").where("id == 1")
                .prefetch("tasks") { $0.sorted("id").limit(1) }.prefetch("tasks.labels")
                .omitting("tasks.body", "tasks.labels.color")
            try await expectStatements(["SELECT", "SELECT", "SELECT", "SELECT"]) { () async throws in
                let tasks = try await request.one().set(forKey: "tasks")
                #expect(try await tasks.sorted("id").first()?.has("body") == false)
                for task in try await tasks.objects {
                    #expect(!task.has("body"))
                    let labels = try await task.set(forKey: "labels").objects
                    #expect(labels.count == 2 && labels.allSatisfy { $0.has("name") && !$0.has("color") })
                }
            }
        }
    }

    @Test func aPartMayReadLazyColumns() async throws {
        try await withDatabase { _, context, _ in
            let projects = try await context.projects { $0.where("log == %@", "log 1").sorted("id") }
            func keys() async throws -> [PostgresValue?] {
                try await projects[0].set(forKey: "tasks").where("log == %@", "log 1").sorted("id").all().keys
            }
            let tasks = try await context.fetch("task").where("id <= 3").sorted("id").all()
            try await expectStatements([]) { () async throws in #expect(try await keys() == [1]) }
            // No write brings the column back.
            tasks[0]["log"] = "other"
            try await context.save()
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await keys() == []) }
            try await tasks[1].setValue("log 1", forKey: "log")
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await keys() == [2]) }
            try await context.fetch("task").where("id == 3").update(["log": "log 1"])
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await keys() == [2, 3]) }
        }
    }

    @Test func aFilterReadsNoLazyColumn() async throws {
        let overrides: [SchemaOverride] = [.column("archived", of: "label", lazy: true)]
        do {
            try await withDatabase(overrides: overrides) { _, _, _ in }
            Issue.record("the filter was taken")
        } catch let error as SchemaError {
            #expect(error.code == .invalidAnnotation && error.message.contains("\"archived\", which is lazy"))
        }
    }
}
