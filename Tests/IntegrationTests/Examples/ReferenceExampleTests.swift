import Kindred
import KindredTesting
import Testing

/// The examples that the relationship rules were first told with; effects are looked up by a second connection.
@Suite struct ReferenceExampleTests {
    @Test(.database(.sql(referenceSchema))) func aForeignKeyIsAToOneAndAToManyRelationship() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("surname = %@", "Smith").one()
            let emails = try await ann.set(forKey: "emailSet")
            #expect(
                try await emails.objects.compactMap { $0["address"]?.description }.sorted() == [
                    "a.smith@example.org", "ann@example.org",
                ])
            let email = try #require(try await emails.objects.first)
            #expect(try await email.object(forKey: "person") === ann)
        }
    }

    @Test(.database(.sql(referenceSchema))) func insertMovesAMemberFromItsOldOwner() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let bob = try await context.fetch("person").where("id = 2").one()
            let email = try await context.fetch("email").where("id = 3").one()
            let (annsEmails, bobsEmails) = (
                try await ann.set(forKey: "emailSet"), try await bob.set(forKey: "emailSet")
            )
            #expect(try await bobsEmails.objects == [email])
            #expect(try await annsEmails.count == 2)
            try await annsEmails.insert(email)
            #expect(try await other.value("SELECT person_id FROM email WHERE id = 3") == 1)
            #expect(email["person_id"] == 1)
            #expect(try await email.object(forKey: "person") === ann)
            #expect(try await annsEmails.contains(email))
            #expect(try await bobsEmails.isEmpty)
        }
    }

    @Test(.database(.sql(referenceSchema))) func settingTheToOneSideMovesTheMember() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let bob = try await context.fetch("person").where("id = 2").one()
            let email = try await context.fetch("email").where("id = 1").one()
            let bobsEmails = try await bob.set(forKey: "emailSet")
            _ = try await bobsEmails.objects
            _ = try await ann.set(forKey: "emailSet").objects
            try await email.setValue(bob, forKey: "person")
            #expect(try await other.value("SELECT person_id FROM email WHERE id = 1") == 2)
            #expect(try await bobsEmails.contains(email))
            #expect(try await !ann.set(forKey: "emailSet").contains(email))
            try await email.setValue(nil, forKey: "person")
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id IS NULL") == 2)
            #expect(try await email.object(forKey: "person") == nil)
            #expect(try await !bobsEmails.contains(email))
        }
    }

    @Test(.database(.sql(referenceSchema))) func aCollectionAndNilReplaceTheMembers() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let emails = try await context.fetch("email").where("id IN {2, 3, 4}").all()
            try await ann.setValue(emails, forKey: "emailSet")
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 1 ORDER BY id") == [2, 3, 4])
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id IS NULL") == 1)
            #expect(Set(try await ann.set(forKey: "emailSet").objects) == Set(emails))
            try await ann.setValue(nil, forKey: "emailSet")
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id IS NULL") == 4)
            #expect(try await ann.set(forKey: "emailSet").isEmpty)
            #expect(emails.allSatisfy { $0["person_id"] == nil })
        }
    }

    @Test(.database(.sql(oneToOneSchema))) func aUniqueForeignKeyIsAOneToOneRelationship() async throws {
        try await withDatabase { database, context, other in
            let smith = try await context.fetch("person").where("id = 1").one()
            let jones = try await context.fetch("person").where("id = 2").one()
            let email = try #require(try await smith.object(forKey: "email"))
            #expect(email["id"] == 1)
            #expect(try await email.object(forKey: "person") === smith)
            let other2 = try #require(try await jones.object(forKey: "email"))

            try await smith.setValue(other2, forKey: "email")
            #expect(try await other.values("SELECT person_id FROM email ORDER BY id") == [nil, 1, nil])
            #expect(email["person_id"] == nil)
            #expect(try await email.object(forKey: "person") == nil)
            #expect(try await jones.object(forKey: "email") == nil)
            #expect(try await smith.object(forKey: "email") === other2)

            try await email.setValue(smith, forKey: "person")
            #expect(try await other.values("SELECT person_id FROM email ORDER BY id") == [1, nil, nil])
            #expect(try await smith.object(forKey: "email") === email)
            #expect(try await other2.object(forKey: "person") == nil)

            try await smith.setValue(nil, forKey: "email")
            #expect(try await other.values("SELECT person_id FROM email ORDER BY id") == [nil, nil, nil])
            #expect(try await smith.object(forKey: "email") == nil)
            #expect(try await email.object(forKey: "person") == nil)
        }
    }

    @Test(.database(.sql(referenceSchema))) func aHelperTableIsAManyToManyRelationshipUnderBothNames() async throws {
        try await withDatabase { database, context, other in
            let bob = try await context.fetch("person").where("id = 2").one()
            let titles = try await bob.set(forKey: "titles")
            #expect(try await titles.objects.compactMap { $0["name"]?.description }.sorted() == ["Dr", "Prof"])
            let bySet = try await bob.set(forKey: "titleSet")
            let sir = try await context.fetch("title").where("name = %@", "Sir").one()
            try await bySet.insert(sir)
            #expect(try await titles.contains(sir))
            #expect(
                try await other.values("SELECT title_id FROM person_title_rel WHERE person_id = 2 ORDER BY 1") == [
                    1, 2, 3,
                ])
            let people = try await sir.set(forKey: "people").objects
            #expect(people == [bob])
            #expect(try await sir.set(forKey: "personSet").objects == [bob])
            #expect(try await bob.set(forKey: "person_title_relSet").count == 3)
            try await titles.remove(sir)
            #expect(try await sir.set(forKey: "people").isEmpty)
            #expect(try await other.value("SELECT count(*) FROM person_title_rel WHERE title_id = 3") == 0)
        }
    }

    @Test(.database(.sql(referenceSchema))) func setValueReplacesManyToManyMembersByTheDifferenceOnly() async throws {
        try await withDatabase { database, context, other in
            let bob = try await context.fetch("person").where("id = 2").one()
            let prof = try await context.fetch("title").where("id = 2").one()
            let sir = try await context.fetch("title").where("id = 3").one()
            let kept = try await other.value(
                "SELECT xmin::text FROM person_title_rel WHERE person_id = 2 AND title_id = 2")
            try await bob.setValue([prof, sir], forKey: "titles")
            #expect(
                try await other.values("SELECT title_id FROM person_title_rel WHERE person_id = 2 ORDER BY 1") == [
                    2, 3,
                ])
            #expect(
                try await other.value("SELECT xmin::text FROM person_title_rel WHERE person_id = 2 AND title_id = 2")
                    == kept
            )
            try await bob.setValue(nil, forKey: "titles")
            #expect(try await other.value("SELECT count(*) FROM person_title_rel WHERE person_id = 2") == 0)
            #expect(try await other.value("SELECT count(*) FROM title") == 3)
        }
    }
}
