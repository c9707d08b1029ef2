import Kindred
import KindredTesting
import Testing

/// Northwind's order lines, AdventureWorks' inventory, and helpers without a payload.
private let schema = """
    CREATE TABLE products (product_id smallint PRIMARY KEY, product_name varchar(40) NOT NULL);
    CREATE TABLE orders (order_id smallint PRIMARY KEY);
    CREATE TABLE order_details (
        order_id smallint NOT NULL, product_id smallint NOT NULL, unit_price real NOT NULL, quantity smallint NOT NULL,
        discount real NOT NULL, PRIMARY KEY (order_id, product_id),
        CONSTRAINT fk_order_details_products FOREIGN KEY (product_id) REFERENCES products,
        CONSTRAINT fk_order_details_orders FOREIGN KEY (order_id) REFERENCES orders);
    CREATE TABLE location (locationid integer PRIMARY KEY);
    CREATE TABLE product (productid integer PRIMARY KEY);
    CREATE TABLE productinventory (
        productid integer NOT NULL, locationid integer NOT NULL, shelf varchar(10) NOT NULL,
        quantity smallint NOT NULL DEFAULT 0, modifieddate timestamp NOT NULL DEFAULT now(),
        PRIMARY KEY (productid, locationid),
        CONSTRAINT "FK_ProductInventory_Location_LocationID" FOREIGN KEY (locationid) REFERENCES location,
        CONSTRAINT "FK_ProductInventory_Product_ProductID" FOREIGN KEY (productid) REFERENCES product ON DELETE CASCADE);
    CREATE TABLE film (id integer PRIMARY KEY);
    CREATE TABLE actor (id integer PRIMARY KEY);
    CREATE TABLE film_actor (film_id integer REFERENCES film ON DELETE RESTRICT, actor_id integer REFERENCES actor,
        last_update timestamptz NOT NULL DEFAULT now(), PRIMARY KEY (film_id, actor_id));
    CREATE TABLE award (film_id integer REFERENCES film ON DELETE RESTRICT, name text);
    CREATE TABLE prize (id integer PRIMARY KEY);
    CREATE TABLE film_prize (film_id integer REFERENCES film ON DELETE RESTRICT, prize_id integer REFERENCES prize,
        year integer NOT NULL, PRIMARY KEY (film_id, prize_id));
    INSERT INTO products VALUES (1, 'Chai'), (2, 'Tofu'), (3, 'unsold');
    INSERT INTO orders VALUES (10), (20);
    INSERT INTO order_details VALUES (10, 1, 18, 5, 0), (20, 1, 18, 7, 0.1), (20, 2, 23, 1, 0);
    INSERT INTO location VALUES (1), (2);
    INSERT INTO product VALUES (1), (2);
    INSERT INTO productinventory VALUES (1, 1, 'A'), (2, 1, 'B'), (2, 2, 'C');
    INSERT INTO film VALUES (1), (2);
    INSERT INTO actor VALUES (1), (2);
    INSERT INTO film_actor VALUES (1, 1), (1, 2);
    INSERT INTO prize VALUES (1);
    INSERT INTO film_prize VALUES (2, 1, 1999);
    """

/// No row that says something of its own goes with an object that it refers to, unless the database or the user says so.
@Suite struct PayloadHelperTests {
    @Test(.database(.sql(schema))) func deletingAProductKeepsOrderLinesWithPayload() async throws {
        try await withDatabase { database, context, other in
            let products = try await context.fetch("products").sorted("product_id").all()
            let lines = try await products[0].set(forKey: "order_detailsSet").objects
            let orders = try await products[0].set(forKey: "ordersSet").objects
            let plan = try await context.deletionPlan(for: products[0])
            #expect(plan.deleted == [products[0].objectID])
            #expect(
                plan.items.map(\.rule) == [nil, .noAction] && plan.items.last?.relationship?.name == "order_detailsSet")
            #expect(Set(plan.items.last?.objects ?? []) == Set(lines.compactMap(\.objectID)))
            try await expectStatements(["DELETE"]) { () async throws in
                let error = await expectError(.deletionDenied) { try await context.delete(products[0]) }
                #expect(error?.key == "order_detailsSet" && error?.constraint == "fk_order_details_products")
            }
            #expect(!products[0].isDeleted && lines.filter(\.isDeleted).isEmpty)
            #expect(try await products[0].set(forKey: "ordersSet").objects == orders)
            await expectError(.deletionDenied) { try await context.fetch("products").delete() }
            await expectError(.deletionDenied) { try await context.delete(products + orders) }
            #expect(try await other.value("SELECT sum(quantity) FROM order_details") == 13)
            try await context.delete(products[2])
            try await context.delete(lines + [products[0]])
            #expect(try await other.values("SELECT product_id FROM products") == [2])
        }
    }

    @Test(.database(.sql(schema))) func inventoryIsDeletedOnlyByItsOwnKeysRule() async throws {
        try await withDatabase { database, context, other in
            let locations = try await context.fetch("location").sorted("locationid").all()
            let products = try await context.fetch("product").sorted("productid").all()
            let inventory = try await locations[0].set(forKey: "productinventorySet").objects
            await expectError(.deletionDenied) { try await context.delete(locations[0]) }
            #expect(inventory.filter(\.isDeleted).isEmpty && inventory.count == 2)
            let plan = try await context.deletionPlan(for: products[1])
            #expect(plan.deleted.count == 3 && !plan.isDenied)
            try await context.delete(products[1])
            #expect(inventory.filter(\.isDeleted).count == 1)
            #expect(try await locations[0].set(forKey: "productSet").objects == [products[0]])
            #expect(try await other.values("SELECT shelf FROM productinventory") == ["A"])
        }
    }

    @Test(.database(.sql(schema))) func restrictDeniesWithAndWithoutPayload() async throws {
        try await withDatabase { database, context, other in
            let films = try await context.fetch("film").sorted("id").all()
            let actors = try await context.fetch("actor").sorted("id").all()
            let prize = try await context.fetch("prize").one()
            for film in films {
                #expect(try await context.deletionPlan(for: film).isDenied)
                await expectError(.deletionDenied) { try await context.delete(film) }
            }
            #expect(try await other.value("SELECT count(*) FROM film_actor") == 2)
            // From the other side the pairs say nothing of their own.
            try await context.delete(actors[0])
            #expect(try await films[0].set(forKey: "actorSet").objects == [actors[1]])
            // Both ends go, and with them a pair; a prize that was given in 1999 stays.
            try await context.delete([films[0], actors[1]])
            #expect(films[0].isDeleted && actors[1].isDeleted)
            await expectError(.deletionDenied) { try await context.delete([films[1], prize]) }
            #expect(try await other.value("SELECT year FROM film_prize") == 1999)
            #expect(!films[1].isDeleted && !prize.isDeleted)
        }
    }

    @Test(.database(.sql(schema))) func codeCanLetOrderLinesGo() async throws {
        let override = SchemaOverride.foreignKey(
            "fk_order_details_products", of: "order_details", manyToManyDeleteRule: .nullify)
        try await withDatabase(overrides: [override]) { database, context, other in
            let product = try await context.fetch("products").where("product_id = 1").one()
            #expect(try await context.deletionPlan(for: product).deleted.count == 3)
            try await context.delete(product)
            #expect(try await other.values("SELECT product_id FROM order_details") == [2])
        }
    }
}
