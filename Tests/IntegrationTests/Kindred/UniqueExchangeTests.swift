import Kindred
import KindredTesting
import Testing

/// Objects that take each other's unique values in one save.
@Suite struct UniqueExchangeTests {
    private static let schema = """
        CREATE TABLE seat (
            id integer PRIMARY KEY, name text UNIQUE, number integer NOT NULL,
            place integer NOT NULL, UNIQUE (number) DEFERRABLE, CONSTRAINT one_place UNIQUE (place));
        INSERT INTO seat SELECT i, 'seat ' || i, i, i FROM generate_series(1, 3) AS i;
        """

    @Test(.database(.sql(schema))) func valuesThatMayBeNullAreGivenUpFirst() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            for (position, seat) in seats.enumerated() {
                seat["name"] = .string("seat \(position == 2 ? 1 : position + 2)")
            }
            try await expectStatements(["UPDATE", "UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT name FROM seat ORDER BY id") == ["seat 2", "seat 3", "seat 1"])
            // A new object may take what another one gives up.
            seats[0]["name"] = "another"
            try context.insert("seat", ["id": 4, "name": "seat 2", "number": 4, "place": 4])
            try await context.save()
            #expect(
                try await other.values("SELECT name FROM seat WHERE id IN (1, 4) ORDER BY id") == ["another", "seat 2"])
            // Without an exchange there is nothing to give up.
            seats[0]["name"] = "free"
            try await expectStatements(["UPDATE"]) { try await context.save() }
        }
    }

    @Test(.database(.sql(schema))) func aDeferrableConstraintNeedsNoHelp() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            seats[0]["number"] = 2
            seats[1]["number"] = 1
            try await expectStatements(["UPDATE"]) { try await context.save() }
            #expect(try await other.values("SELECT number FROM seat ORDER BY id") == [2, 1, 3])
        }
    }

    @Test(.database(.sql(schema))) func requiredValuesAreRefusedWithAdvice() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            seats[0]["place"] = 2
            seats[1]["place"] = 1
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.constraint == "one_place" && error?.message.contains("DEFERRABLE") == true)
            #expect(seats[0].hasChanges && seats[1].hasChanges)
            seats[1].rollback()
            let alone = await expectError(.constraintViolation) { try await context.save() }
            #expect(alone?.message.contains("DEFERRABLE") == false && alone?.object === seats[0])
        }
    }
}
