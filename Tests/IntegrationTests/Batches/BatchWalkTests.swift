import Kindred
import KindredTesting
import Testing

/// The statements of long and deep walks over relationships.
@Suite struct BatchWalkTests {
    private static let count = LongTests.areOn ? 100_000 : 10_000
    private static let shelf = """
        CREATE TABLE book (id integer PRIMARY KEY);
        CREATE TABLE review (id integer PRIMARY KEY, book_id integer REFERENCES book);
        INSERT INTO book SELECT generate_series(1, \(count));
        INSERT INTO review SELECT i, i FROM generate_series(1, \(count), 100) AS i;
        CREATE INDEX ON review (book_id);
        """

    /// Slices of 128, 256, 512 and so on: 11 statements for 100,000 books, the first one included.
    @Test(.database(.sql(shelf))) func aLoopOverAHundredThousandBooksLoadsSlicesThatDouble() async throws {
        try await withDatabase { (_, context, _) async throws in
            let (reviews, recorder) = try await recordingStatements {
                var reviews = 0
                for book in try await context.fetch("book").sorted("id").all() {
                    reviews += try await book.set(forKey: "reviewSet").objects.count
                }
                return reviews
            }
            #expect(reviews == Self.count / 100)
            var (slices, size, covered) = (0, 128, 0)
            while covered < Self.count { (slices, covered, size) = (slices + 1, covered + size, size * 2) }
            #expect(recorder.statements.count == 1 + slices)
            #expect(slices == (LongTests.areOn ? 10 : 7))
        }
    }

    @Test(.database(.file("../../../sql/demo.sql"))) func aWalkOverFiveLevelsIsOneStatementForEach() async throws {
        try await withDatabase { (_, context, _) async throws in
            let (buyers, recorder) = try await recordingStatements {
                var buyers = 0
                for author in try await context.fetch("author").sorted("id").limit(5).all() {
                    for try await book in try await author.set(forKey: "books") {
                        for try await stock in try await book.set(forKey: "stockSet") {
                            for try await line in try await stock.set(forKey: "sales") {
                                let purchase = try await line.object(forKey: "purchase")
                                buyers += try await purchase?.object(forKey: "buyer") == nil ? 0 : 1
                            }
                        }
                    }
                }
                return buyers
            }
            #expect(buyers > 5)
            #expect(recorder.statements.count == 6, "\(recorder.statements)")
        }
    }
}
