import DemoModels
import Kindred
import KindredTesting
import Testing

/// The examples of the articles on saving, deleting, and transactions.
@Suite struct WritingTests {
    private struct NoBirthday: Error {}

    @Test(.shop) func saving() async throws {
        try await withShop { database, context, sent in
            let person = try #require(try await context.find("person", 1))
            sent.take()
            // block: stage
            let editor = try context.add("title", ["name": "Editor at large"])
            let ada = try context.add("person", ["firstname": "Ada", "surname": "Byron", "titles": [editor]])
            try context.add("email", ["address": "ada@example.org", "person": ada])
            ada["surname"] = "Lovelace"
            try await context.save()
            // end
            sent.expect(
                """
                INSERT INTO "public"."title" ("name") SELECT new.c0
                    FROM unnest($1) WITH ORDINALITY AS new(c0, place) ORDER BY new.place RETURNING "id", "name"
                """,
                """
                INSERT INTO "public"."person" ("firstname", "surname") SELECT new.c0, new.c1
                    FROM unnest($1, $2) WITH ORDINALITY AS new(c0, c1, place) ORDER BY new.place
                    RETURNING "id", "firstname", "surname", "born", "joined_at"
                """,
                """
                INSERT INTO "public"."email" ("address", "person_id") SELECT new.c0, new.c1
                    FROM unnest($1, $2) WITH ORDINALITY AS new(c0, c1, place) ORDER BY new.place
                    RETURNING "id", "address", "person_id"
                """,
                """
                INSERT INTO "public"."person_title_rel" AS h ("person_id", "title_id") SELECT new.c0, new.c1
                    FROM unnest($1, $2) WITH ORDINALITY AS new(c0, c1, place)
                    ON CONFLICT ("person_id", "title_id") DO NOTHING
                """)
            #expect(ada["surname"] == "Lovelace" && !ada.isInserted)

            // block: rollback
            person["firstname"] = "Joanna"
            print(person.stagedValues, context.hasStagedChanges)
            context.rollback()
            // end
            #expect(person["firstname"] == "Ada")

            // block: create
            let email = try await context.create("email", ["address": "new@example.org", "person": ada])
            // end
            sent.expect(
                """
                INSERT INTO "public"."email" ("address", "person_id") VALUES ($1, $2)
                    RETURNING "id", "address", "person_id"
                """)

            // block: upsert
            let poet = try await context.create("title", ["name": "Poet"], unlessExists: "name")
            // end
            sent.expect(
                """
                INSERT INTO "public"."title" AS t ("name") SELECT new.c0
                    FROM unnest($1) WITH ORDINALITY AS new(c0, place) ORDER BY new.place
                    ON CONFLICT ("name") DO NOTHING RETURNING t."id", t."name"
                """)
            #expect(poet["name"] == "Poet" && email["person_id"] == ada["id"])

            // block: bulk
            let changed = try await context.fetch("book").where("category.name = %@", "Poetry")
                .update(["price": Formula("price - %@", 1)])
            // end
            sent.expect(
                """
                WITH s AS MATERIALIZED (SELECT t0."id" AS k0, (t0."price" - $2) AS v4 FROM "public"."book"
                    AS t0
                    LEFT JOIN "public"."category" AS t1 ON t1."id" = t0."category_id"
                    WHERE t1."name" = $1 ORDER BY t0."id" FOR NO KEY UPDATE OF t0) UPDATE "public"."book" AS t
                    SET "price" = s.v4 FROM s WHERE t."id" = s.k0
                """)
            #expect(changed > 0)

            do {
                // block: problems
                try context.add("person", ["firstname": "Nameless"])
                try context.add("email", ["address": "no address"])
                try await context.save()
                // end
                Issue.record("the save succeeded")
            } catch let error as KindredError {
                #expect(error.message.contains("needs a value for surname, which may not be NULL"))
                // block: problem-list
                for problem in error.problems { print(problem.entity, problem.key ?? "-", problem.message) }
                // end
            }
            #expect(context.hasStagedChanges)
            context.rollback()

            do {
                try context.add("email", ["address": "no address"])
                try await context.save()
                Issue.record("the save succeeded")
            } catch let error as KindredError {
                #expect(error.code == .constraintViolation && error.constraint == "email_address_check")
            }
            context.rollback()

            // block: hooks
            try database.addHooks(
                ObjectHooks(validate: { person in
                    guard person["born"] != nil else { throw NoBirthday() }
                }),
                to: "person")
            // end
            let unborn = try context.add("person", ["firstname": "A", "surname": "B"])
            do {
                try await context.save()
                Issue.record("the save succeeded")
            } catch let error as KindredError {
                #expect(error.problems.first?.error is NoBirthday && error.code == .refused)
            }
            withExtendedLifetime(unborn) {}
        }
    }

    @Test(.shop) func deleting() async throws {
        let overrides: [SchemaOverride] = [
            // block: delete-override
            .foreignKey("email_person_id_fkey", of: "email", deleteRule: .cascade)
            // end
        ]
        try await withShop(classes: [], overrides: overrides) { database, context, sent in
            let person = try #require(try await context.find("person", 2))
            let emails = try await person.set(forKey: "emailSet").objects
            sent.take()
            // block: plan
            let plan = try await context.deletionPlan(for: person)
            for item in plan.items { print(item.rule.map { "\($0)" } ?? "asked for", item.entity, item.objects.count) }
            print(plan.isDenied)
            // end
            #expect(!plan.isDenied)
            sent.take()
            // block: delete
            try await context.delete(person)
            // end
            #expect(person.isDeleted && !emails.isEmpty && emails.allSatisfy(\.isDeleted))
            #expect(sent.take().count > 1)
        }
        try await withShop { _, context, sent in
            let person = try #require(try await context.find("person", 3))
            let emails = try await person.set(forKey: "emailSet").objects
            sent.take()
            try await context.delete(person)
            sent.expect(
                """
                DELETE FROM "public"."person" WHERE "id" = $1
                """)
            #expect(emails.allSatisfy { $0["person_id"] == nil && !$0.isDeleted })

            let store = try #require(try await context.find("store", 1))
            await expectError(
                .deletionDenied,
                """
                kindred:/public/store?id=1 cannot be deleted: objects of public.stock are still in its
                "stockSet", says the constraint "stock_store_id_fkey". Nothing was deleted
                """
            ) {
                // block: delete-refused
                try await context.delete(store)
                // end
            }
            #expect(!store.isDeleted)
            sent.take()

            // block: delete-many
            try await context.fetch("email").where("person == nil AND address BEGINSWITH %@", "events").delete()
            let orphans = try await context.fetch("email").where("person == nil").all()
            try await context.delete(orphans)
            // end
            #expect(!orphans.isEmpty && orphans.allSatisfy(\.isDeleted))
            // block: delete-staged
            let email = try await context.fetch("email").sorted("id").first()
            if let email { try context.stageDeletion(of: email) }
            try await context.save()
            // end
            #expect(email?.isDeleted == true)
        }
        let deny: [SchemaOverride] = [
            // block: deny
            .foreignKey("buyer__purchases", of: "purchase", deleteRule: .deny)
            // end
        ]
        try await withShop(classes: [], overrides: deny) { _, context, sent in
            let buyer = try #require(try await context.find("person", 60))
            await expectError(
                .deletionDenied,
                """
                kindred:/public/person?id=60 cannot be deleted: 2 objects of public.purchase are still in its
                "purchases"; take them out of it or delete them first. Nothing was deleted
                """
            ) {
                try await context.delete(buyer)
            }
            #expect(!buyer.isDeleted)
        }
    }

    @Test(.shop) func transactions() async throws {
        try await withShop { database, context, sent in
            let person = try #require(try await context.find("person", 1))
            let email = try await context.create("email", ["address": "new@example.org"])
            // block: transaction
            try await context.transaction {
                try await person.setValue("Smythe", forKey: "surname")
                try await context.delete(email)
            }
            // end
            #expect(person["surname"] == "Smythe" && email.isDeleted)

            // block: undo
            struct ChangeOfMind: Error {}
            do {
                try await context.transaction {
                    try await person.setValue("Jones", forKey: "surname")
                    throw ChangeOfMind()
                }
            } catch is ChangeOfMind {
                print(person["surname"] ?? "-")  // Smythe
            }
            // end
            #expect(person["surname"] == "Smythe")

            // block: savepoint
            try await context.transaction {
                try await person.setValue("Joan", forKey: "firstname")
                do {
                    try await context.transaction {
                        _ = try await context.create("email", ["address": "no address"])
                    }
                } catch let error as KindredError where error.code == .constraintViolation {
                    print(error)  // the first change stays
                }
            }
            // end
            #expect(person["firstname"] == "Joan")

            // block: isolation
            try await context.transaction(isolation: .serializable, retry: .attempts(5)) {
                let copies = try await context.fetch("stock").sum("copies")
                print(copies ?? 0)
            }
            // end

            // block: lock
            try await context.transaction {
                let task = try await context.fetch("purchase").where("status = %@", "paid")
                    .sorted("placed_at")
                    .lock(.forUpdate, .skipLocked)
                    .first()
                try await task?.setValue("sent", forKey: "status")
            }
            // end
            await expectError(
                .invalidRequest,
                """
                A lock lasts until the end of its transaction: take it inside context.transaction { }
                """
            ) {
                _ = try await context.fetch("purchase").lock().first()
            }

            // block: unknown-commit
            do {
                try await context.transaction(tracksCommit: true) {
                    try await person.setValue("Jo", forKey: "firstname")
                }
            } catch let error as PostgresError where error.code == .commitUnknown {
                guard let id = error.transactionID, try await database.client.resolveCommit(id) == .committed else {
                    throw error
                }
            }
            // end
            #expect(person["firstname"] == "Jo")
        }
    }

    @Test(.shop) func optimisticLocking() async throws {
        try await withShop { database, _, sent in
            _ = try await database.query(
                """
                COMMENT ON TABLE stock IS '@kindred {"optimisticLocking": "xmin"}'
                """)
            try await database.refreshSchema()
            let context = database.makeContext()
            let stock = try await context.fetch("stock").where("copies > 0").sorted("copies").limit(1).one()
            let before = try stock.value(forKey: "copies", as: Int64.self) ?? 0
            _ = try await database.query("UPDATE stock SET copies = copies + 10")
            stock["copies"] = 0
            await expectError(
                .staleObject,
                """
                kindred:/public/stock?store_id=1&book_id=13 was changed by another transaction after being read;
                nothing was written, refresh and try again, or save with a retry
                """
            ) {
                try await context.save()
            }
            context.rollback()
            // block: save-retry
            try await context.save(retry: .attempts(5)) {
                let copies = try stock.value(forKey: "copies", as: Int64.self) ?? 0
                stock["copies"] = .integer(copies + 1)
            }
            // end
            #expect(stock["copies"] == .integer(before + 11))
        }
    }
}
