import Foundation
import Kindred
import KindredTesting
import Testing
import TypeModels

/// Columns of types that the database defines: composites as structs, ranges, domains, enums.
@Suite struct TypeModelTests {
    @Test(.database(.file("../TypeModels/schema.sql"))) func compositesGoBothWays() async throws {
        try await withDatabase(classes: KindredModels.all) { database, context in
            let address = Address(
                street: #"Main "St", (1)"#, number: 5, code: "123", tags: ["a", nil, "b,c"], mood: .soSo,
                nearest: Landmark(name: "Tower", stars: 3), class: true, selfValue: UUID())
            let house = try await context.create(House.self) {
                $0.address = address
                $0.home = Address(number: 1)
                $0.earlier = [address, nil, Address()]
                $0.moods = [.happy, nil]
                $0.visits = PostgresRange(0.5..<2)
                $0.seats = PostgresRange(1..<5)
            }
            func check(_ house: House, _ number: Int, sourceLocation: SourceLocation = #_sourceLocation) {
                #expect(house.address?.number == number, sourceLocation: sourceLocation)
                #expect(house.address?.nearest == address.nearest, sourceLocation: sourceLocation)
                #expect(house.address?.tags == address.tags, sourceLocation: sourceLocation)
                #expect(house.home == Address(number: 1) && house.moods == [.happy, nil])
                #expect(house.earlier?.count == 3 && house.earlier?[0] == address, sourceLocation: sourceLocation)
                #expect(house.visits == PostgresRange(0.5..<2) && house.seats == PostgresRange(1..<5))
                #expect(house.code == "1", sourceLocation: sourceLocation)
            }
            check(house, 5)
            check(try await database.makeContext().fetch(House.self).one(), 5)
            // Staged, and written by one statement for several rows.
            let other = try context.add(House.self) { $0.address = Address(street: "New") }
            house.address?.number = 6
            #expect(house.hasStagedChanges && house.address?.number == 6)
            try await context.save()
            let all = try await database.makeContext().fetch(House.self).sorted { $0.id }.all()
            check(all[0], 6)
            #expect(all[1].address == Address(street: "New") && all[1].id == other.id && all[1].home == nil)
            // As values of plain objects too, and as text where that is easier.
            guard case .composite(let value)? = house["address"] else {
                Issue.record("\(String(describing: house["address"]))")
                return
            }
            #expect(try value.decode("number", as: Int.self) == 6)
            try await house.setValue("(Side,7,,,,,,)", forKey: "address")
            #expect(house.address == Address(street: "Side", number: 7))
            let rows = try await context.fetch(House.self).sorted { $0.id }.select(\.address, \.visits).all()
            #expect(rows[0].0?.number == 7 && rows[0].1 == PostgresRange(0.5..<2) && rows[1].1 == nil)
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql")), arguments: [-1, 99])
    func newObjectsRefuseANumberOfNoProperty(_ number: Int) async throws {
        try await withDatabase(classes: KindredModels.all) { _, context in
            var values = NewValues<Visit>()
            values.setProperty(number, "stray")
            await withStatementLimit(0) {
                await expectError(.unknownKey) { _ = try context.add(values) }
                await expectError(.unknownKey) { _ = try await context.create(values) }
            }
            #expect(!context.hasStagedChanges)
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func newObjectsTakeDatesOfFoundation() async throws {
        try await withDatabase(classes: KindredModels.all) { (database, context) async throws in
            let date = Date(timeIntervalSince1970: 1_700_000_000.5)
            let moment = PostgresTimestamp(clamping: date)
            try context.add(Visit.self) {
                $0.id = 1
                $0.began = date
                $0.ended = date
            }
            try context.add(Visit.self) {
                $0.id = 2
                $0.began = moment
            }
            try await context.save()
            let visits = try await database.makeContext().fetch(Visit.self).where { $0.began == date }.all()
            #expect(visits.count == 2 && visits.allSatisfy { $0.began == moment })
            let ended = try await database.makeContext().fetch(Visit.self).where { $0.ended >= date }.one()
            #expect(ended.ended == moment)
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func arraysOfDomainsAreArrays() async throws {
        try await withDatabase(classes: KindredModels.all) { (database, context) async throws in
            let house = try await context.create(House.self) { $0.codes = ["1", nil] }
            let read = try await database.makeContext().fetch(House.self).one()
            #expect(read.codes == ["1", nil] && house.codes == ["1", nil])
            house.codes?.append("22")
            let other = try context.add(House.self) { $0.codes = ["3"] }
            house["codes"] = .array(PostgresArray(elementType: .text, elements: ["4", "5"]))
            try await context.save()
            let all = try await database.makeContext().fetch(House.self).sorted { $0.id }.all()
            #expect(all.map(\.codes) == [["4", "5"], ["3"]] && other.codes == ["3"])
            #expect(try await context.fetch(House.self).where("'5' IN codes").one() === house)
            #expect(try await context.fetch(House.self).where { $0.codes == ["3"] }.one() === other)
            other.codes = ["no number"]
            await #expect(throws: KindredError.self) { try await context.save() }
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func whatIsWrittenBackKeepsItsShape() async throws {
        try await withDatabase(classes: KindredModels.all) { (database, context) async throws in
            try await database.query(
                """
                INSERT INTO house (address, codes) VALUES
                    (ROW('Main', 1, '1', '{{a,b},{c,d}}', NULL, NULL, NULL, NULL), '[0:1]={1,2}')
                """)
            let house = try await context.fetch(House.self).one()
            func stored() async throws -> [String?] {
                let row = try await database.query("SELECT (address).tags::text, codes::text FROM house")[0]
                return [try row.decode(0), try row.decode(1)]
            }
            house.address?.street = "Side"
            house.codes = house.codes
            try await context.save()
            #expect(try await stored() == ["{{a,b},{c,d}}", "[0:1]={1,2}"])
            house.address?.tags?[3] = "e"
            house.codes?.append("3")
            try await context.save()
            #expect(try await stored() == ["{{a,b},{c,e}}", "{1,2,3}"])
            #expect(house.address?.street == "Side")
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func conditionsTakeThem() async throws {
        try await withDatabase(classes: KindredModels.all) { (database, context) async throws in
            let address = Address(street: #"a"b\c,"#, number: 5)
            try await context.create(House.self) {
                $0.address = address
                $0.visits = PostgresRange(0...1)
            }
            try await context.create(House.self)
            #expect(try await context.fetch(House.self).where { $0.address == address }.count() == 1)
            #expect(try await context.fetch(House.self).where { $0.address != address }.count() == 1)
            #expect(try await context.fetch(House.self).where { $0.visits == PostgresRange(0...1) }.count() == 1)
            #expect(try await context.fetch(House.self).where { $0.home == nil }.count() == 2)
            // A field more is another type: an error at start-up, not in the middle of the program.
            try await database.query("ALTER TYPE address ADD ATTRIBUTE country text")
            let error = await expectError(.classMismatch) { try await database.refreshSchema() }
            #expect(error?.message.contains("public.house.address is of the type address") == true)
        }
    }

    @Test(.database(.file("../TypeModels/schema.sql"))) func namesOfAllKinds() async throws {
        try await withDatabase(classes: KindredModels.all) { _, context in
            let size = try await context.create(Größe.self) {
                $0.名前 = "名"
                $0.selfValue = "s"
                $0.column2nd = 2
                $0.hasSpace = true
                $0.quoteD = #"""#
                $0.state = "new"
                $0.type = "t"
            }
            let house = try await context.create(House.self) { $0.size = size }
            #expect(try await house.size.object?.名前 == "名" && size.column2nd == 2 && size.state == "new")
            #expect(
                try await context.fetch(Größe.self).where { $0.quoteD == #"""# && $0.hasSpace == true }.count() == 1)
            #expect(try await size.houses.contains(house) && house.`case` != UUID())
        }
    }
}
