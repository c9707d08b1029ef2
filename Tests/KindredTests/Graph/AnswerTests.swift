import KindredPostgres
import Testing

@testable import Kindred

/// An answer for the owners of several contexts is taken apart again.
@Suite struct AnswerTests {
    private static func key(_ number: Int64) -> ObjectKey { .integer(number) }

    /// Owner 1 has 10 and 11, owner 2 has 11, owner 3 has none.
    private static func answer(_ offline: OfflineContext) throws -> Answer.Builder {
        var found = Answer.Builder(owners: KeyNumbers([key(1), key(2), key(3)]), count: 2)
        found.append(key(10), try offline.row(10, "a"), to: key(1))
        found.append(key(11), try offline.row(11, "b"), to: key(1))
        found.share(1, with: key(2))
        return found
    }

    private static func members(_ batch: Answer, _ owner: Int64) -> [ObjectKey]? {
        batch.members(of: key(owner))?.members.map(\.key)
    }

    @Test func aPartHasTheMembersOfItsOwners() throws {
        let answer = try Self.answer(OfflineContext())
        #expect(!answer.hasOthers && !answer.hasMembersOfAll)
        let whole = answer.part(of: KeyNumbers([Self.key(1), Self.key(2), Self.key(3)])).build(askedAt: 1, in: nil)
        #expect(Self.members(whole, 1) == [Self.key(10), Self.key(11)] && Self.members(whole, 3) == [])
        let part = answer.part(of: KeyNumbers([Self.key(3), Self.key(2)])).build(askedAt: 5, in: nil)
        #expect(part.rows.map(\.key) == [Self.key(11)] && part.askedAt == 5)
        #expect(Self.members(part, 2) == [Self.key(11)] && Self.members(part, 3) == [])
        #expect(Self.members(part, 1) == nil)
    }
}
