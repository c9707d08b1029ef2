import Kindred
import KindredTesting
import Testing

@Suite struct FetchTests {
    @Test(.database(.sql(referenceSchema))) func conditionsSortLimitAndOffset() async throws {
        try await withDatabase { database, context, other in
            let emails = try context.fetch("email")
            func ids(_ request: FetchRequest<DatabaseObject>) async throws -> [PostgresValue?] {
                try await request.sorted("id").all().map { $0["id"] }
            }
            #expect(try await ids(emails.where("person.surname = %@", "Smith")) == [1, 2])
            #expect(try await ids(emails.where("person == nil")) == [4])
            #expect(try await ids(emails.where("NOT (person.surname = 'Smith')")) == [3, 4])
            #expect(try await ids(emails.where("id BETWEEN {2, 3} AND address ENDSWITH 'example.org'")) == [2, 3])
            #expect(try await ids(emails.where("id IN %@", [1, 4])) == [1, 4])
            #expect(try await ids(emails.where("address LIKE 'a*@example.org'")) == [1, 2])
            #expect(try await ids(emails.where("address CONTAINS[c] 'BOB' OR id = %@", 4)) == [3, 4])
            #expect(
                try await emails.sorted("id", ascending: false).limit(2).offset(1).all().map { $0["id"] } == [3, 2])
            #expect(try await emails.sorted("person.surname").sorted("id").first()?["id"] == 3)
        }
    }

    @Test(.database(.sql(referenceSchema))) func conditionsAddedInStepsAreOneQuery() async throws {
        try await withDatabase { database, context, other in
            let emails = try context.fetch("email").where("person.surname = %@", "Smith").where("id > %@", 1)
            let condition = #"AS t1 ON t1."id" = t0."person_id" WHERE t1."surname" = $1 AND t0."id" > $2"#
            #expect(try emails.sql.hasSuffix(condition))
            #expect(try await emails.all().map { $0["id"] } == [2])
            #expect(try await emails.count() == 1)
            let sorted = try emails.sorted("id").limit(1)
            #expect(try sorted.sql.hasSuffix(condition + #" ORDER BY t0."id" LIMIT $3"#))
            #expect(try await sorted.all().map { $0["id"] } == [2])
        }
    }

    @Test(.database(.sql(referenceSchema))) func eachWayOfAskingIsOneStatement() async throws {
        try await withDatabase { database, context, other in
            let people = try context.fetch("person").sorted("id")
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await people.all().count == 3) }
            try await expectStatements(["SELECT"]) { () async throws in #expect(try await people.first()?["id"] == 1) }
            try await expectStatements(["SELECT count"]) { () async throws in #expect(try await people.count() == 3) }
            try await expectStatements(["SELECT count"]) { () async throws in
                #expect(try await people.limit(2).offset(2).count() == 1)
            }
            try await expectStatements(["SELECT EXISTS"]) { () async throws in #expect(try await people.exists()) }
            try await expectStatements(["SELECT"]) { () async throws in
                #expect(try await people.where("id = 2").one()["surname"] == "Jones")
            }
            try await expectStatements(["SELECT"]) { () async throws in
                await expectError(.notUnique) { _ = try await people.one() }
            }
            try await expectStatements(["SELECT"]) { () async throws in
                await expectError(.notFound) { _ = try await people.where("id = 9").one() }
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func whatCannotBeIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements([]) { () async throws in
                await expectError(.invalidCondition) { _ = try context.fetch("person").where("surname =") }
                await expectError(.invalidCondition) { _ = try context.fetch("person").where("surname = %@") }
                await expectError(.unknownKey) { _ = try context.fetch("person").sorted("surname; DROP TABLE person") }
                await expectError(.invalidRequest) { _ = try await context.fetch("person").limit(-1).all() }
                await expectError(.wrongType) { _ = try await context.fetch("person").where("id = %@", "x").all() }
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func rawSQLBindsItsInterpolations() async throws {
        try await withDatabase { database, context, other in
            let hostile = "'; DROP TABLE person; --"
            let rows = try await context.query("SELECT \(hostile) AS text, \(41) + 1 AS number")
            #expect(try rows[0]["text"] == .string(hostile))
            #expect(try rows[0]["number"] == 42)
            #expect(try await other.value("SELECT count(*) FROM person") == 3)
        }
    }

    @Test(.database(.sql(referenceSchema))) func keysFollowRelationshipsAndPaths() async throws {
        try await withDatabase { database, context, other in
            let email = try await context.fetch("email").where("id = 3").one()
            #expect(try await email.value(forKey: "address")?.attribute == "bob@example.org")
            #expect(try await email.value(forKey: "person")?.object?["surname"] == "Jones")
            #expect(try await email.value(forKeyPath: "person.surname")?.attribute == "Jones")
            let names = try await email.value(forKeyPath: "person.titles.name")?.collection?.compactMap(\.attribute)
            #expect(Set(try #require(names)) == ["Dr", "Prof"])
            let orphan = try await context.fetch("email").where("id = 4").one()
            #expect(try await orphan.value(forKeyPath: "person.surname") == nil)
            await expectError(.unknownKey) { _ = try await email.value(forKeyPath: "address.length") }
            // Whatever the values on the way are.
            try await expectStatements([]) { () async throws in
                for path in ["person.address", "person.titles.x", "person.firstname.x", "person.", "..", "", "@count"] {
                    await expectError(.unknownKey) { _ = try await orphan.value(forKeyPath: path) }
                }
            }
            #expect(try email.value(forKey: "id", as: Int.self) == 3)
            #expect(Set(email.dictionary.keys) == ["id", "address", "person_id"])
        }
    }

    @Test(.database(.sql(shopSchema))) func aCompositeKeyThatIsNullInPartLeadsNowhere() async throws {
        try await withDatabase { (database, context, other) async throws in
            func ids(_ format: String) async throws -> [String] {
                try await context.fetch("purchase").where(format).sorted("tenant").sorted("id").all()
                    .map { "\($0["tenant"]?.description ?? "").\($0["id"]?.description ?? "")" }
            }
            #expect(try await ids("customer.tenant == 1") == ["1.1", "1.2", "1.3"])
            #expect(try await ids("customer.tenant == nil") == ["1.4"])
            #expect(try await ids("NOT customer.tenant == 1") == ["1.4", "2.1"])
            #expect(try await ids("customer == nil") == ["1.4"])
            #expect(try await ids("customer.purchaseSet.@count == 2") == ["1.1", "1.2"])
            #expect(try await ids("customer.purchaseSet.@count == nil") == ["1.4"])
        }
    }

    @Test(.database(.sql(referenceSchema))) func aRegularExpressionKeepsItsAnchors() async throws {
        try await withDatabase { database, context, other in
            let people = try context.fetch("person")
            #expect(try await people.where("surname MATCHES %@", "S.*h").count() == 1)
            #expect(try await people.where("surname MATCHES %@", "mit").count() == 0)
            await expectError(.invalidCondition) { _ = try await people.where("surname MATCHES %@", "A)|(.*").count() }
            await expectError(.unknownKey) { _ = try people.sorted("surname.") }
        }
    }
}
