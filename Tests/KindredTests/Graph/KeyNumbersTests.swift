import KindredPostgres
import Testing

@testable import Kindred

/// Keys get numbers in the order in which they come, each one.
@Suite struct KeyNumbersTests {
    @Test func numbersKeysAsADictionaryWould() {
        var random = Generator(state: 5)
        var numbers = KeyNumbers()
        var expected: [ObjectKey: Int] = [:]
        var order: [ObjectKey] = []
        for _ in 0..<5_000 {
            let integer = Int64(random.next(2_000)) - 1_000
            let key: ObjectKey = random.next(3) == 0 ? .values([.integer(integer), .bool(true)]) : .integer(integer)
            let (number, isNew) = numbers.insert(key)
            #expect(isNew == (expected[key] == nil))
            if isNew {
                expected[key] = order.count
                order.append(key)
            }
            #expect(number == expected[key])
        }
        #expect(numbers.count == order.count)
        #expect(numbers.keys == order)
        for (key, number) in expected { #expect(numbers.number(of: key) == number) }
        #expect(numbers.number(of: .integer(5_000)) == nil)
        #expect(numbers.number(of: .values([.bool(false)])) == nil)
        #expect(KeyNumbers(order).keys == order)
    }

    @Test func givesEachOwnerItsRowsInTheOrderInWhichTheyCame() throws {
        var random = Generator(state: 9)
        let columns = RowColumns([RowColumns.Column(name: "id", dataType: .int8)], types: nil)
        let row = Row(columns: columns, count: 1) { _, _ in }
        let owners = (0..<50).map { ObjectKey.integer($0) }
        var builder = Answer.Builder(owners: KeyNumbers(owners), count: 0)
        var expected: [ObjectKey: [ObjectKey]] = [:]
        for member in 0..<300 {
            // One owner that was not requested too.
            let owner = ObjectKey.integer(Int64(random.next(51)))
            builder.append(.integer(Int64(member)), row, to: owner)
            expected[owner, default: []].append(.integer(Int64(member)))
            let other = ObjectKey.integer(Int64(random.next(51)))
            guard other != owner else { continue }
            let place = random.next(builder.count)
            let shared = ObjectKey.integer(Int64(place))
            guard expected[other]?.contains(shared) != true else { continue }
            builder.share(place, with: other)
            expected[other, default: []].append(shared)
        }
        let batch = builder.build(askedAt: 7, in: nil)
        for owner in owners + [.integer(50)] {
            let members = try #require(batch.members(of: owner))
            #expect(members.members.map(\.key) == expected[owner] ?? [])
            #expect(members.count == expected[owner]?.count ?? 0)
            #expect(members.first?.key == expected[owner]?.first)
        }
        #expect(batch.members(of: .integer(51)) == nil)
        #expect(batch.askedAt == 7)
    }
}
