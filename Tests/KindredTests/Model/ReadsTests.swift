import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredLive
@testable import KindredSchema

/// Questions tell which rows and columns they read before anything is sent, and which changes concern them.
@Suite struct ReadsTests {
    private static let runtime = SchemaRuntime(ConditionFixture.schemaWithHelper)

    private func query(
        _ entity: String, _ format: String = "TRUEPREDICATE", arguments: [ConditionArgument] = []
    ) throws -> SelectQuery {
        var query = SelectQuery(entity: try Self.runtime.entity(named: entity).entity)
        try query.narrow(by: Condition(format: format, arguments: arguments), in: Self.runtime.schema)
        return query
    }

    private func tree(_ entity: String, _ keys: String...) throws -> PrefetchTree {
        var place = try Self.runtime.entity(named: entity)
        var path: [RelationshipRuntime] = []
        for key in keys {
            let relationship = try #require(place.relationship(named: key))
            path.append(relationship)
            place = relationship.destination
        }
        var tree = PrefetchTree()
        tree.add(path[...])
        return tree
    }

    /// The columns that are read of each entity, as `email.size`; of places that are only on the way none.
    private func columns(_ reads: Reads, deciding: Bool = false) throws -> Set<String> {
        var found: Set<String> = []
        for index in reads.entities {
            let entity = Self.runtime.entities[index]
            let read = try #require(reads[entity])
            for column in deciding ? read.deciding : read.columns {
                found.insert("\(entity.name.name).\(entity.entity.attributes[column].name)")
            }
        }
        return found
    }

    private func reads(_ query: SelectQuery, _ tree: PrefetchTree = PrefetchTree()) throws -> Reads {
        try LiveQuery.reads(of: query, prefetching: tree, in: Self.runtime)
    }

    private func row(_ entity: String, _ values: [String: PostgresValue]) throws -> Row {
        let runtime = try Self.runtime.entity(named: entity)
        return try LiveFixture().row(of: runtime, values)
    }

    private static let email = Set(["address", "id", "person_id", "size"].map { "email.\($0)" })

    @Test func theRequestsOwnRowsAreReadWhole() throws {
        let reads = try reads(try query("email", "size > 5"))
        let email = try Self.runtime.entity(named: "email")
        #expect(try columns(reads, deciding: true) == ["email.size"])
        #expect(try columns(reads) == Self.email)
        #expect(!reads.isAnything && reads[email]?.uses == 1 && reads[email]?.reach == .rows)
        // Only their number is asked for, or a limit lets others in.
        #expect(try columns(try query("email", "size > 5").reads(in: Self.runtime, isOfNumber: true)) == ["email.size"])
        let all = try query("email").reads(in: Self.runtime, isOfNumber: true)
        #expect(all.concern(email, from: nil, to: try row("email", ["id": 1])) == .everything)
        var cut = try query("email", "size > 5")
        cut.limit = 3
        #expect(try self.reads(cut)[email]?.reach == .everything)
    }

    private func part(_ format: String, by key: String...) throws -> PartQuery {
        let emails = try #require(try Self.runtime.entity(named: "person").relationship(named: "emailSet"))
        var members = try query("email", format)
        if !key.isEmpty { try members.append(SortTerm(path: key), in: Self.runtime.schema) }
        return try PartQuery(emails, members, in: Self.runtime.schema)
    }

    @Test func aPartDecidesByWhatItReads() throws {
        let part = try part("size > 5", by: "person", "surname")
        let own = try columns(part.reads)
        #expect(own == ["email.id", "email.person_id", "email.size", "person.id", "person.surname"])
        var tree = PrefetchTree()
        tree.add(PrefetchTree.Branch(relationship: part.relationship, part: part), behind: [])
        let reads = try reads(try query("person"), tree)
        #expect(try columns(reads, deciding: true) == own)
        #expect(try columns(reads).isSuperset(of: Self.email))
    }

    @Test func aRowOfAPartNamesItsOwners() throws {
        let email = try Self.runtime.entity(named: "email")
        let part = try part("size > 5", by: "address")
        let old = try row("email", ["id": 1, "person_id": 3, "size": 7, "address": "a"])
        func concern(_ changes: [String: PostgresValue]) throws -> Reads.Concern {
            let all: [String: PostgresValue] = ["id": 1, "person_id": 3, "size": 7, "address": "a"]
            let new = try row("email", all.merging(changes) { $1 })
            return part.reads.concern(RowChange(of: email, key: .integer(1), from: old, to: new))
        }
        #expect(try concern([:]) == .nothing)
        #expect(try concern(["size": 8]) == .owners([.integer(3)]))
        #expect(try concern(["person_id": 4]) == .owners([.integer(3), .integer(4)]))
        #expect(
            part.reads.concern(RowChange(of: email, key: .integer(1), from: old, to: nil)) == .owners([.integer(3)]))
        #expect(
            part.reads.concern(RowChange(of: email, key: .integer(1), from: nil, to: old)) == .owners([.integer(3)]))
        let person = try Self.runtime.entity(named: "person")
        #expect(part.reads.concern(person, from: nil, to: try row("person", ["id": 3])) == .nothing)
        // Another member's rows decide, too: whose they are is not known.
        let sums = try self.part("ANY person.emailSet.size > size")
        #expect(sums.reads.concern(email, from: old, to: nil) == .everything)
    }

    @Test func equalitiesNarrowARequestsOwnRows() throws {
        let email = try Self.runtime.entity(named: "email")
        let reads = try reads(try query("email", "size = 5"))
        let (five, six) = (try row("email", ["id": 1, "size": 5]), try row("email", ["id": 1, "size": 6]))
        #expect(
            reads.concern(email, from: six, to: five) == .rows && reads.concern(email, from: five, to: nil) == .rows)
        #expect(reads.concern(email, from: nil, to: six) == .nothing)
        #expect(try self.reads(try query("email", "size > 5")).concern(email, from: nil, to: six) == .rows)
        // Prefetched rows of the same entity are others.
        let all = try self.reads(try query("email", "size = 5"), try tree("email", "person", "emailSet"))
        #expect(all.concern(email, from: nil, to: six) == .everything && all[email]?.uses == 2)
    }

    @Test func columnsThatAreLeftOutAreReadIfTheyDecide() throws {
        var query = try query("email", "size > 5")
        let email = try Self.runtime.entity(named: "email")
        let leftOut = ["address", "size"].compactMap { email.attributeIndex(of: $0) }
        query.leftOut = ColumnSet(leftOut)
        let sql = try query.statement(in: Self.runtime.schema).text.text
        #expect(sql.contains(#"CASE WHEN false THEN t0."address" END AS "kindred: omitted""#))
        #expect(try columns(try reads(query)) == ["email.id", "email.person_id", "email.size"])
        #expect(!email.fixedColumns.contains(leftOut[0]) && email.key.allSatisfy(email.fixedColumns.contains))
        // Prefetched rows have left-out columns of their own, by which equal requests are told apart.
        var tree = try tree("person", "emailSet")
        let plain = tree.paths
        let relationship = try #require(try Self.runtime.entity(named: "person").relationship(named: "emailSet"))
        tree.leaveOut([relationship]) { ($0 ?? []).union(ColumnSet(leftOut)) }
        #expect(tree.paths != plain && tree.paths.count == 1)
        let prefetching = try columns(try reads(try self.query("person"), tree))
        #expect(prefetching.intersection(Self.email) == ["email.id", "email.person_id"])
    }

    @Test func sortKeysDecideToo() throws {
        var query = try query("email", "size > 5")
        try query.append(SortTerm(path: ["person", "surname"]), in: Self.runtime.schema)
        let found = try columns(try reads(query), deciding: true)
        #expect(found == ["email.person_id", "email.size", "person.id", "person.surname"])
    }

    @Test func pathsAreFollowedBack() throws {
        let reads = try reads(try query("person", "ANY emailSet.person.age > 5"))
        #expect(reads[try Self.runtime.entity(named: "person")]?.uses == 2)
    }

    @Test func aForeignKeyIsReadWithoutTheRowThatItRefersTo() throws {
        let reads = try reads(try query("email", "person.id = 3"))
        let person = try Self.runtime.entity(named: "person")
        #expect(try columns(reads) == Self.email && reads[person]?.uses == 1)
        #expect(reads.concern(person, from: nil, to: try row("person", ["id": 3])) == .nothing)
    }

    @Test(arguments: ["ANY titles = %@", "titles.@count > 1", "ANY titles.name = %@"])
    func helperRowsAreRead(format: String) throws {
        let title = ConditionArgument.object(FakeObject("title", ["id": 1]))
        let arguments: [ConditionArgument] =
            switch format {
            case "ANY titles = %@": [title]
            case "titles.@count > 1": []
            default: [.value("x")]
            }
        let reads = try reads(try query("person", format, arguments: arguments))
        let titles = format.contains("name") ? ["title.id", "title.name"] : []
        #expect(
            try columns(reads, deciding: true)
                == Set(["person.id", "person_title_rel.person_id", "person_title_rel.title_id"] + titles))
        #expect(!reads.isAnything)
    }

    @Test func numbersOfMembersInTheOrderAreRead() throws {
        var query = try query("person")
        try query.append(SortTerm(path: ["emailSet", "@count"]), in: Self.runtime.schema)
        #expect(try columns(try reads(query), deciding: true) == ["email.person_id", "person.id"])
    }

    @Test func theOrderOfMembersIsReadInTheHelper() throws {
        var query = try query("title")
        let person = try Self.runtime.entity(named: "person")
        query.memberOrder = MemberOrder(
            relationship: try #require(person.relationship(named: "titles")).model, position: "rank", ownerValues: [1])
        let helper = Set(["person_id", "rank", "title_id"].map { "person_title_rel.\($0)" })
        #expect(try columns(try reads(query), deciding: true) == helper.union(["title.id"]))
    }

    @Test func prefetchedRowsAreReadWhole() throws {
        let reads = try reads(try query("person", "ANY emailSet.size > 5"), try tree("person", "emailSet", "person"))
        #expect(try columns(reads).isSuperset(of: Self.email))
        #expect(reads[try Self.runtime.entity(named: "email")]?.uses == 2)
    }

    @Test func prefetchedHelperRowsAreRead() throws {
        let found = try columns(try reads(try query("person"), try tree("person", "titles")))
        #expect(Set(found.map { String($0.prefix { $0 != "." }) }) == ["person", "person_title_rel", "title"])
    }

    @Test func tablesThatAreNoEntitiesAreNamed() throws {
        let reads = try reads(try query("person", "ANY friends.surname = 'x'"))
        #expect(reads.others.map(\.name) == ["friendship"] && reads.isAnything)
        let title = try Self.runtime.entity(named: "title")
        #expect(reads.concern(title, from: nil, to: nil) == .everything)
    }
}
