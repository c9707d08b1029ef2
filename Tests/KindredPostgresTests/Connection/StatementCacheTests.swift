import Testing

@testable import KindredPostgres

/// Which statements a connection has prepared, beside a list that does the same slowly.
@Suite struct StatementCacheTests {
    /// One of five texts with a parameter of one of two types.
    private struct Kind: Hashable, CaseIterable {
        static let allCases = (0..<5).flatMap { text in [true, false].map { Kind(text: text, isWide: $0) } }
        /// The same text in two objects, as two places of a program have it.
        static let texts = (0..<5).map { text in (0..<2).map { _ in StatementText("SELECT \(text), $1") } }

        let text: Int
        let isWide: Bool

        func statement(_ copy: Int) throws -> Statement {
            var bindings = Bindings()
            try bindings.append(.integer(1), as: isWide ? .int8 : .int4)
            return Statement(text: Self.texts[text][copy], bindings: bindings)
        }
    }

    @Test(arguments: 1...8) func keepsThoseUsedLast(ofSoMany capacity: Int) throws {
        var random = SystemRandomNumberGenerator()
        var cache = StatementCache(capacity: capacity)
        // The one used last stands at the end.
        var known: [(kind: Kind, entry: StatementCache.Entry)] = []
        for _ in 0..<2_000 {
            let kind = Kind.allCases[Int.random(in: 0..<10, using: &random)]
            let statement = try kind.statement(Int.random(in: 0..<2, using: &random))
            let place = known.firstIndex { $0.kind == kind }
            switch Int.random(in: 0..<40, using: &random) {
            case 0:
                cache.removeAll()
                known = []
            case 1..<5:
                guard let place else { continue }
                cache.remove(known[place].entry)
                known.remove(at: place)
            default:
                let found = cache.find(statement)
                #expect(found === place.map { known[$0].entry })
                if let place { known.remove(at: place) }
                if found == nil, known.count == capacity { known.removeFirst() }
                known.append((kind, found ?? cache.insert(statement)))
            }
            #expect(cache.isFull == (known.count == capacity))
        }
    }

    @Test(arguments: [true, false]) func aSharedStatementThatBecameStaleIsSentAsAnotherText(isShared: Bool) throws {
        var cache = StatementCache(capacity: 4, sharesStatements: isShared)
        let (stale, other) = (
            try Kind(text: 0, isWide: true).statement(0), try Kind(text: 1, isWide: true).statement(0)
        )
        var texts: Set<String> = []
        for _ in 0..<3 {
            let entry = cache.insert(stale)
            texts.insert(entry.sentText)
            #expect(entry.text == stale.text && entry.sentText.hasPrefix(stale.text.text))
            #expect(cache.insert(other).sentText == other.text.text)
            cache.outdate(entry)
            // It is another's by now.
            cache.outdate(entry)
            cache.removeAll()
        }
        #expect(texts.contains(stale.text.text) && texts.count == (isShared ? 3 : 1))
        #expect(cache.insert(try Kind(text: 0, isWide: false).statement(1)).sentText.hasSuffix("/* 3 */") == isShared)
        #expect(StatementCache.Entry.unnamed(stale).sentText == stale.text.text)
    }
}
