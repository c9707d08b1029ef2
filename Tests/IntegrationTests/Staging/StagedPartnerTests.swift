import Kindred
import KindredTesting
import Testing

/// One-to-one relationships whose partner is only staged when another partner, or none, is written.
@Suite struct StagedPartnerTests {
    @Test(.database(.sql(oneToOneSchema)), arguments: ["none", "other", "otherSide", "attribute"])
    func aStagedPartnerLeavesForTheOneThatIsWritten(change: String) async throws {
        try await withDatabase { database, context, other in
            let marx = try #require(try await context.find("person", 3))
            let nobodys = try #require(try await context.find("email", 3))
            let staged =
                change == "attribute"
                ? try #require(try await context.find("email", 1))
                : try context.add("email", ["id": 9, "address": "n", "person": marx])
            if change == "attribute" { staged["person_id"] = 3 }
            #expect(try await marx.object(forKey: "email") === staged)
            switch change {
            case "none": try await marx.setValue(nil, forKey: "email")
            case "otherSide": try await nobodys.setValue(marx, forKey: "person")
            default: try await marx.setValue(nobodys, forKey: "email")
            }
            let partner = change == "none" ? nil : nobodys
            #expect(try await marx.object(forKey: "email") === partner)
            #expect(try await staged.object(forKey: "person") == nil)
            try await context.save()
            #expect(try await marx.object(forKey: "email") === partner)
            #expect(
                try await other.values("SELECT id FROM email WHERE person_id = 3")
                    == (change == "none" ? [] : [3]))
            #expect(try await other.value("SELECT count(*) FROM email") == (change == "attribute" ? 3 : 4))
        }
    }
}
