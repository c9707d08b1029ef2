import Kindred
import KindredTesting
import Testing

/// Composite keys that share a tenant column, required references, payload, and tables that reference themselves.
@Suite struct CompositeAndRequiredTests {
    @Test(.database(.sql(shopSchema))) func leavingACompositeKeyNullsItsOwnColumnsOnly() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("customer").where("tenant = 1 AND id = 1").one()
            let bob = try await context.fetch("customer").where("tenant = 1 AND id = 2").one()
            let purchases = try await ann.set(forKey: "purchaseSet")
            let first = try #require(try await purchases.objects.first { $0["id"] == 1 })
            try await purchases.remove(first)
            #expect(try await other.value("SELECT tenant FROM purchase WHERE tenant = 1 AND id = 1") == 1)
            #expect(try await other.value("SELECT customer_id FROM purchase WHERE tenant = 1 AND id = 1") == nil)
            #expect(try await first.object(forKey: "customer") == nil)
            try await first.setValue(bob, forKey: "customer")
            #expect(try await other.value("SELECT customer_id FROM purchase WHERE tenant = 1 AND id = 1") == 2)
            #expect(try await bob.set(forKey: "purchaseSet").count == 2)
        }
    }

    @Test(.database(.sql(shopSchema))) func anOwnerOfAnotherTenantIsRefusedBeforeAnythingIsSent() async throws {
        try await withDatabase { database, context, other in
            let foreign = try await context.fetch("customer").where("tenant = 2 AND id = 1").one()
            let purchase = try await context.fetch("purchase").where("tenant = 1 AND id = 1").one()
            try await expectStatements([]) { () async throws in
                await expectError(.wrongType) { try await purchase.setValue(foreign, forKey: "customer") }
                await expectError(.wrongType) { try await foreign.set(forKey: "purchaseSet").insert(purchase) }
            }
        }
    }

    @Test(.database(.sql(shopSchema))) func aRequiredRelationshipCannotBeLeft() async throws {
        try await withDatabase { database, context, other in
            let purchase = try await context.fetch("purchase").where("tenant = 1 AND id = 1").one()
            let invoices = try await purchase.set(forKey: "invoiceSet")
            let invoice = try #require(try await invoices.objects.first)
            let second = try await context.fetch("invoice").where("id = 2").one()
            try await expectStatements([]) { () async throws in
                await expectError(.requiredRelationship) { try await invoices.remove(invoice) }
                await expectError(.requiredRelationship) { try await invoices.removeAll() }
                await expectError(.requiredRelationship) { try await invoice.setValue(nil, forKey: "purchase") }
            }
            await expectError(.requiredRelationship) { try await invoices.set([second]) }
            await expectError(.requiredRelationship) { try await invoices.set([]) }
            #expect(try await other.value("SELECT count(*) FROM invoice WHERE purchase_id = 1") == 1)
            #expect(try await invoices.objects == [invoice])
            try await invoices.set([invoice, second])
            #expect(try await other.value("SELECT count(*) FROM invoice WHERE purchase_id = 1") == 2)
        }
    }

    @Test(.database(.sql(oneToOneSchema))) func aRequiredOneToOnePartnerIsNotDisplaced() async throws {
        try await withDatabase { database, context, other in
            let smith = try await context.fetch("person").where("id = 1").one()
            let passport = try await context.fetch("passport").where("number = 'B'").one()
            await expectError(.requiredRelationship) { try await smith.setValue(passport, forKey: "passport") }
            #expect(try await other.values("SELECT person_id FROM passport ORDER BY number") == [1, 2])
            let marx = try await context.fetch("person").where("id = 3").one()
            try await marx.setValue(passport, forKey: "passport")
            #expect(try await other.values("SELECT person_id FROM passport ORDER BY number") == [1, 3])
        }
    }

    @Test(.database(.sql(shopSchema))) func aHelperWithRequiredColumnsTakesThemThroughInsert() async throws {
        try await withDatabase { database, context, other in
            let purchase = try await context.fetch("purchase").where("tenant = 1 AND id = 1").one()
            let paper = try await context.fetch("product").where("id = 3").one()
            let pen = try await context.fetch("product").where("id = 1").one()
            let products = try await purchase.set(forKey: "productSet")
            #expect(try await products.count == 2)
            try await expectStatements([]) { () async throws in
                let error = await expectError(.missingValue) { try await products.insert(paper) }
                #expect(error?.message.contains("quantity") == true)
                await expectError(.unknownKey) { try await products.insert(paper, through: ["quantty": 1]) }
                await expectError(.wrongType) { try await products.insert(paper, through: ["quantity": "many"]) }
            }
            try await expectStatements(["INSERT"]) { () async throws in
                try await products.insert(paper, through: ["quantity": 3])
            }
            try await products.insert(pen, through: ["quantity": 7, "note": "red"])
            #expect(
                try await other.values("SELECT quantity FROM line WHERE purchase_id = 1 ORDER BY product_id") == [
                    7, 1, 3,
                ])
            #expect(try await products.contains(paper))
            #expect(try await purchase.set(forKey: "lineSet").count == 3)
        }
    }

    @Test(
        .database(
            .sql(
                """
                CREATE TYPE role AS ENUM ('guest', 'owner');
                CREATE TABLE project (id integer PRIMARY KEY);
                CREATE TABLE app_user (id integer PRIMARY KEY);
                CREATE TABLE membership (project_id integer REFERENCES project, app_user_id integer REFERENCES app_user,
                    role role NOT NULL, share numeric(3, 1) CHECK (share > 0), PRIMARY KEY (project_id, app_user_id));
                INSERT INTO project VALUES (1);
                INSERT INTO app_user VALUES (1), (2);
                """)))
    func valuesOfTheHelperAreCheckedAndNamed() async throws {
        try await withDatabase { (database, context, other) async throws in
            let project = try await context.get("project", 1)
            let users = try await context.find("app_user", [1, 2])
            let members = try await project.set(forKey: "app_userSet")
            // Whether the label was added meanwhile.
            try await expectStatements(["SELECT"]) { () async throws in
                let error = await expectError(.unknownLabel) {
                    try await members.insert(users[0], through: ["role": "king"])
                }
                #expect(error?.key == "role" && error?.entity == "public.membership")
                #expect(error?.message.contains("public.membership.role cannot have the value") == true)
            }
            try await expectStatements([]) { () async throws in
                let values: [String: (any PropertyValue)?] = ["role": "owner", "share": PostgresNumeric("1.25")]
                let error = await expectError(.valueTooLarge) { try await members.insert(users[0], through: values) }
                #expect(error?.key == "share")
            }
            let refused = await expectError(.constraintViolation) {
                try await members.insert(users[0], through: ["role": "owner", "share": -1])
            }
            #expect(refused?.key == "share" && refused?.entity == "public.membership")
            #expect(refused?.message.contains("app_userSet") == false, "\(refused?.message ?? "")")
            try await other.query("ALTER TYPE role ADD VALUE 'king'")
            try await members.insert(users[0], through: ["role": "king"])
            try await expectStatements(["INSERT"]) { () async throws in
                try await members.insert(users[1], through: ["role": "guest"])
            }
            #expect(try await other.values("SELECT role::text FROM membership ORDER BY 1") == ["guest", "king"])
        }
    }

    @Test(.database(.sql(shopSchema))) func friendsAreAManyToManyRelationshipOfOneTable() async throws {
        try await withDatabase { database, context, other in
            let members = try await context.fetch("member").sorted("id").all()
            let friends = try await members[0].set(forKey: "friends")
            #expect(try await friends.objects == [members[1]])
            try await friends.insert(members[2])
            #expect(try await members[2].set(forKey: "befriended_by").objects == [members[0]])
            #expect(try await members[2].set(forKey: "friends").isEmpty)
            try await members[2].set(forKey: "befriended_by").remove(members[0])
            #expect(try await friends.objects == [members[1]])
            #expect(try await other.value("SELECT count(*) FROM friendship") == 1)
        }
    }

    @Test(.database(.sql(shopSchema))) func aTableThatReferencesItselfHasBothEnds() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.fetch("member").where("id = 1").one()
            let relationship = try #require(
                ann.entity.relationships.first { $0.kind == .oneToMany && $0.destination.name == "member" }
            )
            let mentored = try await ann.set(forKey: relationship.name)
            #expect(try await mentored.count == 2)
            let cid = try #require(try await mentored.objects.first { $0["id"] == 3 })
            #expect(try await cid.object(forKey: relationship.inverse) === ann)
            try await context.delete(cid)
            #expect(try await mentored.count == 1)
        }
    }

    @Test(.database(.sql(shopSchema))) func aMemberWhoseKeyHoldsTheForeignKeyMovesWithItsObject() async throws {
        try await withDatabase { database, context, other in
            let line = try await context.fetch("line").where("product_id = 1").one()
            let second = try await context.fetch("line").where("product_id = 2").one()
            let target = try await context.fetch("purchase").where("tenant = 1 AND id = 2").one()
            let lines = try await target.set(forKey: "lineSet")
            try await lines.formUnion([line, second])
            #expect(try await other.value("SELECT count(*) FROM line WHERE purchase_id = 2") == 2)
            #expect(line["purchase_id"] == 2)
            #expect(try await context.fetch("line").where("product_id = 1").one() === line)
            #expect(Set(try await lines.objects) == [line, second])
        }
    }

    private static let trees = """
        CREATE TABLE node (
            tenant integer, id integer, parent_id integer, PRIMARY KEY (tenant, id),
            CONSTRAINT parent FOREIGN KEY (tenant, parent_id) REFERENCES node (tenant, id));
        CREATE TABLE person (id integer PRIMARY KEY, name text, home_id integer);
        CREATE TABLE home (id integer PRIMARY KEY, owner_id integer NOT NULL REFERENCES person);
        ALTER TABLE person ADD FOREIGN KEY (home_id) REFERENCES home;
        """

    @Test(.database(.sql(trees))) func aChainThatGetsItsTenantFromItsRootIsStoredFromThere() async throws {
        try await withDatabase { database, context, other in
            var last = try context.add("node", ["tenant": 7, "id": 0])
            for id in 1..<12 { last = try context.add("node", ["id": id, "parent": last]) }
            try await context.save()
            #expect(last["tenant"] == 7 && last["parent_id"] == 10)
            #expect(try await other.value("SELECT count(*) FROM node WHERE tenant = 7") == 12)
            // With their tenants given, the deep ones are stored together, and find their parents afterwards.
            last = try context.add("node", ["tenant": 8, "id": 0])
            for id in 1..<100 {
                last = try context.add("node", ["tenant": 8, "id": id, "parent": last])
            }
            let (_, recorder) = try await recordingStatements { try await context.save() }
            #expect(recorder.statements.count < 20)
            #expect(try await other.value("SELECT count(*) FROM node WHERE tenant = 8 AND parent_id = id - 1") == 99)
        }
    }

    @Test(.database(.sql(trees))) func newRowsMayReferToEachOtherByValue() async throws {
        try await withDatabase { database, context, other in
            let one = try context.add("person", ["id": 1, "name": "Ann", "home_id": 5])
            try context.add("home", ["id": 5, "owner_id": 1])
            let nodes = try [(1, 2), (2, 3), (3, 1), (4, 2)].map { id, parent in
                try context.add("node", ["tenant": 1, "id": id, "parent_id": parent])
            }
            struct Failure: Error {}
            await #expect(throws: Failure.self) { () async throws in
                try await context.transaction { () async throws in
                    try await context.save()
                    throw Failure()
                }
            }
            #expect(one["home_id"] == 5 && nodes.map { $0["parent_id"] } == [2, 3, 1, 2] && context.hasStagedChanges)
            try await context.save()
            #expect(one["home_id"] == 5 && nodes.map { $0["parent_id"] } == [2, 3, 1, 2] && !context.hasStagedChanges)
            #expect(try await other.values("SELECT parent_id FROM node ORDER BY id") == [2, 3, 1, 2])
            #expect(try await other.value("SELECT home_id FROM person") == 5)
            #expect(try await one.object(forKey: "home")?["owner_id"] == 1)
        }
    }

    private static let versionedLines = """
        ALTER TABLE line ADD version int NOT NULL DEFAULT 1;
        COMMENT ON COLUMN line.version IS '@kindred {"version": true}';
        """

    @Test(.database(.sql(shopSchema + versionedLines)))
    func payloadOfAPairThatIsThereReachesItsObject() async throws {
        try await withDatabase { database, context, other in
            let purchase = try await context.fetch("purchase").where("tenant = 1 AND id = 1").one()
            let pen = try #require(try await context.find("product", 1))
            let line = try await context.fetch("line").where("product_id = 1").one()
            let products = try await purchase.set(forKey: "productSet")
            try await products.insert(pen, through: ["quantity": 7])
            #expect(line["quantity"] == 7)
            try await line.setValue("x", forKey: "note")
            let paper = try #require(try await context.find("product", 3))
            try await products.insert(paper, through: ["quantity": 2])
            let lines = try await purchase.set(forKey: "lineSet").objects
            #expect(Set(lines.map { $0["quantity"] }) == [7, 1, 2])
        }
    }
}
