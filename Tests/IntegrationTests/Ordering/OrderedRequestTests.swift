import Kindred
import KindredTesting
import Testing

/// Requests for the members of ordered relationships give them in their order.
@Suite struct OrderedRequestTests {
    @Test(.database(.sql(OrderedKind.schema)), arguments: OrderedKind.allCases)
    func membersComeInTheirOrderUnlessSorted(_ kind: OrderedKind) async throws {
        try await withDatabase { (_, context, other) async throws in
            let set = try await kind.list(1, context).set(forKey: "items")
            let items = try await kind.items(context)
            try await set.set([4, 2, 5, 1, 3].map { items[$0 - 1] })
            func numbers(_ objects: [DatabaseObject]) -> [Int] {
                objects.compactMap { if case .integer(let id) = $0["id"] { Int(id) } else { nil } }
            }
            func expect(
                _ expected: [Int],
                _ request: FetchRequest<DatabaseObject>,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                try await expectStatements(["SELECT"], sourceLocation: sourceLocation) { () async throws in
                    let found = numbers(try await request.all())
                    #expect(found == expected, sourceLocation: sourceLocation)
                }
            }
            try await expect([4, 2, 5, 1, 3], set.request())
            try await expect([4, 2, 5, 3], set.where("id > %@", 1))
            try await expect([4, 2], set.limit(2))
            try await expect([5, 1], set.request().offset(2).limit(2))
            try await expect([2, 5, 3], set.where("id != 1").where("id != 4"))
            try await expect([1, 2, 3, 4, 5], set.sorted("id"))
            #expect(try await numbers([#require(set.request().first())]) == [4])
            #expect(try await set.request().count() == 5)
            #expect(try await set.limit(2).aggregate(.sum("id")) == 6)
            let selected = try await set.request().select("id").all().map { $0["id"] }
            #expect(selected == [4, 2, 5, 1, 3].map { .integer($0) })
            #expect(try await set.request().select("id").distinct().all().count == 5)
            #expect(try await set.request().group(by: "id", aggregates: .count).all().count == 5)
            var streamed: [DatabaseObject] = []
            for try await item in try set.request().stream() { streamed.append(item) }
            #expect(numbers(streamed) == [4, 2, 5, 1, 3])
            // Pages go on where a row says, and only the members' own rows say their places.
            let page = try await set.request().page(size: 2)
            let next = try await set.request().page(size: 5, after: page.next)
            #expect(numbers(page.objects + next.objects) == (kind.isHelper ? [1, 2, 3, 4, 5] : [4, 2, 5, 1, 3]))
            // The first of them, not any.
            #expect(try await set.limit(1).delete() == 1)
            try await expect([2, 5, 1, 3], set.request())
            #expect(try await kind.stored(1, other) == [2, 5, 1, 3])
        }
    }
}
