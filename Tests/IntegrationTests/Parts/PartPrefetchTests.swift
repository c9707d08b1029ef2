import Foundation
import Kindred
import KindredTesting
import Testing

/// Parts of relationships are loaded by one statement each, and asked of the set they cost none.
@Suite(.database(.sql(partSchema))) struct PartPrefetchTests {
    @Test func aPartIsOneStatementAndTheSetAnswersIt() async throws {
        try await withDatabase { database, context, other in
            var projects: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                projects = try await context.fetch("project").sorted("id").prefetch("tasks") { $0.openTasks }.all()
            }
            for project in projects {
                let expected = try await other.keys(openTasks, of: project)
                try await expectStatements([]) { () async throws in
                    let tasks = try await project.set(forKey: "tasks")
                    #expect(try await tasks.openTasks().all().keys == expected)
                    #expect(try await tasks.openTasks().count() == 3)
                    #expect(try await tasks.openTasks().exists())
                    #expect(try await tasks.openTasks().first()?["id"] == expected[0])
                    #expect(try await tasks.openTasks().limit(2).all().keys == Array(expected.prefix(2)))
                    // The number does not depend on the order.
                    #expect(try await tasks.where("done == %@", false).limit(2).count() == 2)
                }
            }
        }
    }

    @Test func theSetIsStillAllMembers() async throws {
        try await withDatabase { database, context, other in
            let projects = try await context.fetch("project").sorted("id").prefetch("tasks") { $0.openTasks }.all()
            try await expectStatements(["SELECT"]) { () async throws in
                for project in projects {
                    let tasks = try await project.set(forKey: "tasks")
                    #expect(try await tasks.objects.count == 10)
                    #expect(try await tasks.count == 10)
                    #expect(try await tasks.openTasks().count() == 3)
                }
            }
            // Neither takes the other's place where both are loaded.
            let fresh = database.makeContext()
            var both: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT", "SELECT", "SELECT"]) { () async throws in
                both = try await fresh.fetch("project").prefetch("tasks") { $0.openTasks }.prefetch("tasks")
                    .prefetch("tasks") { $0.where("done == %@", true).sorted("title") }.all()
            }
            try await expectStatements([]) { () async throws in
                for project in both {
                    let tasks = try await project.set(forKey: "tasks")
                    let done = try await tasks.where("done == %@", true).sorted("title").all()
                    #expect(try await tasks.objects.count == 10)
                    #expect(try await tasks.openTasks().all().count == 3)
                    #expect(done.count >= 3 && done.allSatisfy { $0["done"] == .bool(true) })
                }
            }
        }
    }

    @Test func anotherPartIsAskedForByItself() async throws {
        try await withDatabase { database, context, other in
            let projects = try await context.fetch("project").sorted("id").prefetch("tasks") { $0.openTasks }.all()
            let tasks = try await projects[0].set(forKey: "tasks")
            try await expectStatements(["SELECT", "SELECT", "SELECT", "SELECT", "SELECT"]) { () async throws in
                _ = try await tasks.where("done == %@", true).sorted("position").limit(3).all()
                _ = try await tasks.where("done == %@", false).sorted("position", ascending: false).limit(3).all()
                #expect(try await tasks.where("done == %@", false).sorted("position").limit(4).all().count == 4)
                #expect(
                    try await tasks.where("done == %@", false).sorted("position").limit(3).offset(1).all().count == 3)
                #expect(try await tasks.where("done == %@", false).count() == 7)
            }
            // Without parts in the context nothing changes: each request of a set is a statement.
            let others = try await database.makeContext().fetch("project").sorted("id").all()
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                for project in others.prefix(2) { _ = try await project.set(forKey: "tasks").openTasks().all() }
            }
        }
    }

    @Test func partsNestAndAPathLeadsToThem() async throws {
        try await withDatabase { database, context, other in
            var projects: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                projects = try await context.fetch("project").prefetch("tasks") {
                    $0.openTasks.prefetch("labels") { $0.sorted("name", ascending: false).limit(1) }
                }.all()
            }
            try await expectStatements([]) { () async throws in
                for project in projects {
                    for task in try await project.set(forKey: "tasks").openTasks().all() {
                        let last = try await task.set(forKey: "labels").sorted("name", ascending: false).limit(1).all()
                        #expect(last.count == 1)
                    }
                }
            }
            let fresh = database.makeContext()
            var tasks: [DatabaseObject] = []
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                tasks = try await fresh.fetch("task").where("id <= 20").prefetch("project.members") {
                    $0.where("name ENDSWITH %@", "1")
                }.all()
            }
            try await expectStatements([]) { () async throws in
                for task in tasks {
                    let project = try #require(try await task.object(forKey: "project"))
                    let members = try await project.set(forKey: "members").where("name ENDSWITH %@", "1").all()
                    #expect(members.map { $0["name"] } == ["person 1"])
                }
            }
        }
    }

    @Test func aPartWithoutAnythingIsTheRelationship() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in
                let projects = try await context.fetch("project").prefetch("tasks") { $0 }.prefetch("tasks").all()
                #expect(try await projects[0].set(forKey: "tasks").count == 10)
            }
        }
    }

    @Test func pagesAndStreamsLoadParts() async throws {
        try await withDatabase { database, context, other in
            let request = try context.fetch("project").sorted("id").prefetch("tasks") { $0.openTasks }
            var page: Page<DatabaseObject>?
            try await expectStatements(["SELECT", "SELECT"]) { () async throws in page = try await request.page(size: 2)
            }
            try await expectStatements([]) { () async throws in
                for project in page?.objects ?? [] {
                    #expect(try await project.set(forKey: "tasks").openTasks().all().count == 3)
                }
                let views = try await page?.views("name", "tasks.id") ?? []
                #expect(views.count == 2)
            }
            var count = 0
            for try await project in request.stream() {
                count += try await project.set(forKey: "tasks").openTasks().count()
            }
            #expect(count == 12)
        }
    }

    @Test func viewsShowTheRequestsParts() async throws {
        try await withDatabase { database, context, other in
            var text = ""
            try await expectStatements(["SELECT", "SELECT", "SELECT"]) { () async throws in
                text = try await context.fetch("project").where("id == 1").prefetch("tasks") {
                    $0.where("done == %@", false).sorted("position", ascending: false).limit(2).prefetch("labels") {
                        $0.where("id < 3").sorted("id")
                    }
                }.views("name", "tasks.title", "tasks.labels.id").json
            }
            #expect(
                text == """
                    [{"name":"project 1","tasks":[{"labels":[{"id":1}],"title":"task 1"},\
                    {"labels":[{"id":2}],"title":"task 2"}]}]
                    """)
            // Of objects that are there, too.
            let project = try await context.fetch("project").where("id == 2").one()
            try await expectStatements(["SELECT"]) { () async throws in
                text = try await [project.view("id", "tasks.id", parts: { $0.prefetch("tasks") { $0.openTasks } })].json
            }
            #expect(text == #"[{"id":2,"tasks":[{"id":20},{"id":19},{"id":17}]}]"#)
            try await expectStatements([]) { () async throws in
                let again = try await context.views(of: [project], "id", "tasks.id") {
                    $0.prefetch("tasks") { $0.openTasks }
                }
                #expect(try again.json == text)
            }
            await expectError(.invalidRequest) {
                _ = try await context.fetch("project").prefetch("tasks") { $0.limit(1) }.prefetch("tasks") {
                    $0.limit(2)
                }
                .views("tasks.id")
            }
            await expectError(.invalidRequest) { _ = try await project.view("id", parts: { $0.limit(1) }) }
        }
    }

    @Test func wrongPartsAreRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements([]) { () async throws in
                await expectError(.invalidRequest) { _ = try context.fetch("task").prefetch("project") { $0.limit(1) } }
                await expectError(.invalidRequest) {
                    _ = try context.fetch("project").prefetch("tasks") { $0.limit(-1) }
                }
                await expectError(.unknownKey) { _ = try context.fetch("project").prefetch("task") { $0.limit(1) } }
                await expectError(.unknownKey) {
                    _ = try context.fetch("project").prefetch("tasks") { $0.sorted("size") }
                }
                await expectError(.invalidCondition) {
                    _ = try context.fetch("project").prefetch("tasks") { $0.where("done ==").limit(1) }
                }
                await expectError(.wrongType) {
                    _ = try context.fetch("project").prefetch("tasks") { $0.where("position == %@", "x") }
                }
                await expectError(.unknownKey) {
                    _ = try context.fetch("project").prefetch("tasks") {
                        $0.limit(1).prefetch("labels") { $0.where("size > 1") }
                    }
                }
                await expectError(.unknownKey) {
                    _ = try context.fetch("project").prefetch("tasks") { $0.where("@through.role == 'x'") }
                }
            }
        }
    }
}

extension [ObjectView] {
    /// The views as JSON with sorted keys.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
