import Kindred
import KindredTesting
import Logging
import Testing

/// Keys that are none, in subscripts, which cannot throw: they are heard in the log and by the next save.
@Suite struct WrongKeyTests {
    /// Lends a context whose log is kept.
    private func withLog(_ body: (DatabaseContext, LogLines) async throws -> Void) async throws {
        let log = LogLines()
        var configuration = try PostgresConfiguration(uri: try TestDatabase.current.uri)
        configuration.pool.acquireTimeout = .seconds(60)
        let database = try await Database.connect(configuration, logger: log.logger)
        do {
            try await body(database.makeContext(), log)
        } catch {
            await database.close()
            throw error
        }
        await database.close()
    }

    @Test(.database(.sql(referenceSchema))) func readingByAWrongKeyIsLoggedOnceForEachPlace() async throws {
        try await withLog { context, log in
            let people = try await context.fetch("person").sorted("id").all()
            let line = #line + 1
            for person in people { #expect(person["surnme"] == nil) }
            let lines = log.take(.error)
            try #require(lines.count == 1)
            let text = lines[0].message
            #expect(text.contains("public.person") && text.contains("\"surnme\"") && text.contains("\"surname\""))
            #expect(lines[0].metadata["place"] == "IntegrationTests/WrongKeyTests.swift:\(line)")
            #expect(lines[0].metadata["code"] == "unknownKey")
            // Another place, and another key at a place.
            for key in ["surnme", "", "emailSet"] { #expect(people[0][key] == nil) }
            let more = log.take(.error)
            #expect(more.count == 3 && more[2].message.contains("is a relationship"))
            // NULL, staged values and new objects are as they are.
            let new = try context.add("person")
            #expect(people[0]["born"] == nil && new["surname"] == nil)
            #expect(log.take(.error).isEmpty)
        }
    }

    @Test(.database(.sql(referenceSchema))) func whatFollowsFromAMisreadKeyIsNotSaved() async throws {
        try await withLog { context, log in
            let ann = try await context.fetch("person").where("id = 1").one()
            if ann["surnme"] == nil { ann["surname"] = "Nobody" }
            let (error, recorder) = await recordingStatements {
                await expectError(.unknownKey) { try await context.save() }
            }
            #expect(recorder.statements.isEmpty && error?.message.contains("WrongKeyTests.swift") == true)
            #expect(error?.key == "surnme" && error?.entity == "public.person" && ann["surname"] == "Nobody")
            // It is reported once: the next save succeeds.
            try await context.save()
            #expect(!context.hasStagedChanges)
            // With other problems all are reported; a rollback takes it back, too.
            _ = ann["emailSet"]
            ann["born"] = "yesterday"
            let both = await expectError(.validationFailed) { try await context.save() }
            #expect(both?.problems.map(\.code) == [.wrongType, .wrongType])
            _ = ann["surnme"]
            context.rollback()
            ann["surname"] = "Smith"
            try await context.save()
        }
    }

    @Test(.database(.sql(referenceSchema))) func aCheckThatMisreadsIsReportedByItsOwnSave() async throws {
        try await withLog { context, log in
            try context.database.addHooks(ObjectHooks(validate: { _ = $0["surnme"] }), to: "person")
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["surname"] = "Other"
            await expectError(.unknownKey) { try await context.save() }
            #expect(ann.hasStagedChanges && log.take(.error).count == 1)
        }
    }

    @Test(.database(.sql(referenceSchema))) func settingByAWrongKeyMakesTheNextSaveFail() async throws {
        try await withLog { context, log in
            let ann = try await context.fetch("person").where("id = 1").one()
            ann["surnme"] = "x"
            let error = await expectError(.unknownKey) { try await context.save() }
            #expect(error?.object === ann && error?.message.contains("\"surname\"") == true)
            ann.rollback()
            try await context.save()
        }
    }

    @Test(.database(.sql(referenceSchema)), arguments: ["surnme", ""])
    func aSaveWithNothingStagedFailsToo(key: String) async throws {
        try await withLog { context, log in
            let ann = try await context.fetch("person").where("id = 1").one()
            // The intended change is never staged.
            if ann[key] == "Smith" { ann["surname"] = "Other" }
            try await expectStatements([]) { () async throws in
                let error = await expectError(.unknownKey) { try await context.save() }
                #expect(error?.key == key && error?.category == .mistake)
                _ = ann[key]
                await expectError(.unknownKey) { try await ann.save() }
                // Each is reported once.
                try await context.save()
                ann[key] = "x"
                await expectError(.unknownKey) { try await context.save() }
            }
            ann.rollback()
            try await context.save()
        }
    }

    @Test(.database(.sql(referenceSchema))) func readingThatThrowsIsThereToo() async throws {
        try await withLog { context, log in
            let ann = try await context.fetch("person").where("id = 1").one()
            #expect(throws: KindredError.self) { try ann.value(forKey: "surnme", as: String.self) }
            #expect(try ann.value(forKey: "surname", as: String.self) == "Smith")
            #expect(log.take(.error).isEmpty)
        }
    }
}
