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
}
