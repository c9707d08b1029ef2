import KindredPostgres
import Testing

@testable import Kindred

/// Changes that tasks outside of a transaction make to its objects are not undone with it.
@Suite struct RunningJournalsTests {
    private let offline: OfflineContext
    private let object: DatabaseObject

    init() throws {
        offline = try OfflineContext()
        object = try offline.object(1, "before")
    }

    private func others(than own: TransactionJournal?) -> [ObjectIdentifier] {
        offline.context.core.journals.others(than: own).map { ObjectIdentifier($0) }
    }

    @Test func aTaskIsNotWithinScopesInsideOfItsOwn() async throws {
        let outer = offline.journal()
        let inner = await TransactionJournal.with(outer) { offline.journal() }
        #expect(others(than: nil).isEmpty)
        // The inner scope is the first to change anything, and still comes behind the one around it.
        inner.record(object)
        #expect(others(than: nil) == [ObjectIdentifier(outer), ObjectIdentifier(inner)])
        #expect(others(than: outer) == [ObjectIdentifier(inner)])
        #expect(others(than: inner).isEmpty)
        inner.merge(into: outer)
        #expect(others(than: nil) == [ObjectIdentifier(outer)] && others(than: outer).isEmpty)
        outer.commit()
        #expect(others(than: nil).isEmpty)
    }

    @Test func whatAnotherTaskStagesStaysStaged() async throws {
        let journal = offline.journal()
        try await offline.write("inside", to: object, in: journal)
        object.stage(.string("staged"), at: 1)
        #expect(try object.shownName == "staged" && object.storedName == "inside")
        _ = try journal.undo()
        #expect(try object.shownName == "staged" && object.storedName == "before")
    }

    @Test func whatTheTransactionStagesIsUndone() async throws {
        let journal = offline.journal()
        await TransactionJournal.with(journal) { object.stage(.string("staged"), at: 1) }
        #expect(try object.shownName == "staged")
        _ = try journal.undo()
        #expect(try object.shownName == "before" && !object.hasStagedChanges)
    }

    @Test func aRowThatAnotherTaskReadsIsWhatARollbackLeadsTo() async throws {
        let journal = offline.journal()
        try await offline.write("inside", to: object, in: journal)
        try offline.context.core.take(
            try offline.row(1, "committed"), for: object, readAt: offline.context.core.now)
        #expect(try object.storedName == "inside")
        _ = try journal.undo()
        #expect(try object.storedName == "committed")
    }

    @Test func aRowThatAnotherTaskReadsIsShownWhereTheTransactionWroteNone() async throws {
        let journal = offline.journal()
        journal.record(object)
        try offline.context.core.take(
            try offline.row(1, "committed"), for: object, readAt: offline.context.core.now)
        #expect(try object.storedName == "committed")
        _ = try journal.undo()
        #expect(try object.storedName == "committed")
    }
}
