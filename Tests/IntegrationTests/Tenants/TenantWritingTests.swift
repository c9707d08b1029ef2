import Kindred
import KindredTesting
import Testing

/// Contexts of a tenant write its rows alone, by every call that writes.
@Suite(.database(.sql(tenantSchema)))
struct TenantWritingTests {
    /// Expects that a write is refused before anything is sent.
    private func expectUnsent(
        _ code: KindredError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async throws {
        try await expectStatements([], sourceLocation: sourceLocation) {
            await expectError(code, sourceLocation: sourceLocation, body)
        }
    }

    @Test func newRowsAreTheTenants() async throws {
        try await withTenantContext { context, _, _ in
            let created = try await context.create("label", ["id": 30, "name": "new"])
            let project = try await context.get("project", 10)
            let task = try context.add("task", ["id": 31, "title": "water", "project": project])
            let note = try context.add("note", ["number": 32, "text": "hose", "project": project])
            #expect(task["tenant_id"] == 1 && note["tenant_id"] == 1)
            let label = try context.add("label", ["id": 33, "name": "fresh"])
            try await task.set(forKey: "labelSet").formUnion([created, label])
            try await context.save()
            expectOwnRows([created, task, note, label], 4)
            #expect(
                try await context.query("SELECT tenant_id FROM task_label WHERE task_id = 31").map { try $0[0] } == [
                    1, 1,
                ])
            try await context.delete([task, note, created, label])
        }
    }

    @Test func theColumnCannotBeSet() async throws {
        try await withTenantContext { context, _, _ in
            let task = try await context.get("task", 11)
            try await expectUnsent(.readOnly) {
                _ = try await context.create("task", ["id": 40, "tenant_id": 2, "title": "x"])
            }
            try await expectUnsent(.readOnly) {
                _ = try context.add("task", ["id": 40, "tenant_id": 2, "title": "x"])
            }
            try await expectUnsent(.readOnly) { try await task.setValue(2, forKey: "tenant_id") }
            try await expectUnsent(.readOnly) { _ = try await context.fetch("task").update(["tenant_id": 2]) }
            try await expectUnsent(.readOnly) {
                _ = try await context.fetch("task").update(["tenant_id": Formula("tenant_id + 1")])
            }
            let patch = try ObjectPatch(json: #"{"tenant_id": 2}"#.utf8)
            #expect(throws: KindredError.self) { try task.apply(patch) }
            task["tenant_id"] = 2
            try await expectStatements([]) {
                await #expect(throws: KindredError.self) { try await context.save() }
            }
            context.rollback()
            #expect(task["tenant_id"] == 1)
        }
    }

    @Test func rowsOfOthersAreNotChangedByCondition() async throws {
        try await withTenantContext { context, _, _ in
            let tasks = try context.fetch("task").unfiltered()
            #expect(try await tasks.where("id == 21").update(["title": "taken"]) == 0)
            #expect(try await tasks.where("size >= 1").update(["size": Formula("size + 1")]) == 4)
            #expect(try await tasks.where("project.name CONTAINS %@", "secret").update(["size": 5]) == 0)
            #expect(try await tasks.where("size >= 1").update(["size": 1]) == 4)
            #expect(try await tasks.sorted("id", ascending: false).limit(1).update(["size": 1]) == 1)
            #expect(try await tasks.where("id >= 20").delete() == 0)
            #expect(try await context.fetch("note").where("number == 1").update(["text": "gate"]) == 1)
        }
    }

    @Test func upsertsLeaveRowsOfOthers() async throws {
        try await withTenantContext { context, _, other in
            for resolution in [ConflictRule.update("id"), .keep("id")] {
                let before = try await foreignRows(of: 0, other)
                await expectTenantError(.constraintViolation, context) {
                    _ = try await context.create("label", ["id": 25, "name": "mine"], by: resolution)
                }
                let error = await expectError(.constraintViolation) {
                    try await context.transaction { () async throws in
                        _ = try await context.create(
                            "label", [["id": 50, "name": "new"], ["id": 25, "name": "mine"]], by: resolution)
                    }
                }
                #expect(error?.underlying?.sqlState == .uniqueViolation)
                // Nothing of the call stays.
                #expect(try await context.find("label", 50) == nil)
                #expect(try await foreignRows(of: 0, other) == before)
                let own = try await context.create("label", ["id": 15, "name": "urgent"], by: resolution)
                #expect(own["name"] == "urgent" && own["tenant_id"] == 1)
            }
            let error = await expectError(.constraintViolation) {
                try await context.transaction { () async throws in
                    _ = try await context.create("project", ["id": 20, "name": "mine"])
                }
            }
            #expect(error?.underlying?.sqlState == .uniqueViolation)
            #expect(error.map { String(reflecting: $0).contains("secret") } == false)
        }
    }

    @Test func upsertsOfSeveralAreOneEffectOutsideOfTransactions() async throws {
        try await withDatabase { database, _, other in
            let context = try database.context(ofTenant: 1)
            for resolution in [ConflictRule.update("id"), .keep("id")] {
                let error = await expectError(.constraintViolation) {
                    _ = try await context.create(
                        "label", [["id": 50, "name": "new"], ["id": 25, "name": "mine"]], by: resolution)
                }
                #expect(error?.underlying?.sqlState == .uniqueViolation)
                #expect(try await other.value("SELECT count(*) FROM label WHERE id = 50") == 0)
                #expect(try await other.value("SELECT name FROM label WHERE id = 25") == "secret")
            }
        }
    }

    @Test func objectsOfOtherTenantsAreNoValues() async throws {
        try await withTenantContext { context, database, _ in
            let task = try await context.get("task", 11)
            let project = try await context.get("project", 10)
            // In a task of its own, which is not in the context's transaction.
            let found = Task.detached { () async throws -> [DatabaseObject] in
                let others = try database.context(ofTenant: 2)
                return [try await others.get("project", 20), try await others.get("task", 21)]
            }
            let others = try await found.value
            let (foreign, foreignTask) = (others[0], others[1])
            let note = try await context.get("note", 1, 1)
            try await expectUnsent(.otherTenant) { try await task.setValue(foreign, forKey: "project") }
            try await expectUnsent(.otherTenant) {
                _ = try context.add("task", ["id": 60, "title": "x", "project": foreign])
            }
            await expectTenantError(.otherTenant, context) {
                try await task.setValue(foreign.objectID, forKey: "project")
            }
            await expectTenantError(.otherTenant, context) {
                try await note.setValue(foreign.objectID, forKey: "project")
            }
            let tasks = try await project.set(forKey: "taskSet")
            try await expectUnsent(.otherTenant) { try await tasks.insert(foreignTask) }
            try await expectUnsent(.otherTenant) { try await tasks.set([foreignTask]) }
            try await expectUnsent(.otherTenant) { try await context.delete(foreignTask) }
        }
    }

    @Test func setsReachOwnRowsOnly() async throws {
        try await withTenantContext { context, _, _ in
            let stray = try await context.get("task", 14)
            let (urgent, late) = (try await context.get("label", 15), try await context.get("label", 16))
            let labels = try await stray.set(forKey: "labelSet")
            try await labels.insert(urgent)
            #expect(try await labels.count == 2)
            try await labels.remove(urgent)
            try await labels.set([urgent, late])
            try await labels.removeAll()
            #expect(try await labels.count == 0)
            try await labels.formUnion([late])
            let project = try await context.get("project", 10)
            let tasks = try await project.set(forKey: "taskSet")
            let own = try await tasks.objects
            // Task 23 of the second tenant refers to the project, too.
            try await tasks.removeAll()
            #expect(try await tasks.count == 0)
            try await tasks.formUnion(own)
            try await tasks.set(Array(own.prefix(2)))
            try await tasks.set(own)
            try await tasks.subtract([own[0]])
            try await tasks.insert(own[0])
            #expect(try await tasks.count == 3)
            let note = try await context.get("note", 1, 1)
            try await note.setValue(nil, forKey: "project")
            #expect(note["tenant_id"] == 1 && note["project_id"] == nil)
            try await note.setValue(project, forKey: "project")
        }
    }

    @Test func savesAndDeletionsReachOwnRowsOnly() async throws {
        try await withTenantContext { context, _, _ in
            let task = try await context.get("task", 11)
            let patch = try ObjectPatch(json: #"{"title": "dug"}"#.utf8)
            try task.apply(patch)
            try await context.save()
            #expect(try await context.query("SELECT title FROM task WHERE id = 11").first?[0] == "dug")
            try await task.setValue("dig", forKey: "title")
            try await task.refresh()
            try await context.transaction { () async throws in try await task.lock() }
            // A row of the second tenant refers to it.
            let project = try await context.get("project", 10)
            await expectTenantError(.deletionDenied, context) {
                for own in try await project.set(forKey: "taskSet").objects { try await context.delete(own) }
                for own in try await project.set(forKey: "noteSet").objects { try await context.delete(own) }
                try await context.delete(project)
            }
            let new = try await context.create("project", ["id": 70, "name": "orchard"])
            let pick = try await context.create("task", ["id": 71, "title": "pick", "project": new])
            _ = try await context.deletionPlan(for: [new, pick])
            try context.stageDeletion(of: pick)
            try await context.save()
            try await context.delete(new)
            #expect(try await context.lockedObjects(among: [task]).isEmpty)
        }
    }

    @Test func aRowThatWentToAnotherTenantIsGone() async throws {
        try await withDatabase { database, _, other in
            let context = try database.context(ofTenant: 1)
            let (first, second, third) = (
                try await context.get("task", 11), try await context.get("task", 12), try await context.get("task", 13)
            )
            try await other.query("UPDATE task SET tenant_id = 2 WHERE id IN (11, 12, 13)")
            let before = try await foreignRows(of: 1, other)
            await expectTenantError(.objectDeleted, context) { try await first.setValue("mine", forKey: "title") }
            second["title"] = "mine"
            await expectTenantError(.objectDeleted, context) { try await context.save() }
            await expectTenantError(.objectDeleted, context) { try await third.refresh() }
            #expect(try await foreignRows(of: 1, other) == before)
        }
    }
}
