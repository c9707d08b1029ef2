import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredLive

/// Which live requests a change concerns.
@Suite struct LiveSourcesTests {
    private let fixture: LiveFixture

    init() throws { fixture = try LiveFixture() }

    private func consumer(_ format: String, _ arguments: any PropertyValue...) throws -> LiveConsumer {
        LiveConsumer(
            try fixture.query(try fixture.offline.context.fetch("person").where(format, arguments: arguments)))
    }

    @Test func equalRequestsAreOne() throws {
        var sources = LiveSources()
        let consumers = try [1, 2, 1].map { try consumer("age = %@", $0) }
        let numbers = consumers.map { sources.add($0) }
        #expect(numbers[0] == numbers[2] && numbers[0] != numbers[1])
        #expect(sources.remove(consumers[0]) == nil)
        #expect(sources.sources.count == 2)
        #expect(sources.remove(consumers[2]) != nil)
        #expect(sources.remove(consumers[1]) != nil)
        #expect(sources.isEmpty)
    }

    @Test func onlyEqualitiesOfExactValuesAreFoundByValues() throws {
        func isFound(_ format: String, _ arguments: any PropertyValue...) throws -> Bool {
            try consumer(format, arguments).query.equalities != nil
        }
        func consumer(_ format: String, _ arguments: [any PropertyValue]) throws -> LiveConsumer {
            LiveConsumer(
                try fixture.query(try fixture.offline.context.fetch("person").where(format, arguments: arguments)))
        }
        #expect(try isFound("age = %@", 3))
        #expect(try isFound("age = %@ AND surname = %@", 3, "a"))
        #expect(try !isFound("age = %@ OR surname = %@", 3, "a"))
        #expect(try !isFound("age > %@", 3))
        #expect(try !isFound("code = %@", "abc"))
        #expect(try !isFound("manager.age = %@", 3))
        #expect(try !isFound("age = manager_id"))
    }

    @Test func columnsThatAreNotReadDoNotMatter() throws {
        let request = try fixture.offline.context.fetch("email").where("person.age > %@", 3)
        let query = try fixture.query(request)
        #expect(query.isAskedByKeys)
        var sources = LiveSources()
        let number = sources.add(LiveConsumer(query))
        _ = sources.set(LiveSnapshot([]), of: number)
        func work(_ table: String, _ changes: TableChanges) -> LiveSources.Work {
            sources.work(for: LiveFixture.batch([table: changes]))
        }
        #expect(work("person", TableChanges(updated: [.integer(1): ["surname"]])).whole.isEmpty)
        #expect(work("person", TableChanges(updated: [.integer(1): ["age"]])).whole == [number: .change])
        #expect(work("person", TableChanges(inserted: [.integer(1)])).whole == [number: .change])
        #expect(work("person", TableChanges(gap: .bulk)).whole == [number: .everything(.bulk)])
        #expect(work("person", TableChanges(gap: .unnamed)).whole == [number: .change])
        #expect(work("title", TableChanges(gap: .bulk)).whole.isEmpty)
        let own = work("email", TableChanges(updated: [.integer(1): ["size"]]))
        #expect(own.whole.isEmpty && own.byKeys[number] != nil)
        // Both tables at once: the request as a whole.
        let both = sources.work(
            for: LiveFixture.batch([
                "email": TableChanges(inserted: [.integer(1)]), "person": TableChanges(inserted: [.integer(1)]),
            ]))
        #expect(both.byKeys.isEmpty && both.whole == [number: .change])
    }

    @Test func changesOfPrefetchedRowsAskForTheirOwnersMembers() throws {
        let request = try fixture.offline.context.fetch("person").where("age > %@", 3).prefetch("emailSet", "orders")
        var sources = LiveSources()
        let number = sources.add(LiveConsumer(try fixture.query(request)))
        _ = sources.set(LiveSnapshot([]), of: number)
        func work(_ changes: [String: TableChanges]) -> LiveSources.Work {
            sources.work(for: LiveFixture.batch(changes))
        }
        let (one, other) = (TableChanges(inserted: [.integer(1)]), TableChanges(deleted: [.integer(2)]))
        let both = work(["email": one, "order": other])
        #expect(both.whole.isEmpty && both.byKeys.isEmpty && both.routed.isEmpty)
        #expect(both.members[number].map { Set($0.keys.map(\.name)) } == ["email", "order"])
        // With the request's own rows, or rows that are not named: the request as a whole.
        for changes in [["email": one, "person": other], ["email": TableChanges(gap: .bulk)]] {
            #expect(work(changes).members.isEmpty && work(changes).whole.keys.sorted() == [number])
        }
        // Where the condition reads the rows too, they decide more than the members.
        let deciding = try fixture.offline.context.fetch("person").where("ANY emailSet.size > 3").prefetch("emailSet")
        #expect(try fixture.query(deciding).memberBranches.isEmpty)
        // A second place of the same rows shows them, too.
        let twice = try fixture.offline.context.fetch("person").prefetch("emailSet", "manager.emailSet", "orders")
        #expect(try fixture.query(twice).memberBranches.keys.map(\.name) == ["order"])
    }

    /// Random changes of rows, routed to requests `age = n`, against a filter of all rows.
    @Test func changedRowsReachTheRequestsThatTheyAreIn() throws {
        var random = SystemRandomNumberGenerator()
        var sources = LiveSources()
        let ages = Array(0..<6)
        let numbers = try ages.map { sources.add(try consumer("age = %@", $0)) }
        for number in numbers { _ = sources.set(LiveSnapshot([]), of: number) }
        var people: [ObjectKey: Int] = [:]
        for _ in 0..<300 {
            var changes = TableChanges()
            var rows: [Member] = []
            for id in Set((0..<4).map { _ in Int64.random(in: 0..<20, using: &random) }) {
                let key = ObjectKey.integer(id)
                guard Int.random(in: 0..<4, using: &random) > 0 else {
                    if people.removeValue(forKey: key) != nil { changes.deleted.insert(key) }
                    continue
                }
                let age = Int.random(in: 0..<8, using: &random)
                if people[key] == nil {
                    changes.inserted.insert(key)
                } else {
                    changes.updated.updateValue(["age"], forKey: key)
                }
                people[key] = age
                rows.append(try fixture.member(id, ["age": .integer(Int64(age))]))
            }
            let work = sources.work(for: LiveFixture.batch(["person": changes]))
            #expect(work.whole.isEmpty && work.byKeys.isEmpty)
            for (entity, changes) in work.routed {
                for (number, changed) in try sources.routed(changes, of: entity, present: rows) {
                    let latest = try #require(sources.sources[number]?.latest)
                    let next = try latest.replacing(changed.keys, with: LiveSnapshot(changed.found), nil)
                    _ = sources.set(next, of: number, changed: changed)
                }
            }
            for (age, number) in zip(ages, numbers) {
                let shown = Set(sources.sources[number]?.latest?.rows.map(\.key) ?? [])
                #expect(shown == Set(people.filter { $0.value == age }.keys))
            }
        }
    }
}
