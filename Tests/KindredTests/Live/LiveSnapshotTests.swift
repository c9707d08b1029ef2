import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredLive

/// Answers to live requests, and how contexts show them.
@Suite struct LiveSnapshotTests {
    private let fixture: LiveFixture

    init() throws { fixture = try LiveFixture() }

    private func emails(_ owner: Int64, _ ids: [Int64], address: String = "a") throws -> [Member] {
        try ids.map {
            try fixture.member(
                $0, ["address": .string(address), "person_id": .integer(owner)], of: fixture.email)
        }
    }

    private func snapshot(_ people: [Member], _ emails: [ObjectKey: [Member]]) throws -> LiveSnapshot {
        let relationship = try #require(fixture.person.relationship(named: "emailSet"))
        return LiveSnapshot(people, [LiveBranch(relationship, members: emails)])
    }

    @Test func prefetchedMembersCountAsContent() throws {
        let people = [try fixture.member(1), try fixture.member(2)]
        let first = try snapshot(people, [.integer(1): try emails(1, [1, 2]), .integer(2): []])
        func updates(_ emails: [ObjectKey: [Member]]) throws -> [Int] {
            try snapshot(people, emails).difference(from: first, of: fixture.person, as: fixture.person).updates
        }
        #expect(try updates([.integer(1): try emails(1, [1, 2]), .integer(2): []]) == [])
        #expect(try updates([.integer(1): try emails(1, [2, 1]), .integer(2): []]) == [0])
        #expect(try updates([.integer(1): try emails(1, [1]), .integer(2): try emails(2, [2])]) == [0, 1])
        #expect(try updates([.integer(1): try emails(1, [1, 2], address: "b"), .integer(2): []]) == [0])
    }

    @Test func aListWithoutOrderKeepsItsOwn() throws {
        let last = LiveSnapshot(try [5, 3, 8].map { try fixture.member($0) })
        let next = LiveSnapshot(try [1, 3, 5, 9].map { try fixture.member($0) }).keepingOrder(of: last)
        #expect(next.rows.map(\.key.integer) == [5, 3, 1, 9])
        let difference = next.difference(from: last, of: fixture.person, as: fixture.person)
        #expect(difference.moves == [] && difference.removals == [2] && difference.insertions == [2, 3])
    }

    /// Rows replaced one by one come to the places to which sorting all of them brings them.
    @Test(arguments: [true, false]) func replacedRowsComeToTheirPlaces(ascending: Bool) throws {
        var random = SystemRandomNumberGenerator()
        let sort = [SortTerm(path: ["age"], ascending: ascending), SortTerm(path: ["id"])]
        let order = try #require(LiveOrder(sort, of: fixture.person))
        func person(_ id: Int64) throws -> Member {
            let age = Int64.random(in: 0...4, using: &random)
            return try fixture.member(id, age == 0 ? [:] : ["age": .integer(age)])
        }
        func sorted(_ members: some Sequence<Member>) throws -> [Member] {
            let age = try #require(fixture.person.attributeIndex(of: "age"))
            // NULL is greater than every value.
            func rank(_ member: Member) -> Int64 { member.row.integer(at: age) ?? 100 }
            return members.sorted { left, right in
                let (first, second) = (rank(left), rank(right))
                if first != second { return ascending ? first < second : first > second }
                return left.key.integer ?? 0 < right.key.integer ?? 0
            }
        }
        for round in 0..<200 {
            var people: [ObjectKey: Member] = [:]
            for id in 0..<Int64(40) where Bool.random(using: &random) { people[.integer(id)] = try person(id) }
            let snapshot = LiveSnapshot(try sorted(people.values))
            var found: [Member] = []
            let count = round.isMultiple(of: 2) ? 5 : 40
            let keys = Set((0..<count).map { _ in ObjectKey.integer(Int64.random(in: 0..<60, using: &random)) })
            for key in keys {
                people[key] = nil
                guard Bool.random(using: &random) else { continue }
                let member = try person(key.integer ?? 0)
                people[key] = member
                found.append(member)
            }
            let next = try snapshot.replacing(keys, with: LiveSnapshot(found), order)
            let wanted = try sorted(people.values)
            #expect(next.rows.map(\.key) == wanted.map(\.key))
            #expect(zip(next.rows, wanted).allSatisfy { $0.row.hasSameBytes(as: $1.row) })
        }
    }

    @Test func onlyExactTypesAreOrderedInMemory() throws {
        func isOrdered(_ sort: SortTerm...) -> Bool {
            LiveOrder(sort + [SortTerm(path: ["id"])], of: fixture.person) != nil
        }
        #expect(isOrdered(SortTerm(path: ["born"]), SortTerm(path: ["wealth"]), SortTerm(path: ["token"])))
        #expect(!isOrdered(SortTerm(path: ["surname"])))
        #expect(!isOrdered(SortTerm(path: ["manager", "age"])))
        #expect(!isOrdered(SortTerm(path: ["emailSet", "@count"])))
        // Without the key two rows may have one place.
        #expect(LiveOrder([SortTerm(path: ["age"])], of: fixture.person) == nil)
    }

    @Test func nullsStandWhereTheRequestPutsThem() throws {
        let (old, none) = (try fixture.member(1, ["age": .integer(9)]), try fixture.member(2))
        func comesFirst(_ ascending: Bool, _ nulls: NullOrder) throws -> Bool {
            let sort = [SortTerm(path: ["age"], ascending: ascending, nulls: nulls), SortTerm(path: ["id"])]
            return try #require(LiveOrder(sort, of: fixture.person)).precedes(none.row, old.row)
        }
        #expect(try !comesFirst(true, .standard))
        #expect(try comesFirst(false, .standard))
        #expect(try comesFirst(true, .first))
        #expect(try !comesFirst(false, .last))
    }

    // MARK: Contexts

    @Test func aContextShowsASnapshotWithoutStatements() async throws {
        let core = ContextCore(
            database: fixture.core.database, model: fixture.core.runtime, loading: .forbidden,
            isReadOnly: true)
        let context = core.context
        let people = [try fixture.member(1, ["age": .integer(1)]), try fixture.member(2)]
        let first = try snapshot(people, [.integer(1): try emails(1, [1, 2]), .integer(2): []])
        let objects = try core.take(first.rows(of: fixture.person))
        #expect(objects.map(\.objectID?.values) == [[.integer(1)], [.integer(2)]])
        let set = try await objects[0].set(forKey: "emailSet")
        #expect(try await set.objects.map { $0["id"] } == [.integer(1), .integer(2)])
        #expect(try await objects[1].set(forKey: "emailSet").objects == [])
        let email = try #require(try await set.objects.first)

        let moved = [try fixture.member(2), try fixture.member(1, ["age": .integer(5)])]
        let second = try snapshot(
            moved,
            [.integer(1): try emails(1, [2], address: "b"), .integer(2): try emails(2, [1], address: "c")])
        let again = try core.take(second.rows(of: fixture.person))
        #expect(again == [objects[1], objects[0]])
        #expect(objects[0]["age"] == .integer(5))
        #expect(try await set.objects.map { $0["address"] } == [.string("b")])
        #expect(try await objects[1].set(forKey: "emailSet").objects == [email])
        #expect(email["address"] == .string("c"))
        withExtendedLifetime(context) {}
    }

    @Test func rowsOfReleasedObjectsDoNotReturn() async throws {
        let core = ContextCore(
            database: fixture.core.database, model: fixture.core.runtime, loading: .forbidden,
            isReadOnly: true)
        let context = core.context
        let people = [try fixture.member(1)]
        func show(_ address: String) throws -> DatabaseObject {
            let next = try snapshot(people, [.integer(1): try emails(1, [1], address: address)])
            return try core.take(next.rows(of: fixture.person))[0]
        }
        let person = try show("a")
        var email: DatabaseObject? = try await person.set(forKey: "emailSet").objects.first
        _ = try show("b")
        #expect(email?["address"] == .string("b"))
        email = nil
        _ = try show("c")
        #expect(try await person.set(forKey: "emailSet").objects.first?["address"] == .string("c"))
        withExtendedLifetime(context) {}
    }

    @Test func objectsOfASnapshotAreReadOnly() async throws {
        let core = ContextCore(
            database: fixture.core.database, model: fixture.core.runtime, loading: .batch, isReadOnly: true)
        let context = core.context
        let objects = try core.take(LiveSnapshot([try fixture.member(1)]).rows(of: fixture.person))
        func refuses(_ body: () async throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) async {
            do {
                try await body()
                Issue.record("nothing was thrown", sourceLocation: sourceLocation)
            } catch {
                let error = error as? KindredError
                #expect(error?.code == .readOnly, sourceLocation: sourceLocation)
                #expect(error?.message.contains("context.get(id)") == true, sourceLocation: sourceLocation)
            }
        }
        await refuses { try await objects[0].setValue(3, forKey: "age") }
        await refuses { try context.stageDeletion(of: objects[0]) }
        await refuses { try await context.delete(objects[0]) }
        await refuses { _ = try context.add("person", ["id": 3]) }
        await refuses { _ = try await context.create("title", ["id": 3, "name": "x"]) }
        objects[0]["age"] = .integer(7)
        #expect(objects[0]["age"] == nil)
    }
}
