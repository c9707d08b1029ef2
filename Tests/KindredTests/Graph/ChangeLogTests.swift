import KindredPostgres
import KindredSchema
import TestSupport
import Testing

@testable import Kindred

/// What a log says of rows, owners and answers after random changes, against a plain list of the changes that is replayed each
/// time.
@Suite struct ChangeLogTests {
    private static let runtime = SchemaRuntime(ConditionFixture.schema)
    private static let types = TypeRegistry()

    private let email: EntityRuntime
    private let emails: RelationshipRuntime

    init() throws {
        email = try Self.runtime.entity(named: "email")
        emails = try #require(try Self.runtime.entity(named: "person").relationship(named: "emailSet"))
    }

    private func row(_ key: Int64, of owner: Int64?, size: Int64 = 0) throws -> Row {
        var cells = RowCells()
        for (name, value) in [("id", key as Int64?), ("person_id", owner), ("size", size)] {
            let column = try #require(email.attributeIndex(of: name))
            try cells.set(value.map { .integer($0) }, at: column, of: email, Self.types)
        }
        return cells.row(email.emptyRow(Self.types).columns)
    }

    private func entry(
        _ event: ChangeLog.Event, at time: ContextTime, in scope: TransactionScope? = nil, byOthers: Bool = false
    ) -> ChangeLog.Entry {
        ChangeLog.Entry(event: event, at: time, askedAt: nil, scope: scope, isByOthers: byOthers)
    }

    @Test func aLogThatNobodyHasWrittenToKnowsNothing() throws {
        var log = ChangeLog()
        log.willAsk(emails)
        #expect(log.isEmpty && log.knows(email) && !log.hasEntries(of: email))
        #expect(log.staleSince(emails, .integer(1)) == .never && log.changedAt(emails, .integer(1)) == .never)
        #expect(log.row(email, .integer(1)) == nil && !log.isDeleted(email, .integer(1), since: .never))
    }

    @Test func aNewRowIsMissingOnlyInAnswersThatWereAskedFor() throws {
        var log = ChangeLog()
        #expect(!log.mayLack(newRowsOf: email))
        log.willAsk(emails)
        #expect(log.mayLack(newRowsOf: email))
    }

    @Test func aRowThatWasMovedByAnotherClientMayBeAnywhere() throws {
        var log = ChangeLog()
        log.willAsk(emails)
        let change = RowChange(written: try row(7, of: 2), of: email, key: .integer(7))
        _ = log.append(entry(.row(change, at: nil), at: 5, byOthers: true))
        #expect(log.movedKeys(emails, since: 4) == [.integer(7)] && log.movedKeys(emails, since: 5).isEmpty)
        #expect(log.entries(emails, .integer(2), since: 4).map(\.member) == [.integer(7)])
        // Its former owner is not known, and has one member less.
        #expect(log.changedAt(emails, .integer(1)) == 5 && log.staleSince(emails, .integer(1)) == .never)
    }

    /// Members and pairs have entries of their own, which are looked at together.
    @Test(arguments: [true, false]) func theLatestChangeOfMembersAndPairsDecides(isOfMember: Bool) throws {
        let runtime = SchemaRuntime(ConditionFixture.schemaWithHelper)
        let titles = try #require(try runtime.entity(named: "person").relationship(named: "titles"))
        let (member, pair) = (titles.destination, try #require(titles.helper).entity)
        var log = ChangeLog()
        log.willAsk(titles)
        _ = log.append(entry(.gap(RowGap(.shown, of: isOfMember ? pair : member)), at: 5))
        _ = log.append(entry(.gap(RowGap(.shown, of: isOfMember ? member : pair)), at: 9))
        #expect(log.staleSince(titles, .integer(1)) == 9 && log.changedAt(titles, .integer(1)) == 9)
    }

    @Test func whatWasCutMakesEarlierAnswersStaleAndLaterOnesNot() throws {
        var log = ChangeLog()
        log.maximumEntries = 10
        for key in 1...11 as ClosedRange<Int64> {
            let change = RowChange(deleted: .integer(key), of: email)
            let wasCut = log.append(entry(.row(change, at: nil), at: ContextTime(rawValue: UInt64(10 * key))))
            #expect(wasCut == (key == 11))
        }
        #expect(log.forgottenAt(email) == 50 && log.staleSince(emails, .integer(1)) == 50)
        #expect(log.deletedKeys(email, since: 49) == nil)
        #expect(log.deletedKeys(email, since: 50) == Set((6...11).map { .integer($0) }))
    }

    // MARK: Random changes

    private struct Step {
        let key: Int64
        /// The owner after the step; nil for none.
        let owner: Int64?
        let isDeletion: Bool
        let at: ContextTime
        let scope: TransactionScope?
    }

    /// The owners of the rows there are, after the steps up to a time that were not rolled back.
    private func owners(_ steps: [Step], upTo time: ContextTime = .forever) -> [Int64: Int64?] {
        var owners: [Int64: Int64?] = [:]
        for step in steps where step.at <= time && step.scope?.isUndone != true {
            if step.isDeletion { owners[step.key] = nil } else { owners[step.key] = .some(step.owner) }
        }
        return owners
    }

    @Test(arguments: 1...60) func whatHasChangedSinceATimeIsFound(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed))
        var log = ChangeLog()
        if seed.isMultiple(of: 3) { log.maximumEntries = 60 }
        log.willAsk(emails)
        var steps: [Step] = []
        var (scopes, time): ([TransactionScope], ContextTime) = ([], 0)
        for _ in 0..<200 {
            time = ContextTime(rawValue: time.rawValue + 1)
            switch Int.random(in: 0..<20, using: &random) {
            case 0: scopes.append(TransactionScope(within: scopes.last))
            case 1:
                // The end of a transaction or savepoint.
                guard let scope = scopes.popLast() else { continue }
                if Bool.random(using: &random) { scope.undo() } else if scopes.isEmpty { scope.end() }
            default: try step(at: time, in: scopes.last, &steps, &log, &random)
            }
            try check(&log, steps, at: time, &random)
        }
    }

    private func step(
        at time: ContextTime, in scope: TransactionScope?, _ steps: inout [Step], _ log: inout ChangeLog,
        _ random: inout SeededGenerator
    ) throws {
        let key = Int64.random(in: 1...8, using: &random)
        let owner = Bool.random(using: &random) ? Int64.random(in: 1...3, using: &random) : nil
        let known = owners(steps)
        let before = try known[key].map { try row(key, of: $0) }
        let isDeletion = known[key] != nil && Int.random(in: 0..<4, using: &random) == 0
        // Another client's row before is not known.
        let isUnknown = scope == nil && Int.random(in: 0..<4, using: &random) == 0
        let change =
            if isDeletion {
                RowChange(deleted: .integer(key), of: email, isUnknown ? nil : before)
            } else if isUnknown {
                RowChange(written: try row(key, of: owner), of: email, key: .integer(key))
            } else {
                RowChange(of: email, key: .integer(key), from: before, to: try row(key, of: owner))
            }
        steps.append(Step(key: key, owner: owner, isDeletion: isDeletion, at: time, scope: scope))
        _ = log.append(entry(.row(change, at: nil), at: time, in: scope, byOthers: isUnknown))
    }

    private func check(
        _ log: inout ChangeLog, _ steps: [Step], at now: ContextTime, _ random: inout SeededGenerator
    ) throws {
        let since = ContextTime(rawValue: UInt64.random(in: 0...now.rawValue, using: &random))
        let isForgotten = log.forgottenAt(email) > since
        let (then, present) = (owners(steps, upTo: since), owners(steps))
        for key in 1...8 as ClosedRange<Int64> {
            let last = steps.last { $0.key == key && $0.scope?.isUndone != true }
            if let last, last.at > log.forgottenAt(email) {
                #expect(log.isDeleted(email, .integer(key), since: since) == (last.isDeletion && last.at > since))
                let row = try last.isDeletion ? nil : row(key, of: last.owner)
                let logged = log.row(email, .integer(key))?.row
                #expect((logged == nil) == (row == nil))
                if let logged, let row { #expect(logged.hasSameBytes(as: row)) }
            }
        }
        guard !isForgotten else { return }
        let deleted = log.deletedKeys(email, since: since) { _ in false }
        for owner in 1...3 as ClosedRange<Int64> where log.staleSince(emails, .integer(owner)) <= since {
            let told = Set(log.entries(emails, .integer(owner), since: since).map(\.member))
                .union(deleted).union(log.movedKeys(emails, since: since))
            for key in 1...8 as ClosedRange<Int64> {
                let (was, isMember) = (then[key] == .some(owner), present[key] == .some(owner))
                #expect(was == isMember || told.contains(.integer(key)), "row \(key) of owner \(owner) since \(since)")
            }
            if then.filter({ $0.value == owner }).keys != present.filter({ $0.value == owner }).keys {
                let isCounted = deleted.isEmpty && log.changedAt(emails, .integer(owner)) <= since
                #expect(!isCounted, "the number of members of \(owner) since \(since)")
            }
        }
    }
}
