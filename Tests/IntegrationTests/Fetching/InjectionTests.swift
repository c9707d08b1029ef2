import Kindred
import KindredTesting
import Testing

@Suite struct InjectionTests {
    private static let texts = [
        "'; DROP TABLE author; --", "\"; DROP TABLE author; --", "x' OR '1'='1", "$1; DELETE FROM author",
        "%' OR 1=1 --",
        "\\'; DROP TABLE author; --", "id) OR (1=1", "/* */ OR TRUE",
    ]

    @Test(.database(.sql(librarySchema)), arguments: texts)
    func hostileTextIsRefusedAsANameAndInertAsAValue(_ text: String) async throws {
        try await withDatabase { (database, context, other) async throws in
            let authors = try context.fetch("author")
            try await expectStatements([]) { () async throws in
                await expectError(.unknownEntity) { _ = try context.fetch(text) }
                await expectError(.unknownKey) { _ = try authors.sorted(text) }
                await expectError(.unknownKey) { _ = try authors.select(text) }
                await expectError(.unknownKey) { _ = try authors.prefetch(text) }
                await expectError(.unknownKey) { _ = try authors.where("%K = 1", text) }
                #expect(throws: KindredError.self) { _ = try authors.where(text) }
                await expectError(.unknownKey) { _ = try await context.create("author", [text: 1]) }
            }
            for operation in ["==", "LIKE", "CONTAINS", "BEGINSWITH", "ENDSWITH"] {
                #expect(try await authors.where("name \(operation) %@", text).count() == 0)
            }
            #expect(try await authors.where("name IN %@", [text]).count() == 0)
            #expect(try await other.value("SELECT count(*) FROM author") == 1200)
        }
    }
}
