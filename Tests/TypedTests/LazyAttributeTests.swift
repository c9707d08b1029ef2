import Foundation
import Kindred
import KindredTesting
import Testing
import TypeModels

/// Handles of lazy columns, and columns of classes that requests leave out.
@Suite(.database(.file("../TypeModels/schema.sql"))) struct LazyAttributeTests {
    private func letters(_ context: DatabaseContext) async throws -> [Letter] {
        try await context.query(
            """
            INSERT INTO letter SELECT i, 'Subject ' || i, 'Body ' || i, CASE WHEN i = 1 THEN '\\x01'::bytea END, ARRAY['t' || i]
            FROM generate_series(1, 5) AS i
            """)
        return try await context.fetch(Letter.self).sorted { $0.id }.all()
    }

    @Test func aHandleLoadsItsColumnForAll() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            let letters = try await letters(context)
            #expect(letters.allSatisfy { !$0.body.isLoaded && $0.body.loaded == nil })
            let (_, recorder) = try await recordingStatements { () async throws in
                for letter in letters { #expect(try await letter.body.value == "Body \(letter.id)") }
            }
            #expect(recorder.statements.count == 1)
            #expect(letters[1].body.loaded == "Body 2" && !letters[1].tags.isLoaded)
            #expect(try await letters[0].scan.value == [1])
            #expect(try await letters[1].scan() == nil)
            #expect(try await letters[2].tags.value == ["t3"])
            #expect(letters[1].scan.isLoaded && letters[1].scan.loaded == .some(nil))
        }
    }

    @Test func aHandleStagesItsColumn() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            let letters = try await letters(context)
            letters[0].body.stage("New")
            letters[0].scan.stage(nil)
            letters[1].tags.stage(["a", nil])
            #expect(try await letters[0].body.value == "New")
            #expect(letters[0].stagedValues.count == 2)
            let new = try context.add(Letter.self) {
                $0.id = 6
                $0.subject = "Sixth"
                $0.body = "In memory"
                $0.tags = []
            }
            #expect(try await new.body.value == "In memory")
            #expect(try await new.scan.value == nil)
            try await context.save()
            let again = try await database.makeContext().fetch(Letter.self).only(\.body, \.scan, \.tags).sorted {
                $0.id
            }
            .all()
            #expect(again[0].body.loaded == "New" && again[0].scan.loaded == .some(nil))
            #expect(again[1].tags.loaded == ["a", nil] && again[5].body.loaded == "In memory")
            let empty = try context.add(Letter.self)
            await expectError(.missingValue) { _ = try await empty.body.value }
            empty.rollback()
        }
    }

    @Test func conditionsAndUpdatesNameItAsAnyColumn() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            let letters = try await letters(context)
            let found = try await context.fetch(Letter.self).where { $0.body == "Body 3" && $0.scan == nil }.one()
            #expect(found === letters[2])
            #expect(try await context.fetch(Letter.self).sorted { $0.body }.first() === letters[0])
            try await context.fetch(Letter.self).where { $0.id == 4 }.update { $0.body = "Changed" }
            #expect(try await letters[3].body.value == "Changed")
        }
    }

    @Test func aPropertyThatIsLeftOutIsTheProgramsMistake() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            _ = try await letters(context)
            let other = database.makeContext()
            let letters = try await other.fetch(Letter.self).omitting(\.subject).sorted { $0.id }.all()
            #expect(letters[0].subject == "")
            let error = await expectError(.notLoaded) { try await other.save() }
            #expect(error?.message.contains("Letter.subject") == true)
            let (_, recorder) = try await recordingStatements { () async throws in
                for letter in letters {
                    #expect(try await letter.value(forKey: "subject")?.attribute == .string("Subject \(letter.id)"))
                    #expect(letter.subject == "Subject \(letter.id)")
                }
            }
            #expect(recorder.statements.count == 1)
            try await other.save()
        }
    }

    @Test func prefetchedClassesLeaveOutToo() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            try await context.query("INSERT INTO club VALUES (1, 'Club')")
            try await context.query(
                """
                INSERT INTO keeper (id, code, rank, size, visible, numbers, club_id, story)
                SELECT i, 'c', 1, 1, true, '{}', 1, 'Story' FROM generate_series(1, 3) AS i
                """)
            let clubs = try await context.fetch(Club.self).prefetch(\.clubKeepers, omitting: \.story, \.words).all()
            let keepers = try await clubs[0].clubKeepers.objects
            #expect(keepers.count == 3 && keepers.allSatisfy { $0.code == "c" && $0.dictionary["story"] == nil })
            let other = try await database.makeContext().fetch(Club.self).prefetch(\.clubKeepers, only: \.code).all()
            let others = try await other[0].clubKeepers.objects
            #expect(others.allSatisfy { $0.dictionary["name"] == nil && $0.code == "c" })
        }
    }

    @Test func aPlainPropertyForALazyColumnIsRefused() async throws {
        let uri = try TestDatabase.current.uri
        do {
            let database = try await Database.connect(
                uri, classes: KindredModels.all, overrides: [.column("label", of: "badge", lazy: true)])
            await database.close()
            Issue.record("the class was taken")
        } catch let error as KindredError {
            #expect(error.code == .classMismatch && error.message.contains("public.badge.label is lazy"))
        }
        // The other way round the handle shows the value that was read with the object.
        let database = try await Database.connect(
            uri, classes: KindredModels.all, overrides: [.column("body", of: "letter", lazy: false)])
        let letters = try await letters(database.makeContext())
        #expect(letters[0].body.isLoaded)
        await database.close()
    }
}
