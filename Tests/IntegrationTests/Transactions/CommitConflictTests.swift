import Kindred
import KindredTesting
import Testing

/// Serialization failures that a trigger raises, in the middle of a transaction or not before COMMIT.
@Suite struct CommitConflictTests {
    /// Two updates of a person fail, the third succeeds: a sequence counts on when a transaction is rolled back.
    private static let schema =
        referenceSchema + """
            CREATE SEQUENCE raised;
            CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF nextval('raised') <= 2 THEN RAISE SQLSTATE '40001'; END IF;
                    RETURN NULL;
                END $$;
            CREATE CONSTRAINT TRIGGER conflict AFTER UPDATE ON person DEFERRABLE INITIALLY IMMEDIATE
                FOR EACH ROW EXECUTE FUNCTION conflict();
            """

    @Test(.database(.sql(schema)), arguments: ["DEFERRED", "IMMEDIATE"])
    func isRepeatedWhenAsked(time: String) async throws {
        try await withDatabase { database, context, other in
            let ann = try #require(try await context.find("person", 1))
            var seen: [PostgresValue?] = []
            try await context.transaction(retry: .attempts(3)) {
                try await context.query(SQL(unsafeRaw: "SET CONSTRAINTS conflict \(time)"))
                seen.append(ann["firstname"])
                try await ann.setValue("Attempt \(seen.count)", forKey: "firstname")
            }
            #expect(seen == ["Ann", "Ann", "Ann"] && ann["firstname"] == "Attempt 3")
            #expect(try await other.value("SELECT firstname FROM person WHERE id = 1") == "Attempt 3")
            #expect(try await other.value("SELECT last_value FROM raised") == 3)
        }
    }
}
