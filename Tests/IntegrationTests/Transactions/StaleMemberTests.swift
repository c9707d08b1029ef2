import Kindred
import KindredTesting
import Testing

/// Members whose rows were first read in a failed transaction: their owners are unknown until they are read again.
@Suite struct StaleMemberTests {
    private static let shops = """
        CREATE TABLE country (id integer PRIMARY KEY);
        CREATE TABLE region (id integer PRIMARY KEY, country_id integer REFERENCES country ON DELETE CASCADE);
        CREATE TABLE shop (id integer PRIMARY KEY, name text, region_id integer REFERENCES region ON DELETE SET NULL);
        CREATE TABLE stall (id integer PRIMARY KEY, name text, region_id integer REFERENCES region ON DELETE CASCADE);
        INSERT INTO country VALUES (1), (2);
        INSERT INTO region VALUES (1, 1), (2, 2);
        INSERT INTO shop VALUES (1, 'One', 1), (9, 'Nine', 2);
        INSERT INTO stall SELECT * FROM shop;
        """

    @Test(.database(.sql(shops)), arguments: ["shop", "stall"], [false, true])
    func theDatabasesActionsLeaveThemAlone(table: String, isRegionKnown: Bool) async throws {
        try await withDatabase { database, context, other in
            let country = try #require(try await context.find("country", 1))
            let id = isRegionKnown ? 1 : 2
            let regions = try await context.fetch("region").where("id = %@", id).all()
            var read: DatabaseObject?
            await fail(context) {
                try await context.query("UPDATE \(identifier: table) SET region_id = 1, name = 'Undone' WHERE id = 9")
                read = try await context.find(table, 9)
            }
            let member = try #require(read)
            #expect(member["name"] == "Undone")
            try await context.delete(country)
            #expect(country.isDeleted && regions.map(\.isDeleted) == [isRegionKnown])
            #expect(!member.isDeleted)
            for key in ["name", "region_id"] {
                let stored = try await other.value("SELECT \(identifier: key) FROM \(identifier: table) WHERE id = 9")
                #expect(try await member.value(forKey: key)?.attribute == stored)
            }
            #expect(!member.isDeleted && member["name"] == "Nine")
            let region = try #require(try await context.find("region", 2))
            #expect(try await region.set(forKey: "\(table)Set").objects == [member])
        }
    }

    @Test(.database(.sql(referenceSchema))) func countsFollowTheirDeletion() async throws {
        try await withDatabase { database, context, other in
            let people = try await context.fetch("person").sorted("id").all()
            func expectCounts() async throws {
                for person in people {
                    let stored = try await other.values("SELECT id FROM email WHERE person_id = \(person["id"])")
                    #expect(try await person.set(forKey: "emailSet").count == stored.count, "\(person)")
                }
            }
            try await expectCounts()
            var read: DatabaseObject?
            await fail(context) {
                try await context.query("UPDATE email SET person_id = 3 WHERE id = 3")
                read = try await context.find("email", 3)
            }
            let email = try #require(read)
            #expect(try await context.fetch("email").where("id = 3").delete() == 1)
            #expect(email.isDeleted)
            try await expectCounts()
            #expect(try await people[1].set(forKey: "emailSet").count == 0)
        }
    }

    /// How a member moves.
    enum Move: CaseIterable {
        case insert, formUnion, remove, subtract, set
    }

    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases, Move.allCases)
    func theirVersionsAreReadBeforeTheyMove(table: Versioned, move: Move) async throws {
        try await withDatabase { database, context, other in
            let owners = try await context.fetch("owner").sorted("id").all()
            var read: DatabaseObject?
            await fail(context) {
                #expect(try await context.fetch(table.rawValue).where("id = 2").update(["value": 7]) == 1)
                read = try await context.find(table.rawValue, 2)
            }
            let member = try #require(read)
            #expect(member["value"] == 7)
            let key = "\(table.rawValue)Set"
            let (former, new) = (try await owners[0].set(forKey: key), try await owners[1].set(forKey: key))
            switch move {
            case .insert: try await new.insert(member)
            case .formUnion: try await new.formUnion([member])
            case .remove: try await former.remove(member)
            case .subtract: try await former.subtract([member])
            case .set: try await new.set([member])
            }
            let row: SQL = "FROM \(identifier: table.rawValue) WHERE id = 2"
            let owner = try await other.value("SELECT owner_id \(row)")
            let wanted: PostgresValue? = move == .remove || move == .subtract ? nil : 2
            #expect(owner == wanted)
            #expect(try await other.value("SELECT value \(row)") == 0)
            #expect(member["owner_id"] == owner && member["value"] == 0)
            // The version in memory is the stored one.
            try await member.setValue(1, forKey: "value")
            #expect(try await other.value("SELECT value \(row)") == 1)
        }
    }
}
