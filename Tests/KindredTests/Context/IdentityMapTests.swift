import KindredPostgres
import Testing

@testable import Kindred

/// What is noted of rows without objects is there again, also where it is the only note that there ever was.
@Suite struct IdentityMapTests {
    private static let row = Row(columns: RowColumns([], types: nil), count: 0) { _, _ in }

    private static func map(_ change: (inout IdentityMap) -> Void) -> IdentityMap {
        var map = IdentityMap(ObjectReferences())
        change(&map)
        return map
    }

    @Test func aMapThatOnlyKnowsAnEntityHasNoNotes() {
        let map = Self.map { $0.noteKnown(3) }
        #expect(map.knows(3) && !map.knows(4) && !map.hasNotes(3))
        #expect(map.linkChange(3, slot: 0, .integer(1)) == 0)
    }

    @Test func remembersADeletedRow() {
        let map = Self.map { $0.noteDeleted(3, .integer(1), at: 7) }
        #expect(map.hasNotes(3) && !map.hasNotes(4))
        #expect(map.isDeleted(3, .integer(1)) && !map.isDeleted(3, .integer(2)))
    }

    @Test func remembersARowThatIsBeingDeleted() {
        let map = Self.map { $0.setDeleting(true, 3, [.integer(1)]) }
        #expect(map.hasNotes(3) && map.isDeleting(3, .integer(1)) && !map.isDeleting(3, .integer(2)))
    }

    @Test func remembersARowThatAnObjectLeft() {
        var map = Self.map { $0.keepLatestRow(LeftRow(entity: 3, key: .integer(1), row: Self.row)) }
        #expect(map.hasNotes(3) && map.latestRow(3, .integer(1)) != nil && map.latestRow(3, .integer(2)) == nil)
        let taken = map.takeLatestRow(3, .integer(1))
        #expect(taken != nil && !map.hasNotes(3))
    }

    @Test func remembersWhenAnOwnersRelationshipChanged() {
        let map = Self.map { $0.noteLinkChange(3, slot: 2, .integer(1), at: 7) }
        #expect(map.linkChange(3, slot: 2, .integer(1)) == 7)
        #expect(map.linkChange(3, slot: 1, .integer(1)) == 0 && map.linkChange(3, slot: 2, .integer(2)) == 0)
    }
}
