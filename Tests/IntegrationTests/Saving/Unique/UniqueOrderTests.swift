import Kindred
import KindredTesting
import Testing

/// In which order a save writes rows whose unique values go from one to another, and the constraints that it defers.
@Suite struct UniqueOrderTests {
    private static let seats = """
        CREATE TABLE seat (
            id integer PRIMARY KEY, number integer NOT NULL, CONSTRAINT "one Number" UNIQUE (number) DEFERRABLE,
            place integer NOT NULL UNIQUE, note text);
        INSERT INTO seat SELECT i, i, i FROM generate_series(1, 12) AS i;
        """

    @Test(.database(.sql(seats))) func aDeferrableConstraintIsDeferredForManyStatements() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            seats[0]["number"] = 2
            seats[1]["number"] = 1
            seats[1]["note"] = "changed"
            let set = #"SET CONSTRAINTS "public"."one Number" "#
            try await expectStatements([set + "DEFERRED", "UPDATE", "UPDATE", set + "IMMEDIATE"]) {
                try await context.save()
            }
            #expect(try await other.values("SELECT number FROM seat WHERE id < 3 ORDER BY id") == [2, 1])
            // A new row takes the value of a changed row, and another new row the value of a deleted row.
            seats[2]["number"] = 30
            try context.add("seat", ["id": 13, "number": 3, "place": 13])
            try context.stageDeletion(of: seats[3])
            try context.add("seat", ["id": 14, "number": 4, "place": 14])
            try await context.save()
            #expect(
                try await other.values("SELECT number FROM seat WHERE id IN (3, 13, 14) ORDER BY id") == [30, 3, 4])
            // Values that collide in the end are refused when they are checked, and nothing stays deferred in a
            // transaction.
            seats[4]["number"] = 6
            seats[6]["note"] = "changed"
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.constraint == "one Number")
            seats[4].rollback()
            try await context.transaction {
                seats[4]["number"] = 6
                seats[5]["number"] = 5
                seats[5]["note"] = "changed"
                try await context.save()
                await #expect(throws: (any Error).self) {
                    try await context.transaction { try await context.query("UPDATE seat SET number = 1 WHERE id = 6") }
                }
            }
            #expect(try await other.values("SELECT number FROM seat WHERE id IN (5, 6) ORDER BY id") == [6, 5])
        }
    }

    @Test(.database(.sql(seats))) func requiredValuesMoveUpAChain() async throws {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            for (position, seat) in seats.enumerated() { seat["place"] = .integer(Int64(position + 2)) }
            try await expectStatements(Array(repeating: "UPDATE", count: 12)) { try await context.save() }
            #expect(try await other.values("SELECT count(*) FROM seat WHERE place = id + 1") == [12])
            // The keys too.
            for seat in seats { seat["id"] = .integer(seat.integer("id") + 1) }
            try await context.save()
            #expect(try await other.values("SELECT count(*) FROM seat WHERE place = id") == [12])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE seat (id integer PRIMARY KEY, name text UNIQUE);
                INSERT INTO seat SELECT i, i FROM generate_series(1, 12) AS i;
                """))) func aLongChainOfValuesThatMayBeNullTakesTwoStatements() async throws
    {
        try await withDatabase { database, context, other in
            let seats = try await context.fetch("seat").sorted("id").all()
            for (position, seat) in seats.enumerated() { seat["name"] = .string("\(position + 2)") }
            let (_, recorder) = try await recordingStatements { try await context.save() }
            #expect(recorder.statements.count <= SaveLimits.maximumUpdates + 2)
            #expect(try await other.values("SELECT count(*) FROM seat WHERE name::integer = id + 1") == [12])
        }
    }

    private enum SaveLimits { static let maximumUpdates = 8 }

    private static let keys = """
        CREATE TABLE key (id integer PRIMARY KEY, code text, UNIQUE NULLS NOT DISTINCT (code));
        INSERT INTO key VALUES (1, 'a'), (2, 'b'), (3, 'c'), (4, 'd');
        CREATE TABLE mail (
            id integer PRIMARY KEY, address text NOT NULL, deleted_at timestamptz, state text NOT NULL DEFAULT 'open');
        CREATE UNIQUE INDEX one_address ON mail (address) WHERE deleted_at IS NULL AND state = 'open';
        CREATE TABLE job (id integer PRIMARY KEY, code text NOT NULL, level integer NOT NULL);
        CREATE UNIQUE INDEX one_code ON job (code) WHERE level > 5;
        INSERT INTO job VALUES (1, 'a', 9), (2, 'b', 9);
        INSERT INTO mail VALUES (1, 'a', NULL), (2, 'b', NULL), (3, 'c', now());
        """

    @Test(.database(.sql(keys))) func nullsThatAreNotDistinctAreGivenOneAfterTheOther() async throws {
        try await withDatabase { database, context, other in
            let keys = try await context.fetch("key").sorted("id").all()
            for (key, code) in zip(keys, ["b", "a", "d", "c"]) { key["code"] = .string(code) }
            try await context.save()
            #expect(try await other.values("SELECT code FROM key ORDER BY id") == ["b", "a", "d", "c"])
            try await other.query("INSERT INTO key VALUES (5, NULL)")
            keys[0]["code"] = "a"
            keys[1]["code"] = "b"
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.constraint == "key_code_key")
        }
    }

    @Test(.database(.sql(keys))) func aPartialIndexHoldsItsRowsOnly() async throws {
        try await withDatabase { database, context, other in
            let mails = try await context.fetch("mail").sorted("id").all()
            // One is marked as deleted, and a new one takes its address.
            mails[0]["deleted_at"] = mails[2]["deleted_at"]
            try context.add("mail", ["id": 4, "address": "a", "state": "open"])
            try await context.save()
            #expect(try await other.values("SELECT count(*) FROM mail WHERE address = 'a'") == [2])
            // The address goes back: the holder is closed first.
            let fourth = try #require(await context.find("mail", 4))
            fourth["state"] = "closed"
            mails[0]["deleted_at"] = nil
            try await context.save()
            #expect(
                try await other.values("SELECT state FROM mail WHERE address = 'a' ORDER BY id") == ["open", "closed"])
            mails[0]["address"] = "b"
            mails[1]["address"] = "a"
            let error = await expectError(.constraintViolation) { try await context.save() }
            #expect(error?.message.contains("partial index") == true && error?.constraint == "one_address")
        }
    }

    /// The condition says more than a row can be asked: whatever changes may leave the index.
    @Test(.database(.sql(keys))) func aRowThatMayLeaveAPartialIndexIsWrittenFirst() async throws {
        try await withDatabase { database, context, other in
            let jobs = try await context.fetch("job").sorted("id").all()
            jobs[0]["level"] = 1
            try context.add("job", ["id": 3, "code": "a", "level": 9])
            try await expectStatements(["UPDATE", "INSERT"]) { try await context.save() }
            #expect(try await other.values("SELECT level FROM job ORDER BY id") == [1, 9, 9])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE list (id integer PRIMARY KEY);
                CREATE TABLE part (
                    id integer PRIMARY KEY, list_id integer NOT NULL CONSTRAINT part_list REFERENCES list,
                    position integer NOT NULL, UNIQUE (list_id, position));
                COMMENT ON CONSTRAINT part_list ON part IS '@kindred {"inverse": "parts", "orderedBy": "position"}';
                INSERT INTO list VALUES (1), (2);
                INSERT INTO part VALUES (1, 1, 1), (2, 1, 2);
                """)))
    func aNewMemberTakesThePositionOfOneThatMovesToANewOwner() async throws {
        try await withDatabase { database, context, other in
            let list = try #require(await context.find("list", 1))
            let parts = try await context.fetch("part").sorted("id").all()
            let new = try context.add("list", ["id": 3])
            try await parts[1].setValue(new, forKey: "list")
            let added = try context.add("part", ["id": 3])
            try await list.set(forKey: "parts").append(added)
            #expect(added["position"] == 2)
            try await context.save()
            let stored = try await other.values("SELECT concat_ws(' ', list_id, position) FROM part ORDER BY id")
            #expect(stored == ["1 1", "3 2", "1 2"])
            // Given its owner by its key, a new member comes last too, in sets that are loaded and in others.
            let last = try context.add("part", ["id": 4, "list": list])
            let second = try #require(await context.find("list", 2))
            for id in 5...6 { try context.add("part", ["id": id, "list": second]) }
            try await context.save()
            #expect(last["position"] == 3)
            let rest = try await other.values(
                "SELECT concat_ws(' ', list_id, position) FROM part WHERE id > 3 ORDER BY id")
            #expect(rest == ["1 3", "2 1", "2 2"])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE page (id integer PRIMARY KEY, text text);
                COMMENT ON TABLE page IS '@kindred {"optimisticLocking": "xmin"}';
                INSERT INTO page SELECT generate_series(1, 3);
                """))) func conflictsNameStaleDeletionsToo() async throws
    {
        try await withDatabase { database, context, other in
            let pages = try await context.fetch("page").sorted("id").all()
            try await other.query("UPDATE page SET text = 'other'")
            pages[0]["text"] = "own"
            try context.stageDeletion(of: pages[1])
            pages[2]["text"] = "own"
            let error = await expectError(.staleObject) { try await context.save() }
            #expect(Set(error?.conflicts.map(\.object) ?? []) == Set(pages))
        }
    }

    /// By value: a row leaves a key before it changes, and others refer to the new one after that.
    @Test(
        .database(
            .sql(
                """
                CREATE TABLE kind (code text PRIMARY KEY);
                CREATE TABLE item (
                    id integer PRIMARY KEY, kind_code text NOT NULL REFERENCES kind, twin_code text REFERENCES kind);
                INSERT INTO kind VALUES ('a'), ('b');
                INSERT INTO item VALUES (1, 'a'), (2, 'b');
                """))) func aReferencedKeyChangesBetweenThoseThatLeaveAndThoseThatCome() async throws
    {
        try await withDatabase { database, context, other in
            let items = try await context.fetch("item").sorted("id").all()
            let kind = try #require(await context.find("kind", "a"))
            items[1]["twin_code"] = "x"
            try context.add("item", ["id": 3, "kind_code": "x"])
            kind["code"] = "x"
            items[0]["kind_code"] = "b"
            try await expectStatements(["UPDATE", "UPDATE", "INSERT", "UPDATE"]) { try await context.save() }
            let stored = try await other.values("SELECT concat_ws(' ', kind_code, twin_code) FROM item ORDER BY id")
            #expect(stored == ["b", "b x", "x"])
            #expect(try await context.find("kind", "x") === kind && !context.hasStagedChanges)
        }
    }
}

extension DatabaseObject {
    fileprivate func integer(_ key: String) -> Int64 {
        if case .integer(let value) = self[key] { value } else { 0 }
    }
}
