import Kindred
import KindredTesting
import Testing

/// Objects that were read together: one object is asked for a relationship while a staged change concerns the others',
/// and the answer read for all follows when the change is saved or taken back.
@Suite(.database(.sql(GraphSchema.sql + "SELECT reset_graph();")))
struct GroupedOwnerTests {
    /// How a set is read.
    enum Reading: CaseIterable {
        case objects, count, isEmpty, contains
    }

    /// The events that end a staged change.
    enum End: CaseIterable {
        case save, saveOfObject, saveInTransaction, failedTransaction, rollback

        var isSaved: Bool { self == .save || self == .saveOfObject || self == .saveInTransaction }
    }

    private struct Undone: Error {}

    private func end(_ end: End, _ object: DatabaseObject) async throws {
        let context = object.context
        switch end {
        case .save: try await context.save()
        case .saveOfObject: try await object.save()
        case .saveInTransaction: try await context.transaction { try await context.save() }
        case .rollback: context.rollback()
        case .failedTransaction:
            await #expect(throws: Undone.self) {
                try await context.transaction {
                    try await context.save()
                    throw Undone()
                }
            }
            context.rollback()
        }
    }

    /// Expects that an object is the only member of a set, or that it is in none.
    private func expect(
        _ isMember: Bool, _ member: DatabaseObject, in owner: DatabaseObject, _ key: String, _ reading: Reading,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let set = try await owner.set(forKey: key)
        let found =
            switch reading {
            case .objects: try await set.objects == [member]
            case .count: try await set.count == 1
            case .isEmpty: try await !set.isEmpty
            case .contains: try await set.contains(member)
            }
        #expect(found == isMember, "\(owner).\(key)", sourceLocation: sourceLocation)
    }

    private func units(_ context: DatabaseContext) async throws -> [DatabaseObject] {
        try await context.fetch("unit").sorted("id").all()
    }

    @Test(arguments: Reading.allCases, End.allCases)
    func aMemberIsInTheSetThatItsStagedForeignKeySays(reading: Reading, end: End) async throws {
        try await withDatabase { _, context, _ in
            let units = try await units(context)
            let item = try await context.fetch("item").where("name == 'i5'").one()
            item["unit_id"] = units[3]["id"]
            _ = try await units[0].set(forKey: "items").objects
            try await self.end(end, item)
            try await expect(!end.isSaved, item, in: units[2], "items", reading)
            try await expect(end.isSaved, item, in: units[3], "items", reading)
        }
    }

    @Test(arguments: Reading.allCases, [End.save, .saveOfObject, .saveInTransaction])
    func aMemberThatJoinsANewOwnerIsNoLongerInTheOldOnesSet(reading: Reading, end: End) async throws {
        try await withDatabase { _, context, _ in
            let units = try await units(context)
            let item = try await context.fetch("item").where("name == 'i5'").one()
            let new = try context.add("unit", ["name": "new"])
            try await new.set(forKey: "items").insert(item)
            _ = try await units[0].set(forKey: "items").objects
            try await self.end(end, item)
            try await expect(false, item, in: units[2], "items", reading)
            try await expect(true, item, in: new, "items", reading)
            #expect(try await item.object(forKey: "unit") === new)
        }
    }

    @Test(arguments: Reading.allCases, [End.save, .rollback])
    func pairsFollowTheStagedForeignKeysOfTheirRows(reading: Reading, end: End) async throws {
        try await withDatabase { _, context, _ in
            let units = try await units(context)
            let skill = try #require(try await context.find("skill", 1))
            let training = try await context.fetch("training").where("unit_id == 2").one()
            training["unit_id"] = units[3]["id"]
            _ = try await units[0].set(forKey: "skills").objects
            try await self.end(end, training)
            try await expect(end == .rollback, skill, in: units[1], "skills", reading)
            try await expect(end == .save, skill, in: units[3], "skills", reading)
        }
    }

    @Test(arguments: [End.save, .saveOfObject, .rollback])
    func aOneToOnePartnerIsTheOneThatTheForeignKeySays(end: End) async throws {
        try await withDatabase { _, context, _ in
            let units = try await units(context)
            let badge = try #require(try await context.find("badge", 1))
            badge["unit_id"] = units[3]["id"]
            _ = try await units[2].object(forKey: "badge")
            try await self.end(end, badge)
            #expect(try await units[0].object(forKey: "badge") === (end.isSaved ? nil : badge))
            #expect(try await units[3].object(forKey: "badge") === (end.isSaved ? badge : nil))
        }
    }

    @Test(arguments: [false, true])
    func aOneToOnePartnerReturnsWhenTheStagedOneIsDiscarded(isNew: Bool) async throws {
        try await withDatabase { _, context, _ in
            let unit = try #require(try await context.find("unit", 1))
            if isNew {
                try context.add("badge", ["unit": unit])
            } else {
                try #require(try await context.find("badge", 3))["unit_id"] = 1
            }
            #expect(try await unit.object(forKey: "badge")?["id"] != 1)
            context.rollback()
            #expect(try await unit.object(forKey: "badge")?["id"] == 1)
        }
    }

    @Test(arguments: [false, true])
    func aStagedOneToOnePartnerStaysWhenTheStoredOneGoes(isDeleted: Bool) async throws {
        try await withDatabase { _, context, _ in
            let units = try await units(context)
            let old = try #require(try await units[1].object(forKey: "badge"))
            let new = try context.add("badge", ["unit": units[1]])
            if isDeleted {
                try await context.delete(old)
            } else {
                try await units[3].setValue(old, forKey: "badge")
            }
            #expect(try await units[1].object(forKey: "badge") === new)
        }
    }

    @Test(arguments: Reading.allCases)
    func theRowsOfAHelperLeaveTheirOwnersSetWithThePairs(reading: Reading) async throws {
        try await withDatabase { _, context, _ in
            let tags = try await context.fetch("tag").sorted("id").prefetch("itemTags").all()
            try await tags[2].set(forKey: "items").removeAll()
            let pairs = try await tags[2].set(forKey: "itemTags")
            switch reading {
            case .objects: #expect(try await pairs.objects.isEmpty)
            case .count: #expect(try await pairs.count == 0)
            case .isEmpty: #expect(try await pairs.isEmpty)
            case .contains: #expect(try await context.find("item_tag", 3, 3) == nil)
            }
        }
    }

    @Test func anObjectStaysTheOneOfItsRowWhenOthersOfAnotherTenantAreNoMembers() async throws {
        try await withDatabase { _, context, other in
            let ads = try await context.fetch("ad").where("id == 1").sorted("tenant_id").all()
            let campaign = try #require(try await context.find("campaign", 2, 1))
            try await campaign.set(forKey: "ads").subtract(ads.reversed())
            #expect(ads.map { $0["tenant_id"] } == [1, 2])
            #expect(ads.map { $0["name"] } == ["a1", "a4"])
            #expect(try await other.values("SELECT campaign_id FROM ad WHERE id = 1 ORDER BY tenant_id") == [1, nil])
            #expect(ads.map { $0["campaign_id"] } == [1, nil])
        }
    }

    @Test func theForeignKeyOfAMemberOfANewOwnerShowsNoOldOwnerAfterAWrite() async throws {
        try await withDatabase { _, context, _ in
            let item = try #require(try await context.find("item", 1))
            let new = try context.add("unit", ["name": "new", "items": [item]])
            #expect(item["unit_id"] == nil)
            try await item.setValue("renamed", forKey: "name")
            #expect(item["unit_id"] == nil)
            #expect(try await item.object(forKey: "unit") === new)
        }
    }
}
