import Kindred
import KindredTesting
import Testing

/// Bad keys, bad values, rows that others deleted: one clear error, nothing written, the rest unharmed.
@Suite struct FaultTests {
    @Test(.database(.sql(referenceSchema))) func anUnknownKeyNamesTheNearestOnes() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            try await expectStatements([]) { () async throws in
                let error = await expectError(.unknownKey) { _ = try await ann.value(forKey: "surnam") }
                #expect(error?.message.contains("\"surname\"") == true)
                #expect(error?.entity == "public.person")
                await expectError(.unknownKey) { try await ann.setValue("x", forKey: "emailset") }
                await expectError(.unknownKey) { try await context.create("person", ["name": "x"]) }
                await expectError(.unknownEntity) { _ = try context.fetch("persn") }
                await expectError(.unknownKey) { _ = try context.fetch("person").where("nme = 1") }
            }
            #expect(ann["nothing"] == nil)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aValueOfTheWrongTypeIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let email = try await context.fetch("email").where("id = 1").one()
            try await expectStatements([]) { () async throws in
                let error = await expectError(.wrongType) { try await ann.setValue("tall", forKey: "height") }
                #expect(error?.message.contains("numeric") == true)
                await expectError(.wrongType) { try await ann.setValue(1 << 40, forKey: "id") }
                await expectError(.wrongType) { try await ann.setValue(email, forKey: "surname") }
                await expectError(.wrongType) { try await email.setValue(email, forKey: "person") }
                await expectError(.wrongType) { try await email.setValue("Ann", forKey: "person") }
                await expectError(.wrongType) { try await ann.setValue(email, forKey: "emailSet") }
                await expectError(.wrongType) { try await ann.setValue([ann], forKey: "emailSet") }
                await expectError(.wrongType) { try await ann.setValue("a\0b", forKey: "surname") }
                await expectError(.missingValue) { try await ann.setValue(nil, forKey: "surname") }
                await expectError(.missingValue) { try await context.create("email", [:]) }
                await expectError(.wrongType) { _ = try await ann.object(forKey: "emailSet") }
                await expectError(.wrongType) { _ = try await email.set(forKey: "person") }
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func anObjectOfAnotherContextIsRefused() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let foreign = try await database.makeContext().fetch("email").where("id = 3").one()
            try await expectStatements([]) { () async throws in
                await expectError(.foreignContext) { try await ann.set(forKey: "emailSet").insert(foreign) }
                await expectError(.foreignContext) { try await context.delete(foreign) }
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func aRowDeletedElsewhereIsOneClearError() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let emails = try await context.fetch("email").sorted("id").all()
            _ = try await other.value("DELETE FROM email WHERE id = 3 RETURNING id")
            let set = try await ann.set(forKey: "emailSet")
            await expectError(.objectDeleted) { try await set.insert(emails[2]) }
            await expectError(.objectDeleted) { try await set.formUnion(emails) }
            await expectError(.objectDeleted) { try await set.set(emails) }
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 1") == 2)
            await expectError(.objectDeleted) { try await emails[2].setValue("x", forKey: "address") }
            await expectError(.objectDeleted) { try await emails[2].refresh() }
            #expect(emails[2].isDeleted)
            await expectError(.objectDeleted) { try await context.delete(emails[2]) }
            await expectError(.objectDeleted) { _ = try await emails[2].object(forKey: "person") }
            #expect(emails[2]["address"] == "bob@example.org")
        }
    }

    @Test(.database(.sql(referenceSchema))) func anOwnerThatIsGoneIsSaidByTheConstraint() async throws {
        try await withDatabase { database, context, other in
            let cid = try await context.fetch("person").where("id = 3").one()
            let email = try await context.fetch("email").where("id = 4").one()
            let sir = try await context.fetch("title").where("id = 3").one()
            _ = try await other.value("DELETE FROM person WHERE id = 3 RETURNING id")
            let error = await expectError(.constraintViolation) { try await email.setValue(cid, forKey: "person") }
            #expect(error?.constraint == "email_person_id_fkey")
            await expectError(.objectDeleted) { try await cid.set(forKey: "titles").insert(sir) }
            #expect(email["person_id"] == nil)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aConstraintViolationNamesEntityAndConstraint() async throws {
        try await withDatabase { database, context, other in
            let error = await expectError(.constraintViolation) { try await context.create("title", ["name": "Dr"]) }
            #expect(error?.constraint == "title_name_key")
            #expect(error?.entity == "public.title")
            #expect(error?.underlying?.sqlState == .uniqueViolation)
            #expect(error.map { !"\($0)".contains("Dr)") } == true)
            let ann = try await context.fetch("person").where("id = 1").one()
            await expectError(.deletionDenied) { try await context.delete(ann) }
            #expect(!ann.isDeleted)
        }
    }

    @Test(.database(.sql(shopSchema))) func deletionReachesWhatTheDatabaseDeletesToo() async throws {
        try await withDatabase { database, context, other in
            let purchase = try await context.fetch("purchase").where("tenant = 1 AND id = 4").one()
            let product = try await context.fetch("product").where("id = 3").one()
            try await purchase.set(forKey: "productSet").insert(product, through: ["quantity": 1])
            let line = try #require(try await purchase.set(forKey: "lineSet").objects.first)
            let mentor = try await context.fetch("member").where("id = 1").one()
            let member = try await context.fetch("member").where("id = 3").one()
            _ = try await other.value("DELETE FROM friendship RETURNING 1")
            try await context.delete(purchase)
            #expect(purchase.isDeleted && line.isDeleted)
            #expect(try await product.set(forKey: "purchaseSet").isEmpty)
            try await context.delete(mentor)
            #expect(member["mentor_id"] == nil)
            #expect(try await other.value("SELECT count(*) FROM member WHERE mentor_id IS NULL") == 2)
        }
    }
}
