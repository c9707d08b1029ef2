import KindredPostgres
import Testing

@Suite struct TextSearchTests {
    @Test func wordsAreSorted() throws {
        let places = [1, 2].compactMap { PostgresTSVector.Position($0, weight: .a) }
        let vector = try PostgresTSVector([.init("cat", positions: places), .init("a'\\")])
        #expect(vector.description == #"'a''\\' 'cat':1A,2A"#)
        #expect(PostgresTSVector(vector.description) == vector)
        #expect(PostgresTSVector.Position(0) == nil && PostgresTSVector.Position(16_384) == nil)
        for lexemes in [[PostgresTSVector.Lexeme("")], [.init("a"), .init("a")], [.init("a\u{0}")]] {
            expectError(.invalidParameter) { try PostgresTSVector(lexemes) }
        }
        expectError(.invalidParameter) { try PostgresTSVector([.init("a", positions: places.reversed())]) }
        expectError(.invalidParameter) { try PostgresTSVector([.init(String(repeating: "a", count: 2047))]) }
    }

    @Test func queriesArePrintedAsTheServerDoes() throws {
        let (a, b, c) = (try PostgresTSQuery.word("a"), try PostgresTSQuery.word("b"), try PostgresTSQuery.word("c"))
        let cases: [(PostgresTSQuery, String)] = [
            (.and(a, .or(b, c)), "'a' & ( 'b' | 'c' )"), (.or(.and(a, b), c), "'a' & 'b' | 'c'"),
            (.not(.and(a, b)), "!( 'a' & 'b' )"), (.not(.not(a)), "!!'a'"),
            (try .phrase(a, .phrase(b, c)), "'a' <-> ( 'b' <-> 'c' )"),
            (try .phrase(.phrase(a, b, distance: 3), c), "'a' <3> 'b' <-> 'c'"),
            (try .word("x'", weights: [.a, .d], isPrefix: true), "'x''':*AD"), (.empty, ""), (.and(.empty, a), "'a'"),
        ]
        for (query, text) in cases {
            #expect(query.description == text)
            #expect(PostgresTSQuery(text) == query)
        }
    }

    @Test(arguments: ["'a", "'a' &", "& 'a'", "'a' 'b'", "( 'a'", "'a' )", "'a' <70000> 'b'", "!", "a"])
    func otherTextsAreNoQueries(text: String) {
        #expect(PostgresTSQuery(text) == nil)
    }

    @Test func aDeepQueryIsPrintedWithoutRecursion() throws {
        var bytes: [UInt8] = []
        bytes.appendBigEndian(Int32(20_001))
        for _ in 0..<20_000 { bytes += [2, 1] }
        bytes += [1, 0, 0, 0x61, 0]
        let query = try decoded(bytes, .tsquery)
        #expect(query.description.utf8.count == 20_003)
        #expect(try decoded(Array(query.description.utf8), .tsquery, .text) == query)
    }
}
