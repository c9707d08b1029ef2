import Foundation
import Kindred
import KindredTesting
import Testing

/// The version that a client has seen, given back with its change.
@Suite struct ExpectedVersionTests {
    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func aChangeOfTheVersionThatWasSeenIsWritten(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let seen = try #require(try await context.fetch(table.rawValue).where("id = 1").one().rowVersion)
            // Another request, with a context of its own.
            let request = database.makeContext()
            let object = try await request.fetch(table.rawValue).where("id = 1").one()
            try await expectStatements(["UPDATE"]) { () async throws in
                try object.expect(version: seen)
                object["name"] = "mine"
                try object.expect(version: seen)
                try await request.save()
            }
            #expect(object.rowVersion != seen)
            let next = try await database.makeContext().fetch(table.rawValue).where("id = 1").one()
            try await expectStatements([]) { () async throws in
                let error = await expectError(.staleObject) { try next.expect(version: seen) }
                #expect(error?.conflicts.first?.object === next && error?.category == .conflict)
                try next.expect(version: try #require(next.rowVersion))
            }
        }
    }

    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func aWriteBetweenTheLookAndTheSaveIsFound(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let object = try await context.fetch(table.rawValue).where("id = 1").one()
            let seen = try #require(object.rowVersion)
            try object.expect(version: seen)
            object["name"] = "mine"
            let theirs = try await database.makeContext().fetch(table.rawValue).where("id = 1").one()
            try await theirs.setValue("theirs", forKey: "name")
            await expectError(.staleObject) { try await context.save() }
            // A row that was read again meanwhile has another version than the client's.
            _ = try await context.fetch(table.rawValue).all()
            try object.expect(version: seen)
            await expectError(.staleObject) { try await context.save() }
            #expect(try await other.value("SELECT name FROM \(identifier: table.rawValue) WHERE id = 1") == "theirs")
        }
    }

    @Test(.database(.sql(lockingSchema))) func versionsAreTextsOrValues() async throws {
        try await withDatabase { database, context, other in
            let counted = try await context.fetch("counted").where("id = 1").one()
            try counted.expect(version: 1)
            try counted.expect(version: "1")
            await expectError(.staleObject) { try counted.expect(version: 2) }
            await expectError(.staleObject) { try counted.expect(version: "2") }
            await expectError(.wrongType) { try counted.expect(version: "W/x") }
            await expectError(.wrongType) { try counted.expect(version: true) }
            let timed = try await context.fetch("timed").where("id = 1").one()
            let date = try #require(try timed.value(forKey: "changed_at", as: Date.self))
            try timed.expect(version: date)
            await expectError(.staleObject) { try timed.expect(version: date + 1) }
            let owner = try await context.fetch("owner").where("id = 1").one()
            #expect(owner.rowVersion == nil)
            await expectError(.invalidRequest) { try owner.expect(version: 1) }
            let new = try context.add("counted", ["id": 9])
            #expect(new.rowVersion == nil)
            await expectError(.notStored) { try new.expect(version: 1) }
            try counted.expect(version: 1)
            try await context.delete(counted)
            #expect(try await other.value("SELECT count(*) FROM counted") == 3)
        }
    }
}
