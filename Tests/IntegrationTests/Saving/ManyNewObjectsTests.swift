import Kindred
import KindredTesting
import Testing

private let schema = """
    CREATE TABLE review (
        id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, book_id integer NOT NULL, text text NOT NULL,
        stars integer NOT NULL);
    """

/// Saves of more rows than a statement takes.
@Suite(.database(.sql(schema))) struct ManyNewObjectsTests {
    @Test(arguments: [1, 100, 6_000]) func eachIsWrittenOnce(count: Int) async throws {
        try await withDatabase { database, context, other in
            for number in 0..<count {
                try context.add(
                    "review", ["book_id": number % 7, "text": "The review \(number)", "stars": number % 5])
            }
            let (_, recorder) = try await recordingStatements { try await context.save() }
            // Many rows go in two statements: memory takes the first while the server works on the second.
            #expect(recorder.all.count == (count < 5_000 ? 3 : 4), "\(recorder.all)")
            #expect(!context.hasStagedChanges)
            #expect(try await other.value("SELECT count(*) FROM review") == .integer(Int64(count)))
        }
    }
}
