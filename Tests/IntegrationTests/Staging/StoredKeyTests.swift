import Kindred
import KindredTesting
import Testing

/// Parents whose keys the server changes when it stores them, and a parent whose key it keeps.
private let parents = """
    CREATE FUNCTION fold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NEW.key := upper(NEW.key); RETURN NEW; END $$;
    CREATE TABLE plain (key text PRIMARY KEY);
    CREATE TABLE plain_child (id int PRIMARY KEY, parent text NOT NULL CONSTRAINT owner__children REFERENCES plain);
    CREATE TABLE folded (key text PRIMARY KEY, after text CONSTRAINT next__previous REFERENCES folded);
    CREATE TRIGGER fold BEFORE INSERT ON folded FOR EACH ROW EXECUTE FUNCTION fold();
    CREATE TABLE folded_child (id int PRIMARY KEY, parent text NOT NULL CONSTRAINT owner__children REFERENCES folded);
    CREATE TABLE rounded (key timestamp(0) PRIMARY KEY);
    CREATE TABLE rounded_child (
        id int PRIMARY KEY, parent timestamp NOT NULL CONSTRAINT owner__children REFERENCES rounded);
    CREATE DOMAIN second AS timestamp(0);
    CREATE TABLE domained (key second PRIMARY KEY);
    CREATE TABLE domained_child (
        id int PRIMARY KEY, parent timestamp NOT NULL CONSTRAINT owner__children REFERENCES domained);
    CREATE TABLE cut (key varchar(3) PRIMARY KEY);
    CREATE TABLE cut_child (id int PRIMARY KEY, parent text NOT NULL CONSTRAINT owner__children REFERENCES cut);
    CREATE VIEW shown AS SELECT key FROM folded;
    """

/// References by object follow the key that is stored, whatever the program gave and whenever it changes.
@Suite struct StoredKeyTests {
    @Test("a new child of a new parent whose key the server changes refers to the stored one", .database(.sql(parents)))
    func newParents() async throws {
        try await withDatabase { database, context, other in
            let cases: [(parent: String, child: String, key: String, given: any PropertyValue, stored: String)] = [
                ("plain", "plain_child", "owner", "abc", "abc"),
                ("folded", "folded_child", "owner", "abc", "ABC"),
                (
                    "rounded", "rounded_child", "owner", try #require(PostgresTimestamp("2026-01-02 03:04:05.6")),
                    "2026-01-02 03:04:06"
                ),
                (
                    "domained", "domained_child", "owner", try #require(PostgresTimestamp("2026-01-02 03:04:05.6")),
                    "2026-01-02 03:04:06"
                ),
                ("cut", "cut_child", "owner", "abc  ", "abc"),
                ("shown", "folded_child", "shown", "view", "VIEW"),
            ]
            for (number, test) in cases.enumerated() {
                let parent = try context.add(test.parent, ["key": test.given])
                let child = try context.add(test.child, ["id": number, test.key: parent])
                try await expectStatements(["INSERT", "INSERT"]) { () async throws in try await context.save() }
                let stored = try await other.value(
                    "SELECT parent::text FROM \(identifier: test.child) WHERE id = \(number)")
                #expect(stored == .string(test.stored), "\(test.parent)")
                #expect(try await child.object(forKey: test.key) === parent, "\(test.parent)")
                #expect(child["parent"] == parent["key"], "\(test.parent)")
            }
            // A row that refers to itself, and a row that refers to the next.
            let own = try context.add("folded", ["key": "own"])
            try await own.setValue(own, forKey: "next")
            let before = try context.add("folded", ["key": "before", "next": own])
            try await context.save()
            #expect(
                try await other.values("SELECT after FROM folded WHERE key IN ('OWN', 'BEFORE') ORDER BY key")
                    == ["OWN", "OWN"])
            #expect(try await before.object(forKey: "next") === own)
        }
    }

    @Test("a child that is staged beside a parent whose key changes at once follows it", .database(.sql(renamed)))
    func changedKeys() async throws {
        try await withDatabase { database, context, other in
            let parent = try await context.get("parent", 1)
            let new = try context.add("child", ["id": 10, "owner": parent])
            let changed = try await context.get("child", 2)
            changed["code"] = "a"
            let elsewhere = try context.add("child", ["id": 11, "code": "z"])
            await fail(context) {
                try await parent.setValue("c", forKey: "code")
                #expect(new["code"] == "c" && changed["code"] == "c")
            }
            #expect(new["code"] == "a" && changed["code"] == "a")
            try await parent.setValue("b", forKey: "code")
            #expect(new["code"] == "b" && changed["code"] == "b" && elsewhere["code"] == "z")
            #expect(try await parent.set(forKey: "children").objects.count == 2)
            try await context.save()
            #expect(
                try await other.values("SELECT code FROM child ORDER BY id") == ["b", "b", "z"])
            // Staged with the key that its parent gives up in the same save.
            try await parent.set(forKey: "children").removeAll()
            let later = try context.add("kept", ["id": 1, "owner": parent])
            let moved = try await context.get("kept", 2)
            moved["code"] = "b"
            parent["code"] = "d"
            try await context.save()
            #expect(try await other.values("SELECT code FROM kept ORDER BY id") == ["d", "d"])
            #expect(later["code"] == "d" && moved["code"] == "d")
        }
    }

    private static let renamed = """
        CREATE TABLE parent (id int PRIMARY KEY, code text NOT NULL UNIQUE);
        CREATE TABLE child (
            id int PRIMARY KEY, code text CONSTRAINT owner__children REFERENCES parent (code) DEFERRABLE);
        CREATE TABLE kept (id int PRIMARY KEY, code text CONSTRAINT owner__kept REFERENCES parent (code) ON UPDATE CASCADE);
        INSERT INTO parent VALUES (1, 'a'), (2, 'z');
        INSERT INTO child VALUES (2, NULL);
        INSERT INTO kept VALUES (2, NULL);
        """
}
