import Kindred
import KindredTesting
import Testing

/// Pagila's payments: foreign keys on single partitions, none on the table.
///
/// The second partition has its columns in another order, the third one has no key, the fourth one partitions of its own.
private let pagila = """
    CREATE TABLE customer (customer_id integer PRIMARY KEY, name text);
    CREATE TABLE payment (payment_id integer, day date, customer_id integer NOT NULL, PRIMARY KEY (payment_id, day))
        PARTITION BY RANGE (day);
    CREATE TABLE payment_1 PARTITION OF payment FOR VALUES FROM ('2022-01-01') TO ('2022-02-01');
    CREATE TABLE payment_2 (customer_id integer NOT NULL, waste text, day date, payment_id integer);
    ALTER TABLE payment_2 DROP COLUMN waste, ADD PRIMARY KEY (payment_id, day);
    ALTER TABLE payment ATTACH PARTITION payment_2 FOR VALUES FROM ('2022-02-01') TO ('2022-03-01');
    CREATE TABLE payment_3 PARTITION OF payment FOR VALUES FROM ('2022-03-01') TO ('2022-04-01');
    CREATE TABLE payment_4 PARTITION OF payment FOR VALUES FROM ('2022-04-01') TO ('2022-05-01')
        PARTITION BY RANGE (day);
    CREATE TABLE payment_4a PARTITION OF payment_4 FOR VALUES FROM ('2022-04-01') TO ('2022-05-01');
    ALTER TABLE payment_1 ADD CONSTRAINT payment_1_customer FOREIGN KEY (customer_id) REFERENCES customer;
    ALTER TABLE payment_2 ADD CONSTRAINT payment_2_customer FOREIGN KEY (customer_id) REFERENCES customer
        ON DELETE RESTRICT;
    ALTER TABLE payment_4 ADD CONSTRAINT payment_4_customer FOREIGN KEY (customer_id) REFERENCES customer;
    INSERT INTO customer SELECT i FROM generate_series(1, 5) AS i;
    INSERT INTO payment VALUES (1, '2022-01-05', 1), (2, '2022-02-05', 1), (3, '2022-03-05', 1), (4, '2022-02-06', 2),
        (5, '2022-03-06', 3), (6, '2022-04-06', 4);
    """

/// Foreign keys that hold for single partitions make no relationship; deletions reckon with them all the same.
@Suite struct PartitionKeyTests {
    @Test(.database(.sql(pagila))) func aPlanListsTheRowsThatKeysOfPartitionsProtect() async throws {
        try await withDatabase { _, context, _ in
            let customers = try await context.fetch("customer").sorted("customer_id").all()
            func plan(_ number: Int) async throws -> [String] {
                try await context.deletionPlan(for: customers[number]).items.map { item in
                    let payments = item.objects.map { $0.values[0].description }.sorted().joined(separator: " ")
                    return "\(item.entity.name) \(payments) \(item.rule.map { "\($0)" } ?? "-") \(item.constraints)"
                }
            }
            let constraints = ["payment_1_customer", "payment_2_customer", "payment_4_customer"]
            #expect(try await plan(0) == ["customer 1 - []", "payment 1 2 noAction \(constraints)"])
            #expect(try await plan(1) == ["customer 2 - []", "payment 4 noAction \(constraints)"])
            #expect(try await plan(2) == ["customer 3 - []"])
            #expect(try await plan(3) == ["customer 4 - []", "payment 6 noAction \(constraints)"])
            let all = try await context.fetch("payment").all() + customers
            #expect(try await context.deletionPlan(for: all).items.map(\.rule) == [nil, nil])
        }
    }

    @Test(.database(.sql(pagila))) func aRefusalNamesObjectEntityAndConstraint() async throws {
        try await withDatabase { database, context, other in
            let customers = try await context.fetch("customer").sorted("customer_id").all()
            for (number, constraint) in [(1, "payment_2_customer"), (3, "payment_4_customer")] {
                let error = await expectError(.deletionDenied) { try await context.delete(customers[number]) }
                #expect(error?.constraint == constraint && error?.entity == "public.customer")
                let message =
                    "kindred:/public/customer?customer_id=\(number + 1) cannot be deleted: rows of public.payment"
                #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
                #expect(error?.message.contains("\"\(constraint)\"") == true)
            }
            // The error names the object that is referred to, among several.
            let error = await expectError(.deletionDenied) { try await context.delete(customers.suffix(4)) }
            #expect(
                error?.message.contains("customer_id=2 cannot") == true || error?.message.contains("=4 cannot") == true)
            let byCondition = await expectError(.deletionDenied) {
                try await context.fetch("customer").where("customer_id IN {4, 5}").delete()
            }
            #expect(byCondition?.message.hasPrefix("kindred:/public/customer?customer_id=4 cannot") == true)
            try await context.delete([customers[2], customers[4]])
            #expect(try await other.values("SELECT customer_id FROM customer ORDER BY 1") == [1, 2, 4])
        }
    }

    @Test(
        .database(
            .sql(
                pagila + """
                    ALTER TABLE payment_1 DROP CONSTRAINT payment_1_customer,
                        ADD FOREIGN KEY (customer_id) REFERENCES customer ON DELETE CASCADE;
                    """)))
    func memoryFollowsWhatAKeyOfAPartitionDoes() async throws {
        try await withDatabase { _, context, other in
            let payments = try await context.fetch("payment").sorted("payment_id").all()
            let customers = try await context.fetch("customer").sorted("customer_id").all()
            try await context.delete(payments[1])
            try await expectStatements(["DELETE", "SELECT"]) { () async throws in
                try await context.delete(customers[0])
            }
            #expect(payments.map(\.isDeleted) == [true, true, false, false, false, false])
            try await expectStatements(["DELETE"]) { () async throws in try await context.delete(customers[4]) }
            #expect(try await other.value("SELECT count(*) FROM payment") == 4)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE event (id integer, region text, PRIMARY KEY (id, region)) PARTITION BY LIST (region);
                CREATE TABLE event_north PARTITION OF event FOR VALUES IN ('north');
                CREATE TABLE event_south PARTITION OF event FOR VALUES IN ('south');
                ALTER TABLE event_north ADD UNIQUE (id);
                CREATE TABLE note (id integer PRIMARY KEY, event_id integer REFERENCES event_north (id));
                CREATE TABLE visit (id integer PRIMARY KEY, event_id integer, region text,
                    FOREIGN KEY (event_id, region) REFERENCES event);
                INSERT INTO event VALUES (1, 'north'), (1, 'south'), (2, 'north'), (2, 'south');
                INSERT INTO note VALUES (7, 1);
                INSERT INTO visit VALUES (8, 2, 'south');
                """)))
    func keysToSinglePartitionsCountForThoseOnly() async throws {
        try await withDatabase { _, context, _ in
            let events = try await context.fetch("event").sorted("id").sorted("region").all()
            let plan = try await context.deletionPlan(for: events[0])
            #expect(plan.items.map(\.entity.name) == ["event", "note"] && plan.items.last?.rule == .noAction)
            #expect(plan.items.last?.constraints == ["note_event_id_fkey"])
            #expect(try await context.deletionPlan(for: events[1]).items.count == 1)
            let error = await expectError(.deletionDenied) { try await context.delete(events[0]) }
            // The key refers to a column that does not tell events apart, and one event was to be deleted.
            #expect(
                error?.message.hasPrefix("kindred:/public/event?id=1&region=north cannot be deleted: rows of") == true)
            #expect(error?.constraint == "note_event_id_fkey" && error?.entity == "public.event")
            // A part of a key to a partitioned table has a name of its own.
            let parts = await expectError(.deletionDenied) { try await context.delete([events[1], events[3]]) }
            #expect(parts?.message.hasPrefix("kindred:/public/event?id=2&region=south cannot be deleted") == true)
            #expect(parts?.key == "visitSet" && parts?.constraint != nil && parts?.entity == "public.event")
            try await context.delete([events[1], events[2]])
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TABLE thing (id integer PRIMARY KEY, code text UNIQUE);
                CREATE TABLE tag (id integer PRIMARY KEY, code text REFERENCES thing (code));
                CREATE TABLE part (id integer PRIMARY KEY, thing_id integer REFERENCES thing ON DELETE CASCADE);
                CREATE TABLE screw (id integer PRIMARY KEY, part_id integer REFERENCES part);
                CREATE TABLE late (id integer PRIMARY KEY,
                    thing_id integer REFERENCES thing DEFERRABLE INITIALLY DEFERRED);
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN RAISE EXCEPTION 'not this one' USING ERRCODE = 'foreign_key_violation'; END $$;
                CREATE TRIGGER refuse BEFORE DELETE ON thing FOR EACH ROW WHEN (OLD.id = 9) EXECUTE FUNCTION refuse();
                INSERT INTO thing SELECT i, 'c' || i FROM generate_series(1, 9) AS i;
                INSERT INTO tag VALUES (1, 'c1');
                INSERT INTO part VALUES (20, 2);
                INSERT INTO screw VALUES (1, 20);
                INSERT INTO late VALUES (1, 3);
                """)))
    func everyRefusalNamesWhatItCan() async throws {
        try await withDatabase { _, context, _ in
            let things = try await context.fetch("thing").sorted("id").all()
            func message(_ objects: [DatabaseObject]) async -> String {
                await expectError(.deletionDenied) { try await context.delete(objects) }?.message ?? ""
            }
            let thing = "kindred:/public/thing?id="
            #expect(
                await message([things[0]]).hasPrefix("\(thing)1 cannot be deleted: objects of public.tag are still in"))
            #expect(
                await message([things[0], things[4]]).hasPrefix(
                    "One of the objects of public.thing (\(thing)1, \(thing)5)"))
            // The database has taken the part with its thing.
            #expect(
                await message([things[1]]).hasPrefix(
                    "kindred:/public/part?id=20 cannot be deleted: objects of public.screw"))
            #expect(
                await message([things[2], things[3]]).hasPrefix("\(thing)3 cannot be deleted: objects of public.late"))
            let refused = await expectError(.deletionDenied) { try await context.delete(things[8]) }
            let reason = "\(thing)9 cannot be deleted: the server reports a foreign-key violation"
            #expect(refused?.message.hasPrefix(reason) == true)
            #expect(refused?.entity == "public.thing" && refused?.constraint == nil)
            #expect(refused?.message.contains("?\"") == false)
        }
    }
}
