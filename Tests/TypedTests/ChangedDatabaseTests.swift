import Kindred
import KindredTesting
import Testing
import TypeModels

/// A database that changes under a program makes errors, and never ends the program.
@Suite struct ChangedDatabaseTests {
    private static let rows: [SQL] = [
        "INSERT INTO club VALUES (1, 'Club')",
        """
        INSERT INTO keeper (id, code, rank, size, visible, numbers, club_id, age, mood, boss_id)
            VALUES (1, 'one', 1, 1, true, '{1,NULL}', 1, 10, 'happy', NULL), (2, 'two', 2, 2, false, '{}', 1, 20, NULL, 1)
        """,
        "INSERT INTO pet VALUES (1, 'Rex', 3, 1)",
        "INSERT INTO membership VALUES (1, 1)",
    ]

    private func withKeepers(
        _ body: (_ database: Database, _ context: DatabaseContext, _ keeper: Keeper) async throws -> Void
    ) async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            for statement in Self.rows { try await database.query(statement) }
            try await body(database, context, try #require(await context.find(Keeper.self, 1)))
        }
    }

    /// Expects that every call that reads or writes the keeper's row names the change.
    private func expectMismatch(
        _ column: String,
        _ keeper: Keeper,
        in database: Database,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let context = keeper.context
        func expect(_ what: String, _ body: () async throws -> Void) async {
            do {
                do {
                    try await body()
                } catch let error as KindredError
                    where error.code == .schemaChanged && error.underlying?.sqlState == .featureNotSupported
                {
                    // A transaction cannot go on where a statement was prepared before the change; another transaction
                    // can.
                    try await body()
                }
                Issue.record("\(what) threw nothing", sourceLocation: sourceLocation)
            } catch let error as KindredError {
                #expect(
                    error.code == .classMismatch && error.entity == "public.keeper" && error.key == column,
                    "\(what): \(error)", sourceLocation: sourceLocation)
            } catch {
                Issue.record(error, "\(what)", sourceLocation: sourceLocation)
            }
        }
        await expect("all") { _ = try await context.fetch(Keeper.self).all() }
        await expect("all anew") { _ = try await database.makeContext().fetch(Keeper.self).all() }
        await expect("find") { _ = try await database.makeContext().find(Keeper.self, 1) }
        await expect("stream") { for try await _ in try database.makeContext().fetch(Keeper.self).stream() {} }
        await expect("page") { _ = try await database.makeContext().fetch(Keeper.self).sorted { $0.id }.page(size: 1) }
        await expect("to-one") { _ = try await database.makeContext().fetch(Pet.self).one().keeper() }
        await expect("to-many") { _ = try await database.makeContext().fetch(Club.self).one().clubKeepers.all() }
        await expect("helper") { _ = try await database.makeContext().fetch(Club.self).one().members.all() }
        await expect("prefetch") { _ = try await database.makeContext().fetch(Pet.self).prefetch(\.keeper).all() }
        await expect("refresh") { try await keeper.refresh() }
        await expect("setValue") { try await keeper.setValue(5, forKey: "size") }
        await expect("lock") { try await context.transaction { try await keeper.lock() } }
        await expect("update") { try await context.fetch(Keeper.self).where { $0.id == 1 }.update { $0.size = 6 } }
        await expect("insert member") { try await context.find(Club.self, 1)?.clubKeepers.insert(keeper) }
        await expect("save") {
            keeper.size = 7
            try await context.save()
        }
        context.rollback()
    }

    @Test(
        "a wrong annotation of a generated class's table ends the connection attempt",
        .database(.file("../TypeModels/schema.sql")))
    func aWrongAnnotation() async throws {
        let admin = try await PostgresClient.connect(try PostgresConfiguration(uri: try TestDatabase.current.uri))
        for comment in [
            #"TABLE keeper IS '@kindred {"filter": "nosuch = 1"}'"#,
            #"COLUMN keeper.code IS '@kindred {"nosuch": true}'"#,
        ] {
            try await admin.runScript("COMMENT ON \(comment)")
            let error = await #expect(throws: SchemaError.self) {
                try await withDatabase(classes: KindredModels.all) { _, _ in }
            }
            #expect(error?.code == .invalidAnnotation && error?.entity == "public.keeper")
            // Without the class the table stops nothing but its own use.
            try await withDatabase { _, context in
                let clubs = try await context.fetch("club").all()
                #expect(clubs.isEmpty)
                await #expect(throws: SchemaError.self) { try await context.fetch("keeper").all() }
            }
            let object = comment.prefix(upTo: try #require(comment.firstRange(of: " IS ")?.lowerBound))
            try await admin.runScript("COMMENT ON \(object) IS NULL")
        }
        await admin.close()
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func aColumnThatLosesNotNull() async throws {
        try await withKeepers { database, context, keeper in
            try await database.query("ALTER TABLE keeper ALTER code DROP NOT NULL")
            #expect(try await context.fetch(Keeper.self).all().count == 2)
            try await database.query("UPDATE keeper SET code = NULL WHERE id = 1")
            await expectMismatch("code", keeper, in: database)
            // Memory is unchanged, and rows that fit are read as ever.
            #expect(keeper.code == "one")
            #expect(try await context.find(Keeper.self, 2)?.code == "two")
            let error = await expectError(.classMismatch) { try await keeper.refresh() }
            #expect(error?.message.contains("public.keeper.code is NULL") == true)
            try await database.query("UPDATE keeper SET code = 'new' WHERE id = 1")
            try await keeper.refresh()
            #expect(keeper.code == "new")
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func aColumnOfAnotherType() async throws {
        try await withKeepers { database, context, keeper in
            try await database.query("ALTER TABLE keeper ALTER age TYPE text")
            await expectMismatch("age", keeper, in: database)
            #expect(keeper.age == 10)
            try await database.query("ALTER TABLE keeper ALTER age TYPE bigint USING age::bigint")
            try await database.query("ALTER TABLE keeper ALTER rank TYPE bigint, ALTER code TYPE text")
            try await database.query("UPDATE keeper SET age = 5000, rank = 6000")
            try await keeper.refresh()
            #expect(keeper.age == 5_000 && keeper.rank == 6_000)
            #expect(try await database.makeContext().fetch(Pet.self).one().keeper()?.age == 5_000)
            // Rows have the types of the model; what those do not hold needs the new one.
            try await database.query("UPDATE keeper SET rank = 6000000000")
            await expectError(.schemaChanged) { try await keeper.refresh() }
            try await database.refreshSchema()
            #expect(try await database.makeContext().fetch(Pet.self).one().keeper()?.rank == 6_000_000_000)
            try await database.query("ALTER TABLE keeper ALTER numbers TYPE text[]")
            await expectMismatch("numbers", keeper, in: database)
            #expect(keeper.numbers == [1, nil])
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func typesOfTheDatabaseThatAreMadeAgain() async throws {
        try await withKeepers { database, context, keeper in
            // The same labels and one more, under a new number: its values can still be read.
            try await database.query("CREATE TYPE feeling AS ENUM ('happy', 'so-so', 'new')")
            try await database.query("ALTER TABLE keeper ALTER mood TYPE feeling USING mood::text::feeling")
            try await database.query("UPDATE keeper SET mood = 'new' WHERE id = 2")
            let moods = try await database.makeContext().fetch(Keeper.self).sorted { $0.id }.all().map(\.mood)
            #expect(moods == [.happy, .unknown("new")])
            let house = try await context.create(House.self) { $0.address = Address(street: "Main", number: 5) }
            try await database.query("ALTER TYPE address DROP ATTRIBUTE number")
            let error = await expectError(.classMismatch) {
                _ = try await database.makeContext().fetch(House.self).one()
            }
            #expect(error?.key == "address", "\(String(describing: error))")
            #expect(house.address?.number == 5)
            // A model that the classes do not fit is not taken over, not even its types.
            await expectError(.classMismatch) { try await database.refreshSchema() }
            #expect(house.address?.number == 5 && house.address?.street == "Main")
            try await database.query("ALTER TYPE address RENAME ATTRIBUTE street TO road")
            await expectError(.classMismatch) { try await database.refreshSchema() }
            #expect(house.address?.street == "Main")
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func nilThatIsStagedShowsTheStoredValue() async throws {
        try await withKeepers { (_, context, keeper) async throws in
            keeper["code"] = nil
            keeper["numbers"] = nil
            #expect(keeper["code"] == nil && keeper.code == "one" && keeper.numbers == [1, nil])
            await expectError(.validationFailed) { try await context.save() }
            context.rollback()
            #expect(keeper["code"] == "one")
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func aForeignKeyThatTheDatabaseClears() async throws {
        try await withKeepers { database, context, keeper in
            #expect(try await keeper.club().id == 1)
            let club = try await keeper.club()
            try await database.query("DELETE FROM membership")
            try await database.query(
                """
                ALTER TABLE keeper ALTER club_id DROP NOT NULL, DROP CONSTRAINT keeper_club_id_fkey,
                    ADD FOREIGN KEY (club_id) REFERENCES club ON DELETE SET NULL
                """)
            // The program's model knows neither, so the database decides; and its action is an error.
            try? await context.delete(club)
            #expect(keeper.clubID == 1)
            await expectError(.classMismatch) { try await keeper.refresh() }
        }
    }
}
