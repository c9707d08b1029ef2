import Kindred
import KindredTesting
import Testing

/// `create(…, unlessExists:)` where a trigger changes the value by which rows conflict.
@Suite struct KeptKeyTests {
    private static let schema = """
        CREATE TABLE person (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, email text UNIQUE, name text,
            changes integer NOT NULL DEFAULT 0);
        CREATE TABLE attempt (email text);
        CREATE FUNCTION fold() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.email = 'skip' THEN INSERT INTO attempt VALUES (NEW.email); RETURN NULL; END IF;
            NEW.email := lower(NEW.email);
            IF TG_OP = 'UPDATE' THEN NEW.changes := OLD.changes + 1; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER fold BEFORE INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION fold();
        INSERT INTO person (email, name) VALUES ('ann@x', 'Ann'), ('bob@x', 'Bob');
        """

    @Test(.database(.sql(schema)), arguments: [false, true])
    func theExistingRowIsReturned(inTransaction: Bool) async throws {
        try await withDatabase { database, context, other in
            func run<T>(_ body: () async throws -> T) async throws -> T {
                try await inTransaction ? context.transaction(body) : body()
            }
            let ann = try await context.fetch("person").where("name = 'Ann'").one()
            let found = try await run {
                try await context.create("person", ["email": "Ann@X", "name": "new"], unlessExists: "email")
            }
            #expect(found === ann && found["name"] == "Ann")
            let rows: [[String: (any PropertyValue)?]] = ["BOB@x", "Cid@X", "ann@x", "Ann@x", "CID@x"].map {
                ["email": $0, "name": "new"]
            }
            let all = try await run { try await context.create("person", rows, unlessExists: "email") }
            #expect(all.map { $0["email"] } == ["bob@x", "cid@x", "ann@x", "ann@x", "cid@x"])
            #expect(all[2] === ann && all[3] === ann && all[1] === all[4])
            let stored = try await other.values(
                "SELECT email || ' ' || name || ' ' || changes FROM person ORDER BY email")
            #expect(stored == ["ann@x Ann 0", "bob@x Bob 0", "cid@x new 0"])
        }
    }

    @Test(.database(.sql(schema)), arguments: [false, true])
    func aRowThatATriggerSkipsIsAnErrorWithoutEffects(inTransaction: Bool) async throws {
        try await withDatabase { database, context, other in
            let rows: [[String: (any PropertyValue)?]] = ["new@x", "skip", "Ann@X"].map {
                ["email": $0, "name": "new"]
            }
            await expectError(.constraintViolation) {
                if inTransaction {
                    try await context.transaction {
                        await expectError(.constraintViolation) {
                            try await context.create("person", rows, unlessExists: "email")
                        }
                        #expect(try await context.fetch("person").count() == 2)
                        try await context.create("person", rows, unlessExists: "email")
                    }
                } else {
                    try await context.create("person", rows, unlessExists: "email")
                }
            }
            let emails = try await other.values("SELECT email FROM person ORDER BY email")
            #expect(emails == ["ann@x", "bob@x"])
            #expect(try await other.value("SELECT count(*) FROM attempt") == 0)
        }
    }

    @Test(.database(.sql(schema))) func theUsualCaseTakesOneStatement() async throws {
        try await withDatabase { database, context, other in
            try await expectStatements(["WITH"]) {
                try await context.create("person", ["email": "New@x"], unlessExists: "email")
            }
            try await expectStatements(["WITH", "SELECT"]) {
                try await context.create("person", ["email": "ann@x"], unlessExists: "email")
            }
            #expect(try await other.value("SELECT count(*) FROM person") == 3)
        }
    }
}
