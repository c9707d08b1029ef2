import Kindred
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE person (id integer PRIMARY KEY, name text);
    CREATE TABLE badge (
        id integer PRIMARY KEY, label text, person_id integer REFERENCES person, UNIQUE (person_id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE city (id integer PRIMARY KEY, name text);
    CREATE TABLE capital (PRIMARY KEY (id)) INHERITS (city);
    CREATE TABLE house (id integer PRIMARY KEY, city_id integer REFERENCES city);
    INSERT INTO person VALUES (1, 'Ann'), (2, 'Bob');
    INSERT INTO badge VALUES (1, 'a', 1);
    INSERT INTO city VALUES (1, 'Bonn');
    INSERT INTO capital VALUES (1, 'Bonn');
    INSERT INTO house VALUES (1, 1), (2, NULL);
    CREATE TABLE pet (id integer PRIMARY KEY, owner_id integer, vet_id integer);
    INSERT INTO pet VALUES (1, 1), (2, 99), (3, NULL);
    ALTER TABLE pet ADD CONSTRAINT owner FOREIGN KEY (owner_id) REFERENCES person NOT VALID;
    """

/// Rows are right where a key does not promise as much as usual.
@Suite struct PathFaultTests {
    @Test(.database(.sql(schema))) func aKeyThatIsCheckedLateRepeatsNoRow() async throws {
        try await withDatabase { database, context, other in
            try await database.transaction {
                try await database.query("INSERT INTO badge VALUES (2, 'a', 1)")
                #expect(try await context.fetch("person").where("badge.label = 'a'").count() == 1)
                #expect(try await context.fetch("person").where("badge = nil").count() == 1)
                #expect(try await context.fetch("person").sorted("badge.label").all().count == 2)
                try await database.query("DELETE FROM badge WHERE id = 2")
            }
        }
    }

    @Test(.database(.sql(schema))) func tablesThatInheritRepeatNoRow() async throws {
        try await withDatabase { (_, context, _) async throws in
            #expect(try await context.fetch("house").where("city.name = 'Bonn'").count() == 1)
            #expect(try await context.fetch("house").sorted("city.name").all().count == 2)
        }
    }

    @Test(.database(.sql(schema))) func aKeyThatWasNeverValidatedIsLookedUp() async throws {
        try await withDatabase { database, context, other in
            // Row 2 references no row: it has no owner in any form of the question.
            for condition in ["owner = nil", "owner.id = nil", "owner.name = nil", "NOT owner != nil"] {
                let found = try await context.fetch("pet").where(condition).sorted("id").all().map { $0["id"] }
                #expect(found == [2, 3], "\(condition)")
            }
            #expect(try await context.fetch("pet").where("owner.id >= 1").count() == 1)
        }
    }

    @Test(.database(.sql(schema))) func manyChainedConditionsAreQuick() async throws {
        try await withDatabase { database, context, other in
            var request = try context.fetch("person")
            let clock = ContinuousClock()
            let time = try clock.measure {
                for number in 0..<400 { request = try request.where("id != %@", number + 10) }
            }
            // A fraction of a second; when each call rendered all conditions it was many.
            #expect(time < .seconds(20))
            #expect(try await request.count() == 2)
        }
    }
}
