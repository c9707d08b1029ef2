import Kindred
import KindredTesting
import Testing

/// Writes of objects that another client has changed since they were read are refused, and everything stays as it was.
@Suite struct OptimisticLockingTests {
    @Test(
        "D10: a stale value is refused with both versions", .database(.sql(lockingSchema)),
        arguments: Versioned.allCases)
    func aStaleValueIsRefusedWithBothVersions(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).where("id = 1").one()
            let theirs = try await database.makeContext().fetch(table.rawValue).where("id = 1").one()
            try await expectStatements(["UPDATE"]) { try await theirs.setValue("theirs", forKey: "name") }
            let read = mine[table.key]
            var error: KindredError?
            try await expectStatements(["UPDATE", "SELECT"]) {
                error = await expectError(.staleObject) { try await mine.setValue(5, forKey: "value") }
            }
            let conflict = try #require(error?.conflicts.first)
            #expect(error?.conflicts.count == 1 && error?.object === mine && conflict.object === mine)
            #expect(conflict.version == read && conflict.databaseVersion == theirs[table.key])
            #expect(conflict.version != conflict.databaseVersion && conflict.changedKeys == ["name"])
            #expect(mine["name"] == "name 1" && mine["value"] == 0 && mine[table.key] == read)
            #expect(try await other.value("SELECT value FROM \(identifier: table.rawValue) WHERE id = 1") == 0)
            try await mine.refresh()
            try await expectStatements(["UPDATE"]) { try await mine.setValue(5, forKey: "value") }
            // The next write expects the version that was written last.
            try await expectStatements(["UPDATE"]) { try await mine.setValue(6, forKey: "value") }
            #expect(mine["name"] == "theirs" && mine["value"] == 6)
        }
    }

    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func aSaveNamesEveryStaleObjectAndWritesNothing(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).sorted("id").all()
            let theirs = try await database.makeContext().fetch(table.rawValue).sorted("id").all()
            try await theirs[1].setValue("theirs", forKey: "name")
            try await theirs[2].setValue("theirs", forKey: "name")
            for object in mine { object["value"] = 7 }
            let owner = try await context.fetch("owner").where("id = 1").one()
            owner["name"] = "staged"
            let (_, recorder) = await recordingStatements {
                let error = await expectError(.staleObject) { try await context.save() }
                #expect(error?.conflicts.map(\.object) == [mine[1], mine[2]])
                #expect(error?.problems.map(\.object) == [mine[1], mine[2]])
            }
            #expect(recorder.statements.filter { $0.hasPrefix("SELECT") }.count == 1)
            #expect(mine.allSatisfy { $0.hasStagedChanges && $0["value"] == 7 } && owner.hasStagedChanges)
            let sum: SQL = "SELECT sum(value)::int FROM \(identifier: table.rawValue)"
            #expect(try await other.value(sum) == 0)
            try await mine[1].refresh()
            await expectError(.staleObject) { try await context.save() }
            try await mine[2].refresh()
            try await context.save()
            #expect(try await other.value(sum) == 28)
            #expect(mine.map { $0["name"] } == ["name 1", "theirs", "theirs", "name 4"])
            mine[0]["value"] = 8
            try await mine[0].save()
            #expect(try await other.value("SELECT name FROM owner WHERE id = 1") == "staged")
        }
    }

    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func readingTheRowAgainDoesNotHideAConflictButRefreshDoes(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).where("id = 1").one()
            mine["value"] = 1
            let theirs = try await database.makeContext().fetch(table.rawValue).where("id = 1").one()
            try await theirs.setValue(2, forKey: "value")
            _ = try await context.fetch(table.rawValue).all()
            let error = await expectError(.staleObject) { try await context.save() }
            #expect(error?.conflicts.first?.changedKeys == ["value"])
            try await mine.refresh()
            #expect(mine["value"] == 1)
            try await context.save()
            #expect(try await other.value("SELECT value FROM \(identifier: table.rawValue) WHERE id = 1") == 1)
            // A lock reads the row, so a write expects the version that it shows.
            try await theirs.context.transaction {
                try await theirs.lock()
                try await theirs.setValue(3, forKey: "value")
            }
        }
    }

    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func deletingAStaleObjectIsRefused(table: Versioned) async throws {
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).sorted("id").all()
            let theirs = try await database.makeContext().fetch(table.rawValue).where("id = 1").one()
            try await theirs.setValue("theirs", forKey: "name")
            try await expectStatements(["DELETE", "SELECT"]) {
                let error = await expectError(.staleObject) { try await context.delete(mine[0]) }
                #expect(error?.object === mine[0])
            }
            let error = await expectError(.staleObject) { try await context.delete(mine) }
            #expect(error?.conflicts.map(\.object) == [mine[0]])
            try context.stageDeletion(of: mine[0])
            await expectError(.staleObject) { try await context.save() }
            #expect(mine[0].isDeletionStaged && !mine[0].isDeleted)
            #expect(try await other.value("SELECT count(*) FROM \(identifier: table.rawValue)") == 4)
            try await mine[0].refresh()
            try await context.save()
            try await expectStatements(["DELETE"]) { try await context.delete(mine[1]) }
            try await context.delete(mine[2...])
            #expect(try await other.value("SELECT count(*) FROM \(identifier: table.rawValue)") == 0)
        }
    }

    @Test(.database(.sql(lockingSchema)), arguments: Versioned.allCases)
    func aRolledBackWriteLeavesTheVersionAsItWas(table: Versioned) async throws {
        struct Failure: Error {}
        try await withDatabase { database, context, other in
            let mine = try await context.fetch(table.rawValue).where("id = 1").one()
            let read = mine[table.key]
            await #expect(throws: Failure.self) {
                try await context.transaction {
                    try await mine.setValue(1, forKey: "value")
                    #expect(mine[table.key] != read)
                    try await mine.setValue(2, forKey: "value")
                    throw Failure()
                }
            }
            #expect(mine[table.key] == read)
            try await mine.setValue(3, forKey: "value")
            try await context.transaction {
                try await mine.setValue(4, forKey: "value")
                try await context.transaction { try await mine.setValue(5, forKey: "value") }
                try await mine.setValue(6, forKey: "value")
            }
            try await mine.setValue(7, forKey: "value")
        }
    }

    @Test(.database(.sql(lockingSchema))) func versionsBeginAtOneAndAreCountedNotSet() async throws {
        try await withDatabase { database, context, other in
            let made = try await context.create("counted", ["id": 10])
            let staged = try context.add("counted", ["id": 11])
            let copied = try await context.create("counted", ["id": 12, "version": 40])
            try await context.save()
            #expect(made["version"] == 1 && staged["version"] == 1)
            staged["value"] = 1
            copied["value"] = 1
            try await context.save()
            #expect(staged["version"] == 2 && copied["version"] == 41)
            try await expectStatements([]) { () async throws in
                await expectError(.readOnly) { try await made.setValue(9, forKey: "version") }
                made["version"] = 9
                await expectError(.readOnly) { try await context.save() }
            }
            made.rollback()
            let time = try await context.fetch("timed").where("id = 1").one()
            let before = try time.value(forKey: "changed_at", as: PostgresTimestamp.self)
            for value in 1...3 { try await time.setValue(value, forKey: "value") }
            let after = try time.value(forKey: "changed_at", as: PostgresTimestamp.self)
            #expect(try #require(before?.microsecondsSince2000) < #require(after?.microsecondsSince2000))
        }
    }

    @Test(
        .database(.sql("CREATE TABLE t (id integer PRIMARY KEY, name text, n integer NOT NULL DEFAULT 1)")),
        arguments: [
            SchemaOverride.column("n", of: "t", version: true), .table("t", optimisticLocking: .column("n")),
            .table("t", optimisticLocking: .xmin),
        ])
    func codeCanAskForIt(override: SchemaOverride) async throws {
        try await withDatabase(overrides: [override]) { database, context, other in
            let mine = try await context.create("t", ["id": 1])
            let theirs = try await database.makeContext().fetch("t").one()
            try await theirs.setValue("theirs", forKey: "name")
            await expectError(.staleObject) { try await mine.setValue("mine", forKey: "name") }
            let isHidden = override == .table("t", optimisticLocking: .xmin)
            #expect(Set(mine.dictionary.keys) == ["id", "name", "n"])
            #expect(mine.entity.attributes.contains(where: \.isHidden) == isHidden)
        }
    }

    @Test(
        "S12, D10: a row that is gone, or kept by a trigger, is not called stale",
        .database(
            .sql(
                """
                CREATE TABLE t (id integer PRIMARY KEY, n integer NOT NULL DEFAULT 1);
                COMMENT ON COLUMN t.n IS '@kindred {"version": true}';
                CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                CREATE TRIGGER keep BEFORE UPDATE ON t FOR EACH ROW EXECUTE FUNCTION keep();
                INSERT INTO t VALUES (1), (2);
                """)))
    func aRowThatIsGoneOrKeptByATriggerIsNotCalledStale() async throws {
        try await withDatabase { database, context, other in
            let rows = try await context.fetch("t").sorted("id").all()
            _ = try await other.query("DELETE FROM t WHERE id = 1")
            await expectError(.objectDeleted) { try await context.delete(rows[0]) }
            await expectError(.constraintViolation) { try await rows[1].setValue(5, forKey: "id") }
        }
    }
}
