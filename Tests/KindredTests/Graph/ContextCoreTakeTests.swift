import KindredPostgres
import Testing

@testable import Kindred

/// Changes by statements of the context are shown without another statement, or mark as stale the sets that they may
/// concern.
@Suite struct ContextCoreTakeTests {
    private let people: PeopleAndEmails
    private let email = PeopleAndEmails.Email(owner: 1, address: "a")

    init() throws { people = try PeopleAndEmails(owners: 2) }

    @Test(arguments: [false, true]) func aRowThatIsWrittenAfterItsDeletionIsThereAgain(inTransaction: Bool) async throws
    {
        try people.load(people.owners[0], [1: email])
        try people.core.take([RowChange(deleted: .integer(1), of: people.email)])
        let again = try people.row(1, .init(owner: 1, address: "again"))
        let journal = inTransaction ? people.journal() : nil
        try await TransactionJournal.with(journal) {
            try people.core.take([RowChange(written: again, of: people.email)])
            #expect(try people.shown(people.owners[0]) == [1: .init(owner: 1, address: "again")])
        }
        guard let journal else { return }
        try journal.undo()
        #expect(try people.shown(people.owners[0]) == [:])
    }

    @Test func theOwnerOfAStaleRowThatIsDeletedIsUnknown() throws {
        let core = people.core
        let relationship = try #require(try core.runtime.entity(named: "person").relationship(named: "emailSet"))
        var query = SelectQuery(entity: people.email.entity)
        try query.narrow(by: Condition(format: "size > 1", arguments: []), in: core.runtime.schema)
        let part = core.willAsk(try PartQuery(relationship, query, in: core.runtime.schema))
        for (isStale, isConcerned) in [(false, false), (true, true)] {
            let object = try people.object(isStale ? 2 : 1, email)
            if isStale { object.withState { $0.becomeStale(at: core.tick()) } }
            let time = core.tick()
            try core.take(deletionOf: object)
            #expect(core.staleSince(part, .integer(1), ownKey: .integer(1)) > time)
            #expect((core.staleSince(part, .integer(2), ownKey: .integer(2)) > time) == isConcerned)
        }
    }

    @Test func eachKindOfGapMakesStaleWhatItNames() throws {
        let core = people.core
        let relationship = try #require(try core.runtime.entity(named: "person").relationship(named: "emailSet"))
        let gaps: [(gap: RowGap, first: Bool, second: Bool)] = [
            (RowGap(.some, of: people.email), true, false), (RowGap(.everything, of: people.email), true, true),
            (RowGap(membersIn: relationship, of: .integer(1)), true, false),
            (RowGap(membersIn: relationship, of: nil), true, true), (RowGap(.shown, of: people.email), true, true),
            // Members that an owner has shown are corrected by their keys; the second owner has none.
            (RowGap(.deleted, of: people.email), false, false), (RowGap(.ofParts, of: people.email), false, false),
        ]
        for (gap, first, second) in gaps {
            for owner in people.owners { try people.load(owner, [1: email]) }
            core.take(gap)
            #expect(try (people.shown(people.owners[0]) == nil) == first, "\(gap.rows)")
            #expect(try (people.shown(people.owners[1]) == nil) == second, "\(gap.rows)")
        }
    }
}
