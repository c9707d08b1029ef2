import Kindred
import KindredTesting
import Testing

/// Foreign keys of several columns that share some of them, or have some that the database generates.
@Suite struct SharedColumnTests {
    private static let tenants = """
        CREATE TABLE customer (tenant int, id int, PRIMARY KEY (tenant, id));
        CREATE TABLE product (tenant int, id int, PRIMARY KEY (tenant, id));
        CREATE TABLE line (
            tenant int, id int, customer_id int, product_id int, PRIMARY KEY (tenant, id),
            FOREIGN KEY (tenant, customer_id) REFERENCES customer, FOREIGN KEY (tenant, product_id) REFERENCES product);
        INSERT INTO customer VALUES (1, 1), (2, 1);
        INSERT INTO product VALUES (1, 7), (2, 7);
        """

    @Test("both links of a new object stay though they share a column", .database(.sql(tenants)), arguments: [0, 1, 2])
    func bothLinksOfANewObjectStay(newEnds: Int) async throws {
        try await withDatabase { database, context, other in
            let customer =
                newEnds > 0
                ? try context.add("customer", ["tenant": 1, "id": 9])
                : try #require(try await context.fetch("customer").where("tenant = 1").first())
            let product =
                newEnds > 1
                ? try context.add("product", ["tenant": 1, "id": 9])
                : try #require(try await context.fetch("product").where("tenant = 1").first())
            let first = try context.add(
                "line", ["tenant": 1, "id": 1, "customer": customer, "product": product])
            let second = try context.add("line", ["id": 2])
            try await second.setValue(product, forKey: "product")
            try await second.setValue(customer, forKey: "customer")
            second["tenant"] = 1
            for line in [first, second] {
                #expect(try await line.object(forKey: "customer") === customer)
                #expect(try await line.object(forKey: "product") === product)
            }
            #expect(try await Set(customer.set(forKey: "lineSet").objects) == [first, second])
            try await context.save()
            let (customerID, productID) = (newEnds > 0 ? 9 : 1, newEnds > 1 ? 9 : 7)
            #expect(
                try await other.value(
                    "SELECT count(*) FROM line WHERE tenant = 1 AND customer_id = \(customerID) AND product_id = \(productID)"
                )
                    == 2)
            #expect(try await first.object(forKey: "customer") === customer)
        }
    }

    /// The foreign key to the order lies within the line's own key.
    @Test(
        .database(
            .sql(
                """
                CREATE TABLE shop (id integer PRIMARY KEY);
                CREATE TABLE purchase (shop_id integer REFERENCES shop, number integer, PRIMARY KEY (shop_id, number));
                CREATE TABLE stock (shop_id integer REFERENCES shop, book integer, PRIMARY KEY (shop_id, book));
                CREATE TABLE line (shop_id integer, number integer, position integer, book integer NOT NULL,
                    PRIMARY KEY (shop_id, number, position),
                    CONSTRAINT purchase__lines FOREIGN KEY (shop_id, number) REFERENCES purchase,
                    CONSTRAINT stock__sales FOREIGN KEY (shop_id, book) REFERENCES stock);
                INSERT INTO shop VALUES (1);
                INSERT INTO stock VALUES (1, 7);
                """)), arguments: [false, true])
    func aLinkWithinTheKeyStaysIfAnotherSharesAColumn(isStockFirst: Bool) async throws {
        try await withDatabase { database, context, other in
            let stock = try #require(try await context.fetch("stock").first())
            let shop = try #require(try await context.fetch("shop").first())
            let purchase = try context.add("purchase", ["number": 3, "shop": shop])
            let line = try context.add("line", ["position": 1])
            for key in isStockFirst ? ["stock", "purchase"] : ["purchase", "stock"] {
                try await line.setValue(key == "stock" ? stock : purchase, forKey: key)
            }
            try await context.save()
            #expect(try await other.value("SELECT count(*) FROM line WHERE (shop_id, number, book) = (1, 3, 7)") == 1)
        }
    }

    @Test(.database(.sql(tenants))) func endsOfDifferentTenantsAreRefusedForANewObject() async throws {
        try await withDatabase { database, context, other in
            let customer = try #require(try await context.fetch("customer").where("tenant = 1").first())
            let product = try #require(try await context.fetch("product").where("tenant = 2").first())
            try await expectStatements([]) { () async throws in
                await expectError(.wrongType) {
                    try context.add("line", ["id": 1, "customer": customer, "product": product])
                }
                await expectError(.wrongType) {
                    try context.add("line", ["tenant": 2, "id": 1, "customer": customer])
                }
                #expect(!context.hasStagedChanges)
                let line = try context.add("line", ["id": 1, "customer": customer])
                await expectError(.wrongType) { try await line.setValue(product, forKey: "product") }
                #expect(line["tenant"] == 1 && line["product_id"] == nil)
                let new = try context.add("customer", ["tenant": 2, "id": 5])
                try await line.setValue(new, forKey: "customer")
                await expectError(.wrongType) { try await context.save() }
            }
        }
    }

    private static let generated = """
        CREATE TABLE item (kind text, id int, PRIMARY KEY (kind, id));
        CREATE TABLE book (
            id int PRIMARY KEY, kind text GENERATED ALWAYS AS ('book') STORED, item_id int,
            FOREIGN KEY (kind, item_id) REFERENCES item (kind, id));
        INSERT INTO item VALUES ('book', 1), ('book', 2), ('disc', 1);
        INSERT INTO book (id, item_id) VALUES (1, 1), (2, NULL);
        """

    @Test(.database(.sql(generated))) func aKeyWithAGeneratedColumnIsJoinedByItsOthers() async throws {
        try await withDatabase { database, context, other in
            let items = try await context.fetch("item").sorted("kind").sorted("id").all()
            let (first, second, disc) = (items[0], items[1], items[2])
            let books = try await context.fetch("book").sorted("id").all()
            try await books[0].setValue(second, forKey: "item")
            try await second.set(forKey: "bookSet").formUnion(books)
            try await second.set(forKey: "bookSet").remove(books[0])
            try await first.set(forKey: "bookSet").insert(books[0])
            #expect(try await other.values("SELECT item_id FROM book ORDER BY id") == [1, 2])
            let created = try await context.create("book", ["id": 3, "item": first])
            #expect(created["kind"] == "book" && created["item_id"] == 1)
            let new = try context.add("item", ["kind": "book", "id": 9])
            let staged = [
                try context.add("book", ["id": 4, "item": first]),
                try context.add("book", ["id": 5, "item": new]),
            ]
            #expect(try await staged[0].object(forKey: "item") === first)
            #expect(try await staged[1].object(forKey: "item") === new)
            #expect(try await first.set(forKey: "bookSet").objects.count == 3)
            try await context.save()
            #expect(try await other.values("SELECT item_id FROM book ORDER BY id") == [1, 2, 1, 1, 9])
            try await expectStatements([]) { () async throws in
                await expectError(.wrongType) { try await books[0].setValue(disc, forKey: "item") }
                await expectError(.wrongType) { try await disc.set(forKey: "bookSet").insert(books[0]) }
                await expectError(.readOnly) { try await books[0].setValue("disc", forKey: "kind") }
            }
        }
    }

    private static let places = """
        CREATE TABLE country (code text PRIMARY KEY);
        CREATE TABLE city (country text REFERENCES country, name text, PRIMARY KEY (country, name));
        CREATE TABLE person (
            id int PRIMARY KEY, country text CONSTRAINT country__people REFERENCES country, city text,
            CONSTRAINT city__inhabitants FOREIGN KEY (country, city) REFERENCES city (country, name));
        COMMENT ON CONSTRAINT city__inhabitants ON person IS '@kindred {"deleteRule": "nullify"}';
        INSERT INTO country VALUES ('IT');
        INSERT INTO city VALUES ('IT', 'Roma');
        INSERT INTO person VALUES (1, 'IT', 'Roma'), (2, 'IT', 'Roma');
        """

    @Test(.database(.sql(places))) func aDeletionThatClearsAKeyLeavesWhatOtherKeysShare() async throws {
        try await withDatabase { database, context, other in
            let held = try #require(try await context.find("person", 1))
            let city = try await context.fetch("city").one()
            try await context.delete(city)
            #expect(try await other.values("SELECT country FROM person") == ["IT", "IT"])
            #expect(try await other.values("SELECT city FROM person") == [nil, nil])
            #expect(held["country"] == "IT" && held["city"] == nil)
        }
    }

    @Test(.database(.sql(places.replacing("city text,", with: "city text NOT NULL,"))))
    func aDeletionThatCouldOnlyClearASharedColumnIsRefused() async throws {
        try await withDatabase { database, context, other in
            let city = try await context.fetch("city").one()
            await expectError(.requiredRelationship) { try await context.delete(city) }
            #expect(try await other.values("SELECT country FROM person") == ["IT", "IT"])
        }
    }
}
