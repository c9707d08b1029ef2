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
        #expect(map.refreshedAt(3, .integer(1)) == 0)
    }

    @Test func remembersADeletedRow() {
        let map = Self.map { $0.noteDeleted(3, .integer(1), at: 7) }
        #expect(map.hasNotes(3) && !map.hasNotes(4))
        #expect(map.isDeleted(3, .integer(1), since: 6) && !map.isDeleted(3, .integer(1), since: 7))
        #expect(!map.isDeleted(3, .integer(2), since: 6))
    }

    @Test func remembersARowThatIsBeingDeleted() {
        let map = Self.map { $0.setDeleting(true, 3, [.integer(1)]) }
        #expect(map.hasNotes(3) && map.isDeleting(3, .integer(1)) && !map.isDeleting(3, .integer(2)))
    }

    @Test func remembersARowThatAnObjectLeft() {
        var map = Self.map { $0.setNewerRow(NewerRow(row: Self.row, changedAt: 7), 3, .integer(1)) }
        #expect(
            map.hasNotes(3) && map.newerRow(3, .integer(1))?.changedAt == 7 && map.newerRow(3, .integer(2)) == nil)
        map.setNewerRow(nil, 3, .integer(1))
        #expect(map.newerRow(3, .integer(1)) == nil && !map.hasNotes(3))
    }

    @Test(arguments: ["rows", "deleted", "refreshed", "links"]) func keepsNoMoreNotesOfAKindThanItMay(kind: String) {
        var map = IdentityMap(ObjectReferences())
        (map.maximumNotes, map.maximumEntries) = (10, 10)
        for key in 1...11 {
            #expect(map.overfullEntity == nil)
            switch kind {
            case "rows": map.setNewerRow(NewerRow(row: Self.row, changedAt: 7), 3, .integer(Int64(key)))
            case "deleted": map.noteDeleted(3, .integer(Int64(key)), at: 7)
            case "refreshed": map.noteRefreshed(3, .integer(Int64(key)), at: 7)
            default: map.note(3, slot: 2) { $0.append(Self.entry(1), of: .integer(Int64(key)), at: 7) }
            }
        }
        #expect(map.overfullEntity == 3)
        map.forgetNotes(of: 3, at: 9)
        #expect(map.overfullEntity == nil && !map.hasNotes(3))
    }

    @Test func whatWasForgottenIsKnownOfNothingThatWasAskedForBefore() {
        var map = Self.map { $0.noteDeleted(3, .integer(1), at: 7) }
        #expect(map.deletedKeys(3, since: 6) == [.integer(1)] && map.deletedKeys(3, since: 7) == [])
        map.forgetNotes(of: 3, at: 9)
        map.noteDeleted(3, .integer(2), at: 11)
        #expect(map.deletedKeys(3, since: 8) == nil && map.deletedKeys(3, since: 10) == [.integer(2)])
        #expect(map.hasForgotten(3, since: 8) && !map.hasForgotten(3, since: 9) && !map.hasForgotten(4, since: 1))
    }

    private static func entry(_ key: Int64) -> RelationshipLog.Entry {
        RelationshipLog.Entry(member: .integer(key))
    }

    @Test func remembersWhenAnObjectsRelationshipsWereGivenUp() {
        let map = Self.map { $0.noteRefreshed(3, .integer(1), at: 7) }
        #expect(map.refreshedAt(3, .integer(1)) == 7 && map.refreshedAt(3, .integer(2)) == 0)
    }

    @Test func aDeletionThatWasUndoneDoesNotCount() {
        let scope = TransactionScope(within: nil)
        let map = Self.map { $0.noteDeleted(3, .integer(1), at: 7, in: scope) }
        #expect(map.isDeleted(3, .integer(1), since: 6) && map.deletedKeys(3, since: 6) == [.integer(1)])
        scope.undo()
        #expect(!map.isDeleted(3, .integer(1), since: 6) && map.deletedKeys(3, since: 6) == [])
    }
}
