import KindredTesting
import TestSupport
import Testing

@testable import Kindred

/// The row that a changed object leaves behind: loaded relationships hold rows, and show the newer row for as long as
/// they do.
@Suite struct LeftRowTests {
    private static func addresses(of person: DatabaseObject) async throws -> [PostgresValue?] {
        try await person.set(forKey: "emailSet").objects.map { $0["address"] }.sorted {
            "\($0 as Any)" < "\($1 as Any)"
        }
    }

    @Test("a loaded set shows what was written each time that it is read", .database(.sql(referenceSchema)))
    func aSetShowsWhatWasWrittenEachTime() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            _ = try await Self.addresses(of: ann)
            do {
                let email = try await context.find("email", 1)!
                try await email.setValue("new", forKey: "address")
            }
            for _ in 0..<3 { #expect(try await Self.addresses(of: ann) == ["a.smith@example.org", "new"]) }
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func aSetShowsWhatWasWrittenAfterTheRowWasReadAnew() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            _ = try await Self.addresses(of: ann)
            do {
                let email = try await context.find("email", 1)!
                try await email.setValue("new", forKey: "address")
            }
            for _ in 0..<2 {
                _ = try await context.find("email", 1)
                _ = try await context.fetch("email").all()
            }
            for _ in 0..<3 { #expect(try await Self.addresses(of: ann) == ["a.smith@example.org", "new"]) }
        }
    }

    @Test("what others have written since is shown once a set is read again", .database(.sql(referenceSchema)))
    func aSetThatIsReadAgainShowsWhatOthersWrote() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            _ = try await Self.addresses(of: ann)
            try await context.find("email", 1)?.setValue("new", forKey: "address")
            try await context.delete(try await context.find("email", 2)!)
            try await other.query("UPDATE email SET address = 'newer' WHERE id = 1")
            try await other.query("INSERT INTO email VALUES (2, 'second', 1)")
            try await ann.refresh()
            for _ in 0..<3 { #expect(try await Self.addresses(of: ann) == ["newer", "second"]) }
        }
    }

    @Test(.database(.sql(referenceSchema))) func aGroupThatIsReadLaterShowsWhatOthersStoredUnderADeletedKey()
        async throws
    {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            try await context.delete(try await context.find("email", 2)!)
            try await other.query("INSERT INTO email VALUES (2, 'second', 1)")
            for _ in 0..<2 { #expect(try await Self.addresses(of: people[0]) == ["ann@example.org", "second"]) }
        }
    }

    @Test("what was read anew in a transaction that is undone is not shown after it", .database(.sql(referenceSchema)))
    func aSetDoesNotShowWhatWasUndone() async throws {
        struct Undone: Error {}
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            _ = try await Self.addresses(of: ann)
            try await context.find("email", 1)?.setValue("new", forKey: "address")
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await database.client.query("UPDATE email SET address = 'undone' WHERE id = 1")
                    #expect(try await context.find("email", 1)?["address"] == "undone")
                    #expect(try await Self.addresses(of: ann).contains("undone"))
                    throw Undone()
                }
            }
            for _ in 0..<2 { #expect(try await Self.addresses(of: ann) == ["a.smith@example.org", "new"]) }
        }
    }

    @Test(
        "what was loaded for owners that nobody holds is right when they are there again",
        .database(.sql(referenceSchema)))
    func whatAGroupKnowsIsRight() async throws {
        try await withDatabase { database, context, other in
            try await other.query("INSERT INTO email SELECT i, 'e', 1 FROM generate_series(1000, 1019) AS i")
            try await other.query("INSERT INTO person_title_rel VALUES (3, 1)")
            context.core.withMap { $0.log.maximumEntries = 5 }
            let doctor = try await context.find("title", 1)!
            func emails(_ attribute: String = "id") async throws -> Set<PostgresValue?> {
                var values: Set<PostgresValue?> = []
                for person in try await doctor.set(forKey: "people").objects {
                    for email in try await person.set(forKey: "emailSet").objects { values.insert(email[attribute]) }
                }
                return values
            }
            let before = try await emails()
            for id in 1010..<1020 { try await context.find("email", id)?.setValue("new \(id)", forKey: "address") }
            #expect(
                try await emails("address") == Set(try await other.values("SELECT address FROM email WHERE id <> 4")))
            try await context.find("email", 1)?.setValue(50, forKey: "id")
            #expect(try await emails() == before.subtracting([1]).union([50]))
            for id in 1000..<1010 { try await context.delete(try await context.find("email", id)!) }
            #expect(try await emails() == Set(try await other.values("SELECT id FROM email WHERE id <> 4")))
        }
    }

    @Test(
        "a set shows what was updated by condition, also after all of its members were held",
        .database(.sql(referenceSchema)))
    func aSetShowsWhatWasUpdatedByCondition() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            _ = try await Self.addresses(of: ann)
            try await context.fetch("email").where("id = 1").update(["address": "new"])
            do {
                let held = try await context.fetch("email").all()
                #expect(try await Self.addresses(of: ann).count < held.count)
            }
            for _ in 0..<2 { #expect(try await Self.addresses(of: ann) == ["a.smith@example.org", "new"]) }
        }
    }

    @Test("loaded sets are right when more was written than is noted", .database(.sql(referenceSchema)))
    func aSetIsRightAfterNotesWereGivenUp() async throws {
        try await withDatabase { database, context, other in
            try await other.query("INSERT INTO email SELECT i, 'e', 1 FROM generate_series(1000, 1019) AS i")
            context.core.withMap { $0.log.maximumEntries = 5 }
            let ann = try await context.find("person", 1)!
            let bob = try await context.find("person", 2)!
            _ = try await (Self.addresses(of: ann), Self.addresses(of: bob))
            for id in 1000..<1020 {
                let email = try await context.find("email", id)!
                switch id % 3 {
                case 0: try await email.setValue("e\(id)", forKey: "address")
                case 1: try await context.delete(email)
                default: try await email.setValue(bob, forKey: "person")
                }
            }
            do {
                // An object with the current row leaves nothing when it is released.
                let held = try await context.fetch("email").all()
                #expect(try await Self.addresses(of: ann).count < held.count)
            }
            for person in [ann, bob] {
                let stored = try await other.values(
                    "SELECT address FROM email WHERE person_id = \(person["id"]!) ORDER BY 1")
                #expect(try await Self.addresses(of: person) == stored)
            }
        }
    }
}
