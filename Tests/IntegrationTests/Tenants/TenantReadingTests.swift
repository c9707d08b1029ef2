import Foundation
import Kindred
import KindredLive
import KindredTesting
import Testing

/// Contexts of a tenant read its rows alone, by every call that reads.
@Suite(.database(.sql(tenantSchema)))
struct TenantReadingTests {
    private func text(_ views: [ObjectView]) throws -> String {
        String(decoding: try JSONEncoder().encode(views), as: UTF8.self)
    }

    @Test func requestsFindOwnRowsOnly() async throws {
        try await withTenantContext { context, _, _ in
            let tasks = try context.fetch("task")
            let secret = try tasks.where("title BEGINSWITH %@ OR size > 1", "secret")
            expectOwnRows(try await tasks.all(), 4)
            expectOwnRows(try await tasks.unfiltered().all(), 4)
            expectOwnRows(try await secret.all(), 0)
            expectOwnRows(try await tasks.where("NOT (size > 1)").all(), 4)
            expectOwnRows(try await tasks.where("tenant_id == 2").all(), 0)
            #expect(try await tasks.sorted("size", ascending: false).first()?["size"] == 1)
            #expect(try await secret.first() == nil)
            #expect(try await tasks.count() == 4)
            #expect(try await tasks.sorted("id").limit(3).count() == 3)
            #expect(try await secret.exists() == false)
            await expectTenantError(.notFound, context) { _ = try await secret.one() }
            #expect(try await tasks.sum("size") == 4)
            #expect(try await tasks.maximum("size") == 1)
            #expect(try await tasks.aggregate(.count) == 4)
            #expect(try await tasks.group(by: "size", aggregates: .count).all().count == 1)
            #expect(try await tasks.group(by: "project.name", aggregates: .count).sorted(.count).all().count == 2)
            let rows = try await tasks.select("title", "project.name").all()
            #expect(rows.count == 4 && !"\(rows)".contains("secret"))
            let page = try await tasks.sorted("id", ascending: false).page(size: 3)
            expectOwnRows(page.objects, 3)
            let next = try #require(page.next)
            expectOwnRows(try await tasks.sorted("id", ascending: false).page(size: 9, after: next).objects, 1)
            var streamed: [DatabaseObject] = []
            for try await task in tasks.stream() { streamed.append(task) }
            expectOwnRows(streamed, 4)
            try await context.transaction { () async throws in
                expectOwnRows(try await tasks.lock(.forUpdate).all(), 4)
            }
            #expect(try await context.fetch("country").count() == 2)
        }
    }

    @Test func pathsAndMembersInConditionsAreOwnRows() async throws {
        try await withTenantContext { context, _, _ in
            let tasks = try context.fetch("task")
            #expect(try await tasks.where("project.name BEGINSWITH %@", "secret").count() == 0)
            #expect(try await tasks.where("project.country.name == %@", "Austria").count() == 3)
            #expect(try await tasks.where("ANY labelSet.name == %@", "secret").count() == 0)
            #expect(try await tasks.where("labelSet.@count == 1").count() == 2)
            #expect(try await context.fetch("project").where("ANY taskSet.size > 1").unfiltered().count() == 0)
            #expect(try await context.fetch("project").where("taskSet.@count == 3").count() == 1)
            #expect(try await context.fetch("country").where("projectSet.@count == 1").count() == 1)
            #expect(try await context.fetch("country").where("ANY projectSet.name == %@", "secret garden").count() == 0)
            expectOwnRows(try await tasks.sorted("project.name").all(), 4)
        }
    }

    @Test func keysOfOthersAreNotThere() async throws {
        try await withTenantContext { context, database, _ in
            #expect(try await context.find("task", 21) == nil)
            #expect(try await context.find("note", 2, 1) == nil)
            expectOwnRows(try await context.find("task", [21, 11, 22]), 1)
            await expectTenantError(.notFound, context) { _ = try await context.get("task", 21) }
            for id in ["task?id=21", "project?id=20", "label?id=25", "note?tenant_id=2&number=1"] {
                await expectTenantError(.otherTenant, context) {
                    _ = try await context.get(uri: "kindred:/public/\(id)")
                }
            }
            try await expectStatements([]) {
                await expectError(.otherTenant) {
                    _ = try await context.get(uri: "kindred:/public/note?tenant_id=2&number=1")
                }
            }
        }
    }

    @Test func relationshipsLeadToOwnRowsOnly() async throws {
        try await withTenantContext { context, _, _ in
            let stray = try await context.get("task", 14)
            await expectTenantError(.otherTenant, context) { _ = try await stray.object(forKey: "project") }
            await expectTenantError(.otherTenant, context) { _ = try await stray.object(forKey: "project") }
            let labels = try await stray.set(forKey: "labelSet")
            #expect(try await labels.count == 1)
            #expect(try await labels.isEmpty == false)
            expectOwnRows(try await labels.objects, 1)
            expectOwnRows(try await labels.where("name != nil").all(), 1)
            let sown = try await context.get("task", 12)
            #expect(try await sown.set(forKey: "labelSet").count == 0)
            #expect(try await sown.set(forKey: "labelSet").isEmpty)
            let urgent = try await context.get("label", 15)
            #expect(try await sown.set(forKey: "labelSet").contains(urgent) == false)
            expectOwnRows(try await urgent.set(forKey: "taskSet").objects, 1)
            let project = try await context.get("project", 10)
            #expect(try await project.set(forKey: "taskSet").count == 3)
            expectOwnRows(try await project.set(forKey: "taskSet").objects, 3)
            expectOwnRows(try await project.set(forKey: "noteSet").objects, 1)
            let country = try await context.get("country", "AT")
            #expect(try await country.set(forKey: "projectSet").count == 1)
            expectOwnRows(try await country.set(forKey: "projectSet").objects, 1)
        }
    }

    @Test func prefetchesPartsAndViewsShowOwnRowsOnly() async throws {
        try await withTenantContext { context, _, _ in
            let tasks = try context.fetch("task")
            let found = try await tasks.sorted("id").prefetch("project", "labelSet").all()
            expectOwnRows(found, 4)
            for task in found {
                let labels = try await task.set(forKey: "labelSet").objects
                expectOwnRows(labels, [11, 14].contains(try task.value(forKey: "id", as: Int.self)) ? 1 : 0)
            }
            let projects = try await context.fetch("project").prefetch("taskSet") { part in
                part.where("size > 0").unfiltered().sorted("size", ascending: false).limit(9)
            }.all()
            expectOwnRows(projects, 1)
            expectOwnRows(
                try await projects[0].set(forKey: "taskSet").where("size > 0").unfiltered()
                    .sorted("size", ascending: false).limit(9).all(), 3)
            let views = try await tasks.views("*", "project.*", "labelSet.*")
            #expect(views.count == 4)
            #expect(try !text(views).contains("secret"))
            let countries = try await context.fetch("country").views("*", "projectSet.*", "projectSet.taskSet.*")
            #expect(countries.count == 2)
            #expect(try !text(countries).contains("secret"))
        }
    }

    @Test func objectsOfTheProgramsOwnSQLAreOwnRows() async throws {
        try await withTenantContext { context, _, _ in
            expectOwnRows(try await context.query("SELECT * FROM task", as: "task"), 4)
            // Without policies the program's own text reads all rows that it asks for; the setting is there for
            // policies.
            #expect(try await context.query("SELECT current_setting('app.tenant_id')").first?[0] == "1")
        }
    }

    @Test func whatAllTenantsChangeIsNotFollowed() async throws {
        try await withTenantContext { context, _, _ in
            try await expectStatements([]) {
                await expectError(.invalidRequest) { _ = try await context.changes(of: "task") }
                await expectError(.invalidRequest) { _ = try context.locks(of: "task") }
            }
        }
    }
}
