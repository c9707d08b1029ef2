import KindredPostgres
import Testing

@testable import Kindred
@testable import KindredSchema

/// Requests tell which rows, columns and relationships they read, before anything is sent.
@Suite struct RequestReadsTests {
    /// The fixture's schema with the helper between people and titles, which orders each person's titles.
    private static let runtime: SchemaRuntime = {
        let columns = ["person_id", "title_id", "rank"].enumerated().map { number, name in
            Attribute(name: name, number: number + 1, typeName: "integer", type: .int4, isNotNull: true)
        }
        let helper = Entity(
            name: ConditionFixture.name("person_title_rel"), kind: .table, oid: 2, attributes: columns)
        return SchemaRuntime(
            DatabaseSchema(entities: ConditionFixture.schema.entities + [helper], searchPath: ["public"]))
    }()

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

    private func path(_ place: RequestReads.Place) -> String {
        place.path.map(\.model.name).joined(separator: ".")
    }

    private func names(_ columns: ColumnSet, of entity: EntityRuntime) -> [String] {
        columns.map { entity.entity.attributes[$0].name }.sorted()
    }

    @Test func theRequestsOwnRowsAreReadWhole() throws {
        let reads = try RequestReads(of: try query("email", "size > 5"), in: Self.runtime)
        let place = try #require(reads.places.first)
        #expect(reads.places.count == 1 && place.path.isEmpty && place.isShown && reads.others.isEmpty)
        #expect(names(place.decidingColumns, of: place.entity) == ["size"])
        #expect(names(place.columns, of: place.entity) == ["address", "id", "person_id", "size"])
    }

    @Test func aPartDecidesByWhatItReads() throws {
        let emails = try #require(try Self.runtime.entity(named: "person").relationship(named: "emailSet"))
        var members = try query("email", "size > 5")
        try members.append(SortTerm(path: ["person", "surname"]), in: Self.runtime.schema)
        let part = try PartQuery(emails, members, in: Self.runtime.schema)
        var tree = PrefetchTree()
        tree.add(PrefetchTree.Branch(relationship: emails, part: part), behind: [])
        let reads = try RequestReads(of: try query("person"), prefetching: tree, in: Self.runtime)
        let place = try #require(reads.places.first { path($0) == "emailSet" })
        #expect(place.isShown && names(place.decidingColumns, of: place.entity) == ["person_id", "size"])
        let end = try #require(reads.places.first { path($0) == "emailSet.person" })
        #expect(!end.isShown && names(end.decidingColumns, of: end.entity) == ["id", "surname"])
    }

    @Test func columnsThatAreLeftOutAreReadIfTheyDecide() throws {
        var query = try query("email", "size > 5")
        let email = try Self.runtime.entity(named: "email")
        let leftOut = ["address", "size"].compactMap { email.attributeIndex(of: $0) }
        query.leftOut = ColumnSet(leftOut)
        let sql = try query.statement(in: Self.runtime.schema).text.text
        #expect(sql.contains(#"CASE WHEN false THEN t0."address" END AS "kindred: left out""#))
        let reads = try RequestReads(of: query, in: Self.runtime)
        #expect(names(reads.places[0].columns, of: email) == ["id", "person_id", "size"])
        #expect(!email.fixedColumns.contains(leftOut[0]) && email.key.allSatisfy(email.fixedColumns.contains))
        // Prefetched rows have left-out columns of their own, by which equal requests are told apart.
        var tree = try tree("person", "emailSet")
        let plain = tree.paths
        let relationship = try #require(try Self.runtime.entity(named: "person").relationship(named: "emailSet"))
        tree.leaveOut([relationship]) { ($0 ?? []).union(ColumnSet(leftOut)) }
        #expect(tree.paths != plain && tree.paths.count == 1)
        let prefetching = try RequestReads(of: try self.query("person"), prefetching: tree, in: Self.runtime)
        #expect(names(prefetching.places[1].columns, of: email) == ["id", "person_id"])
    }

    @Test func sortKeysDecideToo() throws {
        var query = try query("email", "size > 5")
        try query.append(SortTerm(path: ["person", "surname"]), in: Self.runtime.schema)
        let reads = try RequestReads(of: query, in: Self.runtime)
        #expect(reads.places.map(path) == ["", "person"])
        let (email, person) = (reads.places[0], reads.places[1])
        #expect(names(email.decidingColumns, of: email.entity) == ["person_id", "size"])
        #expect(names(person.columns, of: person.entity) == ["id", "surname"] && !person.isShown)
    }

    @Test func pathsAreFollowedBack() throws {
        let reads = try RequestReads(of: try query("person", "ANY emailSet.person.age > 5"), in: Self.runtime)
        #expect(reads.places.map(path) == ["", "emailSet", "emailSet.person"])
        #expect(reads.places.last?.entity == reads.places[0].entity)
    }

    @Test func aForeignKeyIsReadWithoutTheRowThatItRefersTo() throws {
        let reads = try RequestReads(of: try query("email", "person.id = 3"), in: Self.runtime)
        #expect(reads.places.map(path) == ["", "person"])
        #expect(reads.entities.map(\.name.name) == ["email"])
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
        let reads = try RequestReads(of: try query("person", format, arguments: arguments), in: Self.runtime)
        #expect(reads.places.map(path) == ["", "titles"] && reads.others.isEmpty)
        let titles = reads.places[1]
        let helper = try #require(titles.helper?.entity)
        #expect(names(titles.helperColumns, of: helper) == ["person_id", "title_id"])
        #expect(names(titles.columns, of: titles.entity) == (format.contains("name") ? ["id", "name"] : []))
        #expect(
            Set(reads.entities.map(\.name.name))
                == Set(["person", "person_title_rel"] + (format.contains("name") ? ["title"] : [])))
        #expect(names(reads.columns(of: helper), of: helper) == ["person_id", "title_id"])
    }

    @Test func numbersOfMembersInTheOrderAreRead() throws {
        var query = try query("person")
        try query.append(SortTerm(path: ["emailSet", "@count"]), in: Self.runtime.schema)
        let reads = try RequestReads(of: query, in: Self.runtime)
        #expect(reads.places.map(path) == ["", "emailSet"])
        #expect(names(reads.places[1].columns, of: reads.places[1].entity) == ["person_id"])
    }

    @Test func theOrderOfMembersIsReadInTheHelper() throws {
        var query = try query("title")
        let person = try Self.runtime.entity(named: "person")
        query.memberOrder = MemberOrder(
            relationship: try #require(person.relationship(named: "titles")).model, position: "rank", ownerValues: [1])
        let reads = try RequestReads(of: query, in: Self.runtime)
        #expect(reads.places.map(path) == ["", "people"] && reads.others.isEmpty)
        let people = reads.places[1]
        let helper = try #require(people.helper?.entity)
        #expect(names(people.helperColumns, of: helper) == ["person_id", "rank", "title_id"])
        #expect(people.columns.isEmpty)
    }

    @Test func prefetchedRowsAreReadWhole() throws {
        let reads = try RequestReads(
            of: try query("person", "ANY emailSet.size > 5"), prefetching: try tree("person", "emailSet", "person"),
            in: Self.runtime)
        #expect(reads.places.map(path) == ["", "emailSet", "emailSet.person"])
        #expect(reads.places.allSatisfy { $0.isShown })
        let emails = reads.places[1]
        #expect(names(emails.decidingColumns, of: emails.entity) == ["person_id", "size"])
        #expect(emails.columns == ColumnSet(emails.entity.entity.attributes.indices))
    }

    @Test func prefetchedHelperRowsAreRead() throws {
        let reads = try RequestReads(
            of: try query("person"), prefetching: try tree("person", "titles"), in: Self.runtime)
        let titles = reads.places[1]
        let helper = try #require(titles.helper?.entity)
        #expect(names(titles.helperColumns, of: helper) == ["person_id", "title_id"])
        #expect(Set(reads.entities.map(\.name.name)) == ["person", "person_title_rel", "title"])
    }

    @Test func rowsWithoutARelationshipOfTheModelAreNamed() throws {
        let reads = try RequestReads(of: try query("person", "ANY friends.surname = 'x'"), in: Self.runtime)
        #expect(reads.places.map(path) == [""])
        #expect(Set(reads.others.map(\.name)) == ["friendship", "person"])
    }
}
