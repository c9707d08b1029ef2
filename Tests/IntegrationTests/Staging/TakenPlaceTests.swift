import Kindred
import KindredTesting
import Testing

/// A one-to-one place that is taken: a new object that is made with the holder is refused at the save; a relationship that is
/// set lets the old partner go.
@Suite struct TakenPlaceTests {
    @Test(
        "a new object that is made with a holder whose place is taken is refused", .database(.sql(oneToOneSchema)),
        arguments: [false, true])
    func madeWithAHolder(isRead: Bool) async throws {
        try await withDatabase { database, context, other in
            let smith = try await context.get("person", 1)
            if isRead { #expect(try await smith.object(forKey: "email")?["id"] == 1) }
            let new = try context.add("email", ["id": 9, "address": "n", "person": smith])
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.object === new && error?.key == "person" && error?.constraint == "email_person_id_key")
            #expect(
                error?.message.contains("\(smith) has kindred:/public/email?id=1 in") == true, "\(error as Any)")
            #expect(new.isInserted && new["person_id"] == 1)
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 1") == [1])
            // The partner is let go in the same save.
            let old = try await context.get("email", 1)
            old["person_id"] = nil
            try await context.save()
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 1") == [9])
            // It is deleted in the same save.
            let next = try context.add("email", ["id": 10, "address": "o", "person": smith])
            try context.stageDeletion(of: new)
            try await context.save()
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 1") == [10])
            #expect(try await smith.object(forKey: "email") === next)
            // Of two that are made with one new holder the later is refused.
            let person = try context.add("person", ["id": 4, "surname": "New"])
            let first = try context.add("email", ["id": 11, "address": "p", "person": person])
            let second = try context.add("email", ["id": 12, "address": "q", "person": person])
            let both = await expectError(.constraintViolation) { try await context.save() }
            #expect(both?.object === second && both?.message.contains("\(first)") == true, "\(both as Any)")
            second.rollback()
            try await context.save()
            #expect(try await other.values("SELECT id FROM email WHERE person_id = 4") == [11])
            // At once.
            await expectError(.constraintViolation) {
                _ = try await context.create("email", ["id": 13, "address": "r", "person": smith])
            }
        }
    }

    @Test(
        "a relationship that is set on a new object lets the old partner go, read before or not",
        .database(.sql(oneToOneSchema)), arguments: [false, true])
    func setOnANewObject(isRead: Bool) async throws {
        try await withDatabase { database, context, other in
            let ways: [(String, (DatabaseObject, DatabaseObject) async throws -> Void)] = [
                ("from its side", { try await $0.setValue($1, forKey: "person") }),
                ("from the other", { try await $1.setValue($0, forKey: "email") }),
                ("among several", { try await $0.setValues(["address": "s", "person": $1]) }),
                ("by ID", { try await $0.setValues(["person": $1.objectID]) }),
            ]
            for (number, way) in ways.enumerated() {
                let holder = try await context.get("person", 2)
                let context = database.makeContext()
                let person = try await context.get("person", 2)
                if isRead { #expect(try await person.object(forKey: "email") != nil) }
                let new = try context.add("email", ["id": 20 + number, "address": "n"])
                if way.0 == "by ID" {
                    try await way.1(new, holder)
                } else {
                    try await way.1(new, person)
                }
                #expect(try await person.object(forKey: "email") === new, "\(way.0)")
                try await context.save()
                let stored = try await other.values("SELECT id FROM email WHERE person_id = 2")
                #expect(stored == [.integer(Int64(20 + number))], "\(way.0)")
            }
            // A partner that needs its holder cannot be let go.
            let context = database.makeContext()
            let passport = try context.add("passport", ["number": "C"])
            await expectError(.requiredRelationship) {
                try await passport.setValue(try await context.get("person", 2), forKey: "person")
                try await context.save()
            }
            #expect(try await other.values("SELECT number FROM passport WHERE person_id = 2") == ["B"])
        }
    }

    @Test("of a partner that the role may not see only the key is named", .database(.sql(hidden)))
    func hiddenPartners() async throws {
        try await withTenants { database, _, _ in
            let context = try database.makeContext(settings: ["app.organization": 1])
            let holder = try await context.get("person", 1)
            let badge = try context.add("badge", ["organization": 1, "person": holder])
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.object === badge && error?.key == "person")
            #expect(error?.message.contains("has an object that this context may not see") == true, "\(error as Any)")
        }
    }

    private static let hidden = """
        CREATE TABLE person (id int PRIMARY KEY);
        CREATE TABLE badge (
            id int GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, organization int NOT NULL,
            person_id int UNIQUE REFERENCES person);
        INSERT INTO person VALUES (1);
        INSERT INTO badge (organization, person_id) VALUES (2, 1);
        ALTER TABLE badge ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON badge USING (organization = nullif(current_setting('app.organization', true), '')::int);
        GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC;
        GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO PUBLIC;
        """
}
