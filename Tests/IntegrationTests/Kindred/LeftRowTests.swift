import KindredTesting
import TestSupport
import Testing

@testable import Kindred

/// What a changed object leaves behind: loaded relationships hold rows, and show the newer one for as long as they do.
@Suite struct LeftRowTests {
    private static func addresses(of person: DatabaseObject) async throws -> [PostgresValue?] {
        try await person.set(forKey: "emailSet").objects.map { $0["address"] }.sorted { "\($0 as Any)" < "\($1 as Any)" }
    }

    @Test("a loaded set shows what was written each time that it is read", .database(.sql(referenceSchema)))
    func aSetShowsWhatWasWrittenEachTime() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            _ = try await Self.addresses(of: ann)
            do {
                let email = try await context.find("email", 1)!
                try await email.setValue("new", forKey: "address")
            }
            for _ in 0..<3 { #expect(try await Self.addresses(of: ann) == ["a.smith@example.org", "new"]) }
        }
    }

    @Test(.database(.sql(referenceSchema)))
    func aSetShowsWhatWasWrittenAfterTheRowWasReadAnew() async throws {
        try await withDatabase { database, context, other in
            let ann = try await context.find("person", 1)!
            _ = try await Self.addresses(of: ann)
            do {
                let email = try await context.find("email", 1)!
                try await email.setValue("new", forKey: "address")
            }
            for _ in 0..<2 {
                _ = try await context.find("email", 1)
                _ = try await context.fetch("email").all()
            }
            for _ in 0..<3 { #expect(try await Self.addresses(of: ann) == ["a.smith@example.org", "new"]) }
        }
    }
}
