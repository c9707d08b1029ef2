import KindredPostgres
import Testing

@testable import Kindred

/// Notes on rows without objects can be read again, even if there was never another note.
@Suite struct RowNotesTests {
    private static let row = Row(columns: RowColumns([], types: nil), count: 0) { _, _ in }

    private static let runtime = SchemaRuntime(ConditionFixture.schema)
    private let person = runtime.entities[0]
    private let email = runtime.entities[1]

    private static func notes(_ change: (inout RowNotes) -> Void) -> RowNotes {
        var notes = RowNotes()
        change(&notes)
        return notes
    }

    @Test func thatAnEntityIsKnownIsNoNote() {
        let notes = Self.notes { $0.noteKnown(person) }
        #expect(notes.knows(person) && !notes.knows(email) && !notes.hasNotes(person))
        #expect(notes.staleSince(person, .integer(1)) == 0)
        var map = IdentityMap(ObjectReferences())
        #expect(!map.knows(person))
        map.notes = notes
        #expect(map.knows(person) && !map.knows(email))
    }

    @Test func remembersADeletedRow() {
        let notes = Self.notes { $0.noteDeleted(person, .integer(1), at: 7) }
        #expect(notes.hasNotes(person) && !notes.hasNotes(email))
        #expect(notes.isDeleted(person, .integer(1), since: 6) && !notes.isDeleted(person, .integer(1), since: 7))
        #expect(!notes.isDeleted(person, .integer(2), since: 6))
    }

    @Test func remembersARowThatIsBeingDeleted() {
        let notes = Self.notes { $0.setDeleting(true, of: person, keys: [.integer(1)]) }
        #expect(
            notes.hasNotes(person) && notes.isDeleting(person, .integer(1)) && !notes.isDeleting(person, .integer(2)))
    }

    @Test func remembersARowThatAnObjectLeft() {
        var notes = Self.notes { $0.setNewerRow(NewerRow(row: Self.row, changedAt: 7), of: person, key: .integer(1)) }
        #expect(
            notes.hasNotes(person) && notes.newerRow(person, .integer(1))?.changedAt == 7
                && notes.newerRow(person, .integer(2)) == nil)
        notes.setNewerRow(nil, of: person, key: .integer(1))
        #expect(notes.newerRow(person, .integer(1)) == nil && !notes.hasNotes(person))
    }

    @Test(arguments: ["rows", "deleted", "refreshed", "links"]) func keepsNoMoreNotesOfAKindThanItMay(kind: String) {
        var notes = RowNotes()
        (notes.maximumNotes, notes.maximumEntries) = (10, 10)
        for key in 1...11 {
            #expect(notes.overfullEntity == nil)
            switch kind {
            case "rows": notes.setNewerRow(NewerRow(row: Self.row, changedAt: 7), of: person, key: .integer(Int64(key)))
            case "deleted": notes.noteDeleted(person, .integer(Int64(key)), at: 7)
            case "refreshed": notes.noteStale(person, .integer(Int64(key)), at: 7)
            default:
                notes.noteInLog(Self.runtime.entities[0].relationships[0]) {
                    $0.append(Self.entry(1), of: .integer(Int64(key)), at: 7)
                }
            }
        }
        #expect(notes.overfullEntity == person)
        notes.forgetNotes(of: person, at: 9)
        #expect(notes.overfullEntity == nil && !notes.hasNotes(person))
    }

    @Test func whatWasForgottenIsKnownOfNothingThatWasAskedForBefore() {
        var notes = Self.notes { $0.noteDeleted(person, .integer(1), at: 7) }
        #expect(notes.deletedKeys(person, since: 6) == [.integer(1)] && notes.deletedKeys(person, since: 7) == [])
        notes.forgetNotes(of: person, at: 9)
        notes.noteDeleted(person, .integer(2), at: 11)
        #expect(notes.deletedKeys(person, since: 8) == nil && notes.deletedKeys(person, since: 10) == [.integer(2)])
        #expect(
            notes.staleSince(rowsOf: person) == 9 && notes.staleSince(rowsOf: email) == 0)
    }

    private static func entry(_ key: Int64) -> RelationshipLog.Entry {
        RelationshipLog.Entry(member: .integer(key))
    }

    @Test func remembersWhenAnObjectsRelationshipsWereGivenUp() {
        let notes = Self.notes { $0.noteStale(person, .integer(1), at: 7) }
        #expect(notes.staleSince(person, .integer(1)) == 7 && notes.staleSince(person, .integer(2)) == 0)
    }

    @Test func aDeletionThatWasUndoneDoesNotCount() {
        let scope = TransactionScope(within: nil)
        let notes = Self.notes { $0.noteDeleted(person, .integer(1), at: 7, in: scope) }
        #expect(notes.isDeleted(person, .integer(1), since: 6) && notes.deletedKeys(person, since: 6) == [.integer(1)])
        scope.undo()
        #expect(!notes.isDeleted(person, .integer(1), since: 6) && notes.deletedKeys(person, since: 6) == [])
    }

    @Test func anAnswerIsStaleIfItsScopeOrOneAroundItIs() {
        let relationship = Self.runtime.entities[0].relationships[0]
        func isValid(_ notes: RowNotes, row: ObjectKey = .integer(1)) -> Bool {
            notes.isValid(askedAt: 7, relationship, of: [.integer(1)], row: row)
        }
        #expect(isValid(Self.notes { $0.noteStale(person, .integer(1), at: 7) }))
        #expect(!isValid(Self.notes { $0.noteStale(person, .integer(1), at: 8) }))
        #expect(isValid(Self.notes { $0.noteStale(person, .integer(2), at: 8) }))
        #expect(!isValid(Self.notes { $0.noteInLog(relationship) { $0.noteStale(.integer(1), at: 8) } }))
        #expect(isValid(Self.notes { $0.noteInLog(relationship) { $0.noteStale(.integer(2), at: 8) } }))
        #expect(!isValid(Self.notes { $0.noteInLog(relationship) { $0.noteAllStale(at: 8) } }))
        for entity in [relationship.source, relationship.destination] {
            #expect(!isValid(Self.notes { $0.forgetNotes(of: entity, at: 8) }))
        }
        #expect(!isValid(Self.notes { _ = $0.noteLostRows(relationship.destination, at: 8, areStale: true) }))
        #expect(isValid(Self.notes { $0.noteDeleted(relationship.destination, .integer(3), at: 8) }))
    }

    @Test func aLossIsTakenBackUnlessALaterOneWasNoted() {
        var notes = RowNotes()
        let before = notes.noteLostRows(person, at: 5, areStale: true)
        notes.undoLostRows(person, at: 5, before)
        #expect(notes.staleSince(rowsOf: person) == 0)
        let first = notes.noteLostRows(person, at: 6, areStale: true)
        _ = notes.noteLostRows(person, at: 7)
        notes.undoLostRows(person, at: 6, first)
        #expect(notes.staleSince(rowsOf: person) == 6)
    }
}
