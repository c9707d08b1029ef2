import Kindred
import KindredTesting
import Testing

/// What is staged on a row that is then written through, and rows that get another key more than once.
@Suite(.database(.sql(GraphSchema.sql + "SELECT reset_graph();")))
struct StagedBeforeWritingTests {
    private struct Undone: Error {}

    @Test func aRowThatGetsAnotherKeyTwiceIsInTheSetOfTheOwnerThatItWasCommittedTo() async throws {
        try await withDatabase { _, context, other in
            let (first, second) = (
                try #require(await context.find("tenant", 1)), try #require(await context.find("tenant", 2))
            )
            let ads = try await context.fetch("ad").where("tenant_id == 1 AND id == 3").all()
            #expect(try await first.set(forKey: "ads").objects.count == 3)
            #expect(try await second.set(forKey: "ads").objects.count == 2)
            // The tenant is part of an ad's key.
            try await second.set(forKey: "ads").formUnion(ads)
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await first.set(forKey: "ads").formUnion(ads)
                    throw Undone()
                }
            }
            for (tenant, count) in [(first, 2), (second, 3)] {
                let stored = try await other.value("SELECT count(*) FROM ad WHERE tenant_id = \(tenant["id"])")
                #expect(stored == .integer(Int64(count)))
                #expect(try await tenant.set(forKey: "ads").count == count)
                #expect(try await tenant.set(forKey: "ads").objects.count == count)
                #expect(try await tenant.set(forKey: "ads").contains(ads[0]) == (tenant === second))
            }
        }
    }

    @Test(arguments: ["steps", "items"])
    func aMemberThatJoinsAgainIsNoLongerStagedToLeave(key: String) async throws {
        try await withDatabase { _, context, _ in
            let unit = try #require(await context.find("unit", 1))
            let members = try await unit.set(forKey: key).objects
            members[0]["unit_id"] = nil
            #expect(try await unit.set(forKey: key).count == members.count - 1)
            try await unit.set(forKey: key).formUnion([members[0]])
            #expect(!members[0].hasChanges)
            #expect(try await unit.set(forKey: key).objects.count == members.count)
            try await context.save()
            #expect(members[0]["unit_id"] == .integer(1))
        }
    }

    @Test func aValueThatIsWrittenWithAPairIsNoLongerStagedOnItsRow() async throws {
        try await withDatabase { _, context, other in
            let unit = try #require(await context.find("unit", 1))
            let skill = try #require(await context.find("skill", 1))
            let training = try #require(await context.find("training", 1))
            training["level"] = .integer(8)
            try await unit.set(forKey: "skills").insert(skill, through: ["level": 5])
            #expect(training["level"] == .integer(5))
            try await context.save()
            #expect(try await other.value("SELECT level FROM training WHERE id = 1") == .integer(5))
        }
    }
}
