import Kindred
import KindredTesting
import Testing

/// Refusals as a distributed server words them: with the names of a shard, or without fields.
@Suite struct ShardErrorTests {
    private static let schema = """
        CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL UNIQUE);
        CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                IF NEW.name = 'fields' THEN
                    RAISE 'duplicate key value violates unique constraint "person_name_key_102008"'
                        USING ERRCODE = '23505', DETAIL = 'Key (name)=(fields) already exists.', SCHEMA = 'public',
                            TABLE = 'person_102008', CONSTRAINT = 'person_name_key_102008';
                ELSIF NEW.name = 'message' THEN
                    RAISE 'duplicate key value violates unique constraint "person_name_key_102008"'
                        USING ERRCODE = '23505', DETAIL = 'Key (name)=(message) already exists.';
                ELSIF NEW.name = 'null' THEN
                    RAISE 'null value in column "name" of relation "person_102008" violates not-null constraint'
                        USING ERRCODE = '23502';
                END IF;
                RETURN NEW;
            END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON person FOR EACH ROW EXECUTE FUNCTION refuse();
        """

    @Test(.database(.sql(schema)), arguments: ["fields", "message"])
    func objectAndKeyAreFound(name: String) async throws {
        try await withDatabase { _, context, _ in
            try context.add("person", ["id": 1, "name": "taken"])
            let refused = try context.add("person", ["id": 2, "name": name])
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.key == "name" && error?.constraint == "person_name_key")
            #expect(error?.problems.map(\.object) == [refused])
            // The cause is the server's own error.
            #expect(error?.underlying?.server?.message.contains("person_name_key_102008") == true)
        }
    }

    @Test(.database(.sql(schema))) func aMissingValueIsFound() async throws {
        try await withDatabase { _, context, _ in
            let error = await expectError(.missingValue) {
                try await context.create("person", ["id": 1, "name": "null"])
            }
            #expect(error?.key == "name" && error?.message.contains("person.name may not be NULL") == true)
        }
    }
}
