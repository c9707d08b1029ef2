import Kindred
import KindredTesting
import Testing

/// The statements of each change of a set: the table of the design, row by row.
@Suite struct SetStatementTests {
    @Test(.database(.sql(referenceSchema))) func oneToManyChangesAreOneStatementWhateverTheNumber() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let emails = try await context.fetch("email").all()
            let set = try await ann.set(forKey: "emailSet")
            try await expectStatements([
                #"UPDATE "public"."email" AS t SET "person_id" = $1 WHERE t."id" = $2 RETURNING t."id", "#
            ]) { () async throws in try await set.insert(emails[3]) }
            try await expectStatements(["WITH"]) { () async throws in try await set.formUnion(emails) }
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 1") == 4)
            try await expectStatements(["WITH"]) { () async throws in try await set.remove(emails[0]) }
            try await expectStatements(["WITH"]) { () async throws in try await set.subtract(emails[0...1]) }
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 1") == 2)
            try await expectStatements(["WITH", "WITH"]) { () async throws in try await set.set(emails[1...2]) }
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 1 ORDER BY id") == [2, 3])
            try await expectStatements([
                #"UPDATE "public"."email" AS t SET "person_id" = NULL WHERE t."person_id" = $1 RETURNING t."id", "#
            ]) { () async throws in try await set.removeAll() }
            #expect(try await other.value("SELECT count(*) FROM email WHERE person_id = 1") == 0)
        }
    }

    @Test(.database(.sql(referenceSchema))) func manyToManyChangesAreOneStatementWhateverTheNumber() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let titles = try await context.fetch("title").sorted("id").all()
            let set = try await ann.set(forKey: "titles")
            try await expectStatements(["INSERT"]) { () async throws in try await set.insert(titles[1]) }
            try await expectStatements(["INSERT"]) { () async throws in try await set.insert(titles[1]) }
            try await expectStatements([
                #"INSERT INTO "public"."person_title_rel" AS h ("person_id", "title_id") "#
                    + #"SELECT $1, member.* FROM unnest($2) AS member(m0) ON CONFLICT ("#
            ]) { () async throws in try await set.formUnion(titles) }
            #expect(try await other.value("SELECT count(*) FROM person_title_rel WHERE person_id = 1") == 3)
            let delete = #"DELETE FROM "public"."person_title_rel" AS t WHERE t."person_id" = $1 AND t."title_id" = "#
            try await expectStatements([delete + "$2 RETURNING "]) { () async throws in try await set.remove(titles[0])
            }
            #expect(try await other.value("SELECT count(*) FROM person_title_rel WHERE person_id = 1") == 2)
            try await expectStatements([delete + "ANY($2) RETURNING "]) { () async throws in
                try await set.subtract(titles[0...1])
            }
            #expect(try await other.value("SELECT title_id FROM person_title_rel WHERE person_id = 1") == 3)
            try await expectStatements(["DELETE", "INSERT"]) { () async throws in try await set.set(titles[0...1]) }
            #expect(
                try await other.values("SELECT title_id FROM person_title_rel WHERE person_id = 1 ORDER BY 1") == [
                    1, 2,
                ])
            try await expectStatements(["DELETE"]) { () async throws in try await set.removeAll() }
        }
    }

    @Test(.database(.sql(oneToOneSchema))) func oneToOneChangesAreAtMostTwoStatements() async throws {
        try await withDatabase { database, context, other in
            let smith = try await context.fetch("person").where("id = 1").one()
            let emails = try await context.fetch("email").sorted("id").all()
            try await expectStatements(["WITH", "UPDATE"]) { () async throws in
                try await smith.setValue(emails[1], forKey: "email")
            }
            try await expectStatements(["WITH", "UPDATE"]) { () async throws in
                try await emails[0].setValue(smith, forKey: "person")
            }
            try await expectStatements(["UPDATE"]) { () async throws in try await smith.setValue(nil, forKey: "email") }
            try await expectStatements(["UPDATE"]) { () async throws in
                try await emails[1].setValue(nil, forKey: "person")
            }
        }
    }

    @Test(.database(.sql(referenceSchema))) func questionsAreAnsweredFromMemoryOrByOneSmallQuery() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let bob = try await context.fetch("person").where("id = 2").one()
            let email = try await context.fetch("email").where("id = 1").one()
            for (owner, key) in [(ann, "emailSet"), (bob, "titles")] {
                let set = try await owner.set(forKey: key)
                try await expectStatements(["SELECT count"]) { () async throws in #expect(try await set.count == 2) }
                try await expectStatements(["SELECT EXISTS"]) { () async throws in #expect(try await !set.isEmpty) }
                try await expectStatements(["SELECT"]) { () async throws in #expect(try await set.objects.count == 2) }
                try await expectStatements([]) { () async throws in
                    #expect(try await set.count == 2)
                    #expect(try await !set.isEmpty)
                    var walked = 0
                    for try await _ in set { walked += 1 }
                    #expect(walked == 2)
                    #expect(try await set.objects.count == 2)
                }
            }
            let set = try await bob.set(forKey: "emailSet")
            try await expectStatements(["SELECT EXISTS"]) { () async throws in #expect(try await !set.contains(email)) }
            _ = try await set.objects
            try await expectStatements([]) { () async throws in #expect(try await !set.contains(email)) }
        }
    }

    @Test(.database(.sql(referenceSchema))) func aFilteredSetIsAFetchRequest() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let bob = try await context.fetch("person").where("id = 2").one()
            try await expectStatements(["SELECT"]) { () async throws in
                let emails = try await ann.set(forKey: "emailSet").where("address BEGINSWITH %@", "a.").all()
                #expect(emails.map { $0["id"] } == [2])
            }
            let titles = try await bob.set(forKey: "titles").sorted("name", ascending: false).limit(1).all()
            #expect(titles.map { $0["name"] } == ["Prof"])
        }
    }

    @Test(.database(.sql(referenceSchema))) func attributesAndToOneKeysAreOneUpdate() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("person").where("id = 1").one()
            let email = try await context.fetch("email").where("id = 4").one()
            try await expectStatements(["UPDATE"]) { () async throws in
                try await email.setValues(["address": "new@example.org", "person": ann])
            }
            #expect(email["address"] == "new@example.org")
            #expect(
                try await other.value("SELECT address FROM email WHERE id = 4 AND person_id = 1") == "new@example.org")
            try await expectStatements([]) { () async throws in
                #expect(try await email.object(forKey: "person") === ann)
            }
            try await expectStatements(["INSERT"]) { () async throws in
                let email = try await context.create("email", ["address": "x@example.org", "person": ann])
                #expect(email["person_id"] == 1)
            }
            try await expectStatements(["DELETE"]) { () async throws in try await context.delete(email) }
        }
    }

    /// Owner 2 has members that the statistics do not know yet, as after a bulk load.
    private static let crowd = """
        CREATE TABLE owner (id int PRIMARY KEY);
        CREATE TABLE member (id int PRIMARY KEY, owner_id int REFERENCES owner);
        CREATE INDEX ON member (owner_id);
        CREATE TABLE tag (id int PRIMARY KEY);
        CREATE TABLE owner_tag (
            owner_id int REFERENCES owner, tag_id int REFERENCES tag, PRIMARY KEY (owner_id, tag_id));
        CREATE INDEX ON owner_tag (tag_id);
        INSERT INTO owner VALUES (1), (2);
        INSERT INTO tag SELECT generate_series(1, 5000);
        INSERT INTO member SELECT i, 1 FROM generate_series(1, 5000) AS i;
        INSERT INTO owner_tag SELECT 1, i FROM generate_series(1, 5000) AS i;
        ANALYZE;
        INSERT INTO member SELECT i, 2 FROM generate_series(5001, 10000) AS i;
        INSERT INTO owner_tag SELECT 2, i FROM generate_series(1, 5000) AS i;
        """

    @Test(.database(.sql(crowd)), arguments: [("memberSet", 5005, "'{5005}', 1, 2"), ("tagSet", 5, "2, 5")])
    func theServerDoesNotLookForAMemberAmongAllOfThem(key: String, id: Int, values: String) async throws {
        try await withDatabase { database, context, other in
            let owner = try #require(try await context.find("owner", 2))
            let set = try await owner.set(forKey: key)
            let member = try #require(try await context.find(key == "tagSet" ? "tag" : "member", id))
            let (_, recorder) = try await recordingStatements { try await set.remove(member) }
            let statement = try #require(recorder.statements.first)
            #expect(recorder.statements.count == 1)
            let plan = try await other.withConnection { connection in
                _ = try await connection.query(SQL(unsafeRaw: "PREPARE removal AS \(statement)"))
                return try await connection.query(SQL(unsafeRaw: "EXPLAIN EXECUTE removal (\(values))")).map {
                    try $0.decode(0, as: String.self) ?? ""
                }
            }
            let conditions = plan.filter { $0.contains("Index Cond") }
            #expect(
                !conditions.isEmpty && conditions.allSatisfy { $0.contains(key == "tagSet" ? "tag_id" : "(id") },
                "\(plan)")
        }
    }
}
