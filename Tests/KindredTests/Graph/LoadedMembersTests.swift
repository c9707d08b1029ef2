import KindredPostgres
import Testing

@testable import Kindred

/// Members stay in their order, whatever comes, goes or gets another key.
@Suite struct LoadedMembersTests {
    private static let row = Row(columns: RowColumns([], types: nil), count: 0) { _, _ in }

    private static func member(_ key: Int64) -> Member {
        Member(key: .integer(key), row: row)
    }

    @Test(arguments: 1...8) func areWhatAListOfThemWouldBe(seed: UInt64) {
        var random = Generator(state: seed)
        var members = LoadedMembers()
        var expected: [ObjectKey] = []
        for step in 0..<3_000 {
            let key = Int64(random.next(200))
            switch random.next(8) {
            case 0...2:
                members.insert(Self.member(key))
                if !expected.contains(.integer(key)) { expected.append(.integer(key)) }
            case 3, 4:
                members.remove([.integer(key)])
                expected.removeAll { $0 == .integer(key) }
            case 5:
                let keys = Set((0..<random.next(40)).map { _ in ObjectKey.integer(Int64(random.next(200))) })
                members.remove(keys)
                expected.removeAll { keys.contains($0) }
            case 6:
                // Some have a key that is there already.
                let other = random.next(4) == 0 ? Int64(random.next(200)) : Int64(200 + step)
                members.rekey(.integer(key), to: Self.member(other))
                guard let place = expected.firstIndex(of: .integer(key)) else { break }
                if key != other, expected.contains(.integer(other)) {
                    expected.remove(at: place)
                } else {
                    expected[place] = .integer(other)
                }
            default:
                guard random.next(10) == 0 else { continue }
                expected.reverse()
                members.reorder(members.members.reversed())
            }
            #expect(members.members.map(\.key) == expected)
            #expect(members.count == expected.count)
            #expect(members.first?.key == expected.first)
            var walked: [ObjectKey] = []
            members.forEach { walked.append($0.key) }
            #expect(walked == expected)
            #expect(members.contains(.integer(key)) == expected.contains(.integer(key)))
        }
    }
}
