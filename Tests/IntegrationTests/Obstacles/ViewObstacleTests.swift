import Kindred
import KindredTesting
import Testing

/// Views, partitions and cascades whose triggers and rules keep rows, or return them without a key.
@Suite struct ViewObstacleTests {
    private static let views = """
        CREATE TABLE base (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text);
        CREATE TABLE log (name text);
        CREATE VIEW silent AS SELECT id, name FROM base;
        CREATE VIEW keyless AS SELECT id, name FROM base;
        CREATE VIEW whole AS SELECT id, name FROM base;
        CREATE VIEW ruled AS SELECT id, name FROM base;
        CREATE VIEW nothing AS SELECT id, name FROM base;
        CREATE FUNCTION store() RETURNS trigger LANGUAGE plpgsql AS $$
        DECLARE
            stored base;
        BEGIN
            INSERT INTO log VALUES (TG_OP);
            IF TG_OP = 'INSERT' THEN
                INSERT INTO base (name) VALUES (NEW.name) RETURNING * INTO stored;
                IF TG_TABLE_NAME = 'whole' THEN NEW.id := stored.id; END IF;
            ELSIF TG_OP = 'UPDATE' THEN
                UPDATE base SET name = NEW.name WHERE id = OLD.id;
            ELSE
                DELETE FROM base WHERE id = OLD.id;
                IF TG_TABLE_NAME = 'silent' THEN RETURN NULL; END IF;
                RETURN OLD;
            END IF;
            IF TG_TABLE_NAME = 'silent' THEN RETURN NULL; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER store INSTEAD OF INSERT OR UPDATE OR DELETE ON silent FOR EACH ROW EXECUTE FUNCTION store();
        CREATE TRIGGER store INSTEAD OF INSERT OR UPDATE OR DELETE ON keyless FOR EACH ROW EXECUTE FUNCTION store();
        CREATE TRIGGER store INSTEAD OF INSERT OR UPDATE OR DELETE ON whole FOR EACH ROW EXECUTE FUNCTION store();
        CREATE RULE i AS ON INSERT TO ruled
            DO INSTEAD INSERT INTO base (name) VALUES (NEW.name) RETURNING base.id, base.name;
        CREATE RULE u AS ON UPDATE TO ruled DO INSTEAD UPDATE base SET name = NEW.name WHERE id = OLD.id RETURNING id, name;
        CREATE RULE d AS ON DELETE TO ruled DO INSTEAD DELETE FROM base WHERE id = OLD.id RETURNING id, name;
        CREATE RULE i AS ON INSERT TO nothing DO INSTEAD NOTHING;
        CREATE RULE u AS ON UPDATE TO nothing DO INSTEAD NOTHING;
        CREATE RULE d AS ON DELETE TO nothing DO INSTEAD INSERT INTO log VALUES ('instead');
        INSERT INTO base (name) VALUES ('a'), ('b');
        """

    @Test(.database(.sql(views))) func aViewStoresARowWithItsKeyOrNone() async throws {
        try await withDatabase { database, context, other in
            for view in ["silent", "keyless", "nothing"] {
                let error = await expectFailure(view) { try await context.create(view, ["name": "c"]) }
                #expect(error?.entity == "public.\(view)")
                #expect(try await other.value("SELECT count(*) FROM base") == 2, "\(view)")
                _ = try context.add(view, ["name": "c"])
                await expectFailure(view) { try await context.save() }
                context.rollback()
                #expect(try await other.value("SELECT count(*) FROM base") == 2, "\(view)")
            }
            #expect(try await other.value("SELECT count(*) FROM log") == 0)
            for view in ["whole", "ruled"] {
                let object = try await context.create(view, ["name": "c"])
                let id = try #require(object["id"])
                #expect(try await other.value("SELECT name FROM base WHERE id = \(id)") == "c", "\(view)")
                let staged = try context.add(view, ["name": "d"])
                try await context.save()
                #expect(try await other.value("SELECT name FROM base WHERE id = \(staged["id"])") == "d", "\(view)")
            }
        }
    }

    @Test(.database(.sql(views))) func aViewChangesAndDeletesARowOrNone() async throws {
        try await withDatabase { database, context, other in
            for view in ["silent", "nothing"] {
                let object = try await context.fetch(view).where("id = 2").one()
                await expectFailure(view) { try await object.setValue("new", forKey: "name") }
                await expectFailure(view) { try await context.delete(object) }
                let both = try await context.fetch(view).all()
                await expectFailure(view) { try await context.delete(both) }
                #expect(!object.isDeleted && object["name"] == "b", "\(view)")
            }
            #expect(try await other.values("SELECT name FROM base ORDER BY id") == ["a", "b"])
            #expect(try await other.value("SELECT count(*) FROM log") == 0)
            for (view, id) in [("whole", 1), ("ruled", 2)] {
                let object = try await context.fetch(view).where("id = %@", id).one()
                try await object.setValue("new", forKey: "name")
                #expect(try await other.value("SELECT name FROM base WHERE id = \(id)") == "new", "\(view)")
                if view == "whole" {
                    try await context.delete(object)
                    #expect(object.isDeleted)
                    #expect(try await other.value("SELECT count(*) FROM base") == 1)
                }
            }
        }
    }

    private static let moved = """
        CREATE TABLE part (id integer GENERATED ALWAYS AS IDENTITY, kind text, name text, PRIMARY KEY (id, kind))
            PARTITION BY LIST (kind);
        CREATE TABLE part_a PARTITION OF part FOR VALUES IN ('a');
        CREATE TABLE part_b PARTITION OF part FOR VALUES IN ('b');
        CREATE TABLE plain (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, kind text, name text);
        CREATE VIEW outer_view AS SELECT id, kind, name FROM plain;
        CREATE VIEW outermost AS SELECT id, kind, name FROM outer_view;
        CREATE TABLE elsewhere (name text);
        CREATE FUNCTION move() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO elsewhere VALUES (TG_OP); RETURN NULL; END $$;
        CREATE TRIGGER move BEFORE INSERT ON part_b FOR EACH ROW EXECUTE FUNCTION move();
        CREATE TRIGGER move BEFORE INSERT OR UPDATE OR DELETE ON plain FOR EACH ROW WHEN (pg_trigger_depth() = 0)
            EXECUTE FUNCTION move();
        INSERT INTO part (kind, name) VALUES ('a', 'one');
        ALTER TABLE plain DISABLE TRIGGER move;
        INSERT INTO plain (kind, name) VALUES ('a', 'one');
        ALTER TABLE plain ENABLE TRIGGER move;
        """

    @Test(.database(.sql(moved))) func triggersOfPartitionsAndBelowViewsKeepAllOrNothing() async throws {
        try await withDatabase { database, context, other in
            let part = try await context.fetch("part").one()
            await expectFailure("part") { try await context.create("part", ["kind": "b", "name": "two"]) }
            // The row goes to a partition that takes none.
            await expectFailure("part") { try await part.setValue("b", forKey: "kind") }
            for view in ["outer_view", "outermost"] {
                let object = try await context.fetch(view).one()
                await expectFailure(view) { try await context.create(view, ["name": "two"]) }
                await expectFailure(view) { try await object.setValue("new", forKey: "name") }
                await expectFailure(view) { try await context.delete(object) }
                #expect(!object.isDeleted && object["name"] == "one")
            }
            #expect(part["kind"] == "a" && !part.isDeleted)
            #expect(try await other.values("SELECT name FROM part UNION ALL SELECT name FROM plain") == ["one", "one"])
            #expect(try await other.value("SELECT count(*) FROM elsewhere") == 0)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE parent (id integer PRIMARY KEY);
                CREATE TABLE child (id integer PRIMARY KEY, parent integer REFERENCES parent ON DELETE CASCADE);
                CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN IF OLD.id = 2 THEN RETURN NULL; END IF; RETURN OLD; END $$;
                CREATE TRIGGER keep BEFORE DELETE ON child FOR EACH ROW EXECUTE FUNCTION keep();
                INSERT INTO parent VALUES (1), (2);
                INSERT INTO child VALUES (1, 1), (2, 1), (3, 2);
                """)))
    func aCascadeThatATriggerStopsDeletesNothing() async throws {
        try await withDatabase { database, context, other in
            let parents = try await context.fetch("parent").sorted("id").all()
            let children = try await context.fetch("child").sorted("id").all()
            await expectFailure("parent") { try await context.delete(parents) }
            #expect(!parents[0].isDeleted && !parents[1].isDeleted && children.filter(\.isDeleted) == [])
            #expect(try await other.value("SELECT count(*) FROM parent") == 2)
            #expect(try await other.value("SELECT count(*) FROM child") == 3)
            try await context.delete(parents[1])
            #expect(parents[1].isDeleted && children[2].isDeleted)
            // A request deletes what PostgreSQL deletes.
            #expect(try await context.fetch("child").delete() == 1)
            #expect(children.map(\.isDeleted) == [true, false, true])
            #expect(try await other.values("SELECT id FROM child") == [2])
        }
    }

    @discardableResult
    private func expectFailure(
        _ place: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
    ) async -> KindredError? {
        do {
            try await body()
            Issue.record("no error was thrown: \(place)", sourceLocation: sourceLocation)
        } catch let error as KindredError {
            return error
        } catch let error as PostgresError {
            // PostgreSQL itself refuses to return rows of such a rule.
            #expect(error.sqlState?.rawValue == "0A000", "\(place): \(error)", sourceLocation: sourceLocation)
            return KindredError(.constraintViolation, error.message, entity: "public.\(place)")
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
        return nil
    }
}
