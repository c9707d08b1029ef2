import KindredPostgres
import Testing

@testable import Kindred

/// Changes that other clients have committed are shown without a statement: by objects, and by loaded sets.
@Suite struct ContextCoreCommittedTests {
    private let people: PeopleAndEmails

    init() throws { people = try PeopleAndEmails(owners: 2) }

    /// Changes of emails that other clients have committed.
    private struct Committed {
        var updated: [Row] = []
        var moved: [Row] = []
        var deleted: [ObjectKey] = []
    }

    private func changes(_ change: (inout Committed) throws -> Void) rethrows -> [RowChange] {
        var changes = Committed()
        try change(&changes)
        return changes.deleted.map { RowChange(deleted: $0, of: people.email) }
            + changes.updated.map { RowChange(written: $0, of: people.email, hasMoved: false) }
            + changes.moved.map { RowChange(written: $0, of: people.email) }
    }

    /// Takes changes whose snapshot is of now.
    @discardableResult
    private func accept(_ change: (inout Committed) throws -> Void) throws -> [ObjectKey] {
        try people.core.take(try changes(change), by: .committed(people.core.beginReading())).compactMap(\.key)
    }

    @Test func anObjectShowsItsNewRowAndKeepsWhatIsStaged() throws {
        let object = try people.object(1, PeopleAndEmails.Email(owner: 1, address: "before"))
        object.stage(.string("staged"), at: 1)
        #expect(try accept { $0.updated = [try people.row(1, .init(owner: 1, address: "after"))] }.isEmpty)
        #expect(try object.shownName == "staged" && object.storedName == "after")
        object.rollback()
        #expect(try object.shownName == "after")
    }

    @Test func anObjectOfADeletedRowIsDeletedForGood() throws {
        let object = try people.object(1, PeopleAndEmails.Email(owner: 1, address: "a"))
        object.stage(.string("staged"), at: 1)
        #expect(try accept { $0.deleted = [.integer(1)] }.isEmpty)
        #expect(
            object.isDeleted && !object.hasStagedChanges && people.core.liveObject(people.email, .integer(1)) == nil)
    }

    @Test(arguments: [false, true]) func aSetFollowsARowThatMoves(hasObject: Bool) throws {
        let before = PeopleAndEmails.Email(owner: 1, address: "a")
        for owner in people.owners { try people.load(owner, [1: before]) }
        let object = hasObject ? try people.object(1, before) : nil
        try accept { $0.moved = [try people.row(1, .init(owner: 2, address: "b"))] }
        #expect(try people.shown(people.owners[0]) == [:])
        #expect(try people.shown(people.owners[1]) == [1: .init(owner: 2, address: "b")])
        withExtendedLifetime(object) {}
    }

    @Test func aSetFollowsARowThatWasReadBefore() throws {
        let (before, after) = (
            PeopleAndEmails.Email(owner: 1, address: "a"), PeopleAndEmails.Email(owner: 2, address: "a")
        )
        for owner in people.owners { try people.load(owner, [1: before]) }
        // Read to an object before the context was told that the row has moved.
        let object = try people.object(1, after)
        try accept { $0.moved = [try people.row(1, after)] }
        #expect(try people.shown(people.owners[0]) == [:] && people.shown(people.owners[1]) == [1: after])
        withExtendedLifetime(object) {}
    }

    @Test func aSetGetsNewRowsAndLosesDeletedOnes() throws {
        let first = PeopleAndEmails.Email(owner: 1, address: "a")
        try people.load(people.owners[0], [1: first])
        try accept { $0.moved = [try people.row(2, .init(owner: 1, address: "b"))] }
        #expect(try people.shown(people.owners[0])?.keys.sorted() == [1, 2])
        try accept { $0.deleted = [.integer(1)] }
        #expect(try people.shown(people.owners[0])?.keys.sorted() == [2])
        // The key is used again, by another owner's row.
        try accept { $0.moved = [try people.row(1, .init(owner: 2, address: "c"))] }
        #expect(try people.shown(people.owners[0])?.keys.sorted() == [2])
    }

    @Test func anAnswerThatIsOnItsWayDoesNotWin() throws {
        let before = PeopleAndEmails.Email(owner: 1, address: "before")
        let askedAt = people.core.now
        try accept {
            $0.updated = [try people.row(1, .init(owner: 1, address: "after"))]
            $0.deleted = [.integer(2)]
        }
        try people.load(people.owners[0], [1: before, 2: before], askedAt: askedAt)
        #expect(try people.shown(people.owners[0]) == [1: .init(owner: 1, address: "after")])
    }

    @Test func whatTheContextHasReadOrWrittenMeanwhileIsLeftOut() async throws {
        let object = try people.object(1, PeopleAndEmails.Email(owner: 1, address: "before"))
        let askedAt = people.core.beginReading()
        try people.core.take(people.row(1, .init(owner: 1, address: "own")), for: object)
        let late = try changes { $0.updated = [try people.row(1, .init(owner: 1, address: "others"))] }
        #expect(try people.core.take(late, by: .committed(askedAt)).compactMap(\.key) == [.integer(1)])
        #expect(try object.storedName == "own")
        let deletion = changes { $0.deleted = [.integer(1)] }
        #expect(
            try people.core.take(deletion, by: .committed(askedAt)).compactMap(\.key) == [.integer(1)]
                && !object.isDeleted)
        // A known row is nothing that is in doubt.
        let known = try changes { $0.updated = [try people.row(1, .init(owner: 1, address: "own"))] }
        #expect(try people.core.take(known, by: .committed(people.core.beginReading())).compactMap(\.key).isEmpty)
    }

    @Test func aRollbackLeadsToTheRowThatOthersHaveCommitted() async throws {
        let object = try people.object(1, PeopleAndEmails.Email(owner: 1, address: "before"))
        let journal = people.journal()
        let written = try people.row(1, .init(owner: 1, address: "inside"))
        try await TransactionJournal.with(journal) { try people.core.take(written, for: object) }
        let committed = try people.row(1, .init(owner: 1, address: "committed"))
        #expect(try accept { $0.updated = [committed] } == [.integer(1)])
        #expect(try object.storedName == "inside")
        try journal.undo()
        #expect(try object.storedName == "committed")
    }

    @Test func rowsThatAreUnknownMakeAnswersStale() throws {
        let email = PeopleAndEmails.Email(owner: 1, address: "a")
        try people.load(people.owners[0], [1: email])
        people.core.take(RowGap(.everything, of: people.email), by: .committed(people.core.now))
        #expect(try people.shown(people.owners[0]) == nil)
        try people.load(people.owners[0], [1: email])
        #expect(try people.shown(people.owners[0]) == [1: email])
    }

    /// The database changes, and its changes arrive in steps, among reads of earlier and later states.
    @Test(arguments: 1...20) func setsShowWhatTheDatabaseHas(seed: UInt64) throws {
        var random = Generator(state: seed)
        var world = try CommittedWorld(people: try PeopleAndEmails(owners: 4), random: random.next())
        for _ in 0..<400 {
            try world.step()
            if random.next(20) == 0 { try world.settle() }
        }
        try world.settle()
    }
}
