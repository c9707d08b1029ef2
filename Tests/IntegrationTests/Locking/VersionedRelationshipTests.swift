import Kindred
import KindredTesting
import Testing

/// A foreign key is part of its row: a change of it makes a new version.
@Suite struct VersionedRelationshipTests {
    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func setsCountTheirMembersAndRefuseStaleOnes(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).sorted("id").all()
            let owners = try await context.fetch("owner").sorted("id").all()
            let theirs = try await database.makeContext().fetch(table.rawValue).sorted("id").all()
            let set = try await owners[1].set(forKey: "\(table.rawValue)Set")
            // One, several, a removal, all: each is one statement, and the next one knows the new version.
            try await expectStatements(["UPDATE", "WITH", "WITH", "UPDATE", "WITH"]) {
                try await set.insert(mine[0])
                try await set.formUnion(mine[0...1])
                try await set.remove(mine[0])
                try await set.removeAll()
                try await set.formUnion(mine[0...1])
            }
            try await mine[0].setValue(1, forKey: "value")
            try await mine[1].setValue(1, forKey: "value")
            for object in theirs[0...1] {
                await expectError(.staleObject) { try await object.setValue(2, forKey: "value") }
            }
            try await theirs[2].setValue("theirs", forKey: "name")
            let error = await expectError(.staleObject) { try await set.formUnion(mine[1...3]) }
            #expect(error?.conflicts.map(\.object) == [mine[2]])
            await expectError(.staleObject) { try await set.insert(mine[2]) }
            await expectError(.staleObject) { try await set.set([mine[2], mine[3]]) }
            #expect(Set(try await set.objects) == Set(mine[0...1]))
            #expect(mine[2]["owner_id"] == 1)
            try await mine[2].refresh()
            try await set.set([mine[2], mine[3]])
            for object in mine { try await object.setValue(3, forKey: "value") }
            let owner: SQL = "SELECT count(*) FROM \(identifier: table.rawValue) WHERE owner_id = 2 AND value = 3"
            #expect(try await other.value(owner) == 2)
        }
    }

    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func objectsAreCurrentAfterTheirOwnerWasDeleted(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).sorted("id").all()
            let owner = try await context.fetch("owner").where("id = 1").one()
            for name in Versioned.allCases where name != table {
                _ = try await other.query("DELETE FROM \(identifier: name.rawValue)")
            }
            _ = try await other.query("DELETE FROM passport")
            try await context.delete(owner)
            #expect(mine.allSatisfy { $0["owner_id"] == nil })
            try await mine[0].setValue(1, forKey: "value")
            mine[1]["value"] = 2
            try await context.save()
        }
    }

    @Test(.database(.sql(lockingSchema))) func partnersChangePlacesInOneSave() async throws {
        try await withDatabase { database, context, other in
            let passports = try await context.fetch("passport").sorted("id").all()
            passports[0]["owner_id"] = 2
            passports[1]["owner_id"] = 1
            try await context.save()
            #expect(try await other.values("SELECT owner_id FROM passport ORDER BY id") == [2, 1])
            let request = database.makeContext()
            let theirs = try await request.fetch("passport").sorted("id").all()
            for passport in passports { try await passport.setValue(nil, forKey: "owner_id") }
            theirs[0]["owner_id"] = 1
            theirs[1]["owner_id"] = 2
            let error = await expectError(.staleObject) { try await request.save() }
            #expect(error?.conflicts.count == 2)
            #expect(try await other.values("SELECT owner_id FROM passport ORDER BY id") == [nil, nil])
            // An object that gets another object's partner displaces that object.
            let owner = try await context.fetch("owner").where("id = 1").one()
            try await owner.setValue(passports[0], forKey: "passport")
            try await owner.setValue(passports[1], forKey: "passport")
            for passport in passports { try await passport.setValue(nil, forKey: "owner_id") }
        }
    }
}
