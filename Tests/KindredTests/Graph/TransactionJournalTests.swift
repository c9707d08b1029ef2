import KindredPostgres
import Testing

@testable import Kindred

/// Changes of a transaction in memory are kept when it commits, and put back when it does not.
@Suite struct TransactionJournalTests {
    private let offline: OfflineContext
    private let object: DatabaseObject

    init() throws {
        offline = try OfflineContext()
        object = try offline.object(1, "before")
    }

    @Test func anUndoneTransactionPutsItsObjectsBack() async throws {
        let journal = offline.journal()
        try await offline.write("inside", to: object, in: journal)
        #expect(try object.storedName == "inside")
        try journal.undo()
        #expect(try object.storedName == "before" && !object.isStale)
        #expect(journal.scope.isUndone && !journal.scope.isRunning && offline.context.core.undoCount == 1)
    }

    @Test func aCommittedTransactionKeepsWhatItWrote() async throws {
        let journal = offline.journal()
        try await offline.write("inside", to: object, in: journal)
        #expect(journal.scope.isRunning)
        journal.commit()
        #expect(try object.storedName == "inside")
        #expect(!journal.scope.isRunning && offline.context.core.journals.others(than: nil).isEmpty)
    }

    /// A transaction that writes "outer", with a savepoint that writes "inner".
    private func nested() async throws -> (outer: TransactionJournal, inner: TransactionJournal) {
        let outer = offline.journal()
        try await offline.write("outer", to: object, in: outer)
        let inner = await TransactionJournal.with(outer) { offline.journal() }
        try await offline.write("inner", to: object, in: inner)
        return (outer, inner)
    }

    @Test func aSavepointThatIsUndoneLeavesTheTransactionsChanges() async throws {
        let (outer, inner) = try await nested()
        try inner.undo()
        #expect(try object.storedName == "outer")
        #expect(inner.scope.isUndone && !outer.scope.isUndone && outer.scope.isRunning)
        try outer.undo()
        #expect(try object.storedName == "before")
    }

    @Test func aReleasedSavepointIsUndoneWithItsTransaction() async throws {
        let (outer, inner) = try await nested()
        inner.merge(into: outer)
        #expect(try object.storedName == "inner" && !inner.scope.isUndone)
        try outer.undo()
        #expect(try object.storedName == "before" && inner.scope.isUndone)
    }

    @Test func objectsThatAreRecordedTogetherGetTheirEarliestStateBack() async throws {
        let other = try offline.object(2, "other")
        let (outer, objects) = (offline.journal(), [object, other])
        func change(_ name: String, in journal: TransactionJournal) throws {
            journal.record(objects)
            for object in objects { try object.withState { $0.row = try offline.row(1, name) } }
        }
        try change("first", in: outer)
        try change("second", in: outer)
        let undone = await TransactionJournal.with(outer) { offline.journal() }
        try change("third", in: undone)
        try undone.undo()
        #expect(try object.storedName == "second" && other.storedName == "second")
        let kept = await TransactionJournal.with(outer) { offline.journal() }
        try change("fourth", in: kept)
        kept.merge(into: outer)
        #expect(outer.hasRecorded(other))
        try outer.undo()
        #expect(try object.storedName == "before" && other.storedName == "other")
    }

    @Test func whatASavepointAloneChangedIsUndoneWithItsTransaction() async throws {
        let outer = offline.journal()
        let inner = await TransactionJournal.with(outer) { offline.journal() }
        try await offline.write("inner", to: object, in: inner)
        inner.merge(into: outer)
        try outer.undo()
        #expect(try object.storedName == "before")
    }

    @Test func objectsThatWereReadInsideAreStale() async throws {
        let journal = offline.journal()
        journal.recordFetched([object, object])
        #expect(!object.isStale)
        try journal.undo()
        #expect(object.isStale)
    }

    @Test func objectsThatWereWrittenAreStaleWhereTheOutcomeIsUnknown() async throws {
        let journal = offline.journal()
        try await offline.write("inside", to: object, in: journal)
        try journal.undo(isUnknown: true)
        #expect(object.isStale)
    }

    @Test func objectsWhoseRowsAreUndoneAreDeleted() async throws {
        let journal = offline.journal()
        journal.record(object)
        journal.recordCreated(object)
        try journal.undo()
        #expect(object.isDeleted)
        #expect(offline.context.core.liveObject(offline.entity, .integer(1)) == nil)
    }

    @Test func anObjectGetsItsKeyBack() async throws {
        let journal = offline.journal()
        let row = try offline.row(2, "moved")
        try await TransactionJournal.with(journal) { try offline.context.core.take(row, for: object) }
        #expect(offline.context.core.liveObject(offline.entity, .integer(2)) === object)
        try journal.undo()
        #expect(offline.context.core.liveObject(offline.entity, .integer(1)) === object)
        #expect(offline.context.core.liveObject(offline.entity, .integer(2)) == nil)
    }
}
