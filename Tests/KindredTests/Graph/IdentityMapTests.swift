import KindredPostgres
import Testing

@testable import Kindred

/// What is noted of rows without objects is there again, also where it is the only note that there ever was.
@Suite struct IdentityMapTests {
    private static let row = Row(columns: RowColumns([], types: nil), count: 0) { _, _ in }

    private static let runtime = SchemaRuntime(ConditionFixture.schema)
    private let person = runtime.entities[0]
    private let email = runtime.entities[1]

    private static func map(_ change: (inout IdentityMap) -> Void) -> IdentityMap {
        var map = IdentityMap(ObjectReferences())
        change(&map)
        return map
    }

    @Test func aMapThatOnlyKnowsAnEntityHasNoNotes() {
        let map = Self.map { $0.noteKnown(person) }
        #expect(map.knows(person) && !map.knows(email) && !map.hasNotes(person))
        #expect(map.staleSince(person, .integer(1)) == 0)
    }

    @Test func remembersADeletedRow() {
        let map = Self.map { $0.noteDeleted(person, .integer(1), at: 7) }
        #expect(map.hasNotes(person) && !map.hasNotes(email))
        #expect(map.isDeleted(person, .integer(1), since: 6) && !map.isDeleted(person, .integer(1), since: 7))
        #expect(!map.isDeleted(person, .integer(2), since: 6))
    }

    @Test func remembersARowThatIsBeingDeleted() {
        let map = Self.map { $0.setDeleting(true, person, [.integer(1)]) }
        #expect(map.hasNotes(person) && map.isDeleting(person, .integer(1)) && !map.isDeleting(person, .integer(2)))
    }

    @Test func remembersARowThatAnObjectLeft() {
        var map = Self.map { $0.setNewerRow(NewerRow(row: Self.row, changedAt: 7), person, .integer(1)) }
        #expect(
            map.hasNotes(person) && map.newerRow(person, .integer(1))?.changedAt == 7
                && map.newerRow(person, .integer(2)) == nil)
        map.setNewerRow(nil, person, .integer(1))
        #expect(map.newerRow(person, .integer(1)) == nil && !map.hasNotes(person))
    }

    @Test(arguments: ["rows", "deleted", "refreshed", "links"]) func keepsNoMoreNotesOfAKindThanItMay(kind: String) {
        var map = IdentityMap(ObjectReferences())
        (map.maximumNotes, map.maximumEntries) = (10, 10)
        for key in 1...11 {
            #expect(map.overfullEntity == nil)
            switch kind {
            case "rows": map.setNewerRow(NewerRow(row: Self.row, changedAt: 7), person, .integer(Int64(key)))
            case "deleted": map.noteDeleted(person, .integer(Int64(key)), at: 7)
            case "refreshed": map.noteRefreshed(person, .integer(Int64(key)), at: 7)
            default:
                map.note(Self.runtime.entities[0].relationships[0]) {
                    $0.append(Self.entry(1), of: .integer(Int64(key)), at: 7)
                }
            }
        }
        #expect(map.overfullEntity == person)
        map.forgetNotes(of: person, at: 9)
        #expect(map.overfullEntity == nil && !map.hasNotes(person))
    }

    @Test func whatWasForgottenIsKnownOfNothingThatWasAskedForBefore() {
        var map = Self.map { $0.noteDeleted(person, .integer(1), at: 7) }
        #expect(map.deletedKeys(person, since: 6) == [.integer(1)] && map.deletedKeys(person, since: 7) == [])
        map.forgetNotes(of: person, at: 9)
        map.noteDeleted(person, .integer(2), at: 11)
        #expect(map.deletedKeys(person, since: 8) == nil && map.deletedKeys(person, since: 10) == [.integer(2)])
        #expect(
            map.hasForgotten(person, since: 8) && !map.hasForgotten(person, since: 9)
                && !map.hasForgotten(email, since: 1))
    }

    private static func entry(_ key: Int64) -> RelationshipLog.Entry {
        RelationshipLog.Entry(member: .integer(key))
    }

    @Test func remembersWhenAnObjectsRelationshipsWereGivenUp() {
        let map = Self.map { $0.noteRefreshed(person, .integer(1), at: 7) }
        #expect(map.staleSince(person, .integer(1)) == 7 && map.staleSince(person, .integer(2)) == 0)
    }

    @Test func aDeletionThatWasUndoneDoesNotCount() {
        let scope = TransactionScope(within: nil)
        let map = Self.map { $0.noteDeleted(person, .integer(1), at: 7, in: scope) }
        #expect(map.isDeleted(person, .integer(1), since: 6) && map.deletedKeys(person, since: 6) == [.integer(1)])
        scope.undo()
        #expect(!map.isDeleted(person, .integer(1), since: 6) && map.deletedKeys(person, since: 6) == [])
    }
}
