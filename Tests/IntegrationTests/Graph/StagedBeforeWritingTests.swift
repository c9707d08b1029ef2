import Kindred
import KindredTesting
import Testing

/// Changes staged on a row that is then written at once, and rows that get another key more than once.
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
            #expect(!members[0].hasStagedChanges)
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

    @Test func aForeignKeyIsStagedAgainWhenANewOwnerIsUndone() async throws {
        try await withDatabase { _, context, _ in
            let step = try #require(await context.find("step", 4))
            step["unit_id"] = .integer(1)
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    let new = try context.add("unit", ["name": "new"])
                    try await new.set(forKey: "steps").insert(step)
                    throw Undone()
                }
            }
            #expect(step.hasStagedChanges && step["unit_id"] == .integer(1))
        }
    }

    @Test func aDestinationThatIsDeletedInAFailedTransactionIsThereAgain() async throws {
        try await withDatabase { _, context, _ in
            let parts: [DatabaseObject] = try await context.fetch("part").sorted("id").prefetch("item").all()
            let part = parts[4]
            part["item_id"] = .integer(1)
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await context.delete(try #require(await context.find("item", 1)))
                    #expect(try await part.object(forKey: "item") == nil)
                    throw Undone()
                }
            }
            #expect(try await part.object(forKey: "item")?["name"] == "i1")
        }
    }

    @Test func aForeignKeyLeadsToNoRowThatHasGotAnotherKey() async throws {
        try await withDatabase { _, context, other in
            let ad = try #require(await context.find("ad", 1, 3))
            ad["campaign_id"] = .integer(2)
            #expect(try await ad.object(forKey: "campaign")?["name"] == "c2")
            let campaign = try #require(await context.find("campaign", 1, 2))
            try await campaign.setValue(2, forKey: "tenant_id")
            #expect(
                try await other.value("SELECT count(*) FROM campaign WHERE (tenant_id, id) = (1, 2)") == .integer(0))
            #expect(try await ad.object(forKey: "campaign") == nil)
        }
    }

    @Test func membersStandInTheOrderOfPositionsThatWereStagedBefore() async throws {
        try await withDatabase { _, context, _ in
            let step = try #require(await context.find("step", 1))
            step["position"] = .integer(9)
            let unit = try #require(await context.find("unit", 1))
            #expect(try await unit.set(forKey: "steps").objects.map { $0["id"] } == [2, 3, 1])
            context.rollback()
            #expect(try await unit.set(forKey: "steps").objects.map { $0["id"] } == [1, 2, 3])
        }
    }

    @Test func aOneToOnePartnerLeavesAlsoWhereTheNewOneWasStagedBefore() async throws {
        try await withDatabase { _, context, _ in
            let badge = try #require(await context.find("badge", 1))
            let seal = try #require(await context.find("seal", 1))
            let new = try context.add("seal", ["badge_id": 1])
            #expect(try await badge.object(forKey: "seal") != nil)
            try await badge.setValue(new, forKey: "seal")
            #expect(seal["badge_id"] == nil && seal.hasStagedChanges)
            #expect(try await badge.object(forKey: "seal") === new)
        }
    }
}
