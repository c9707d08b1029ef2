import Testing

@testable import Kindred

@Suite struct EntityTablesTests {
    @Test(arguments: [1, 2, 8, 9, 10, 40, 1_000]) func keepsOneTableForEachEntity(ofSo count: Int) {
        var random = SystemRandomNumberGenerator()
        var tables = EntityTables<[Int]>()
        var expected: [Int: [Int]] = [:]
        #expect(tables.place(0) == nil && tables.place(-1) == nil)
        for step in 0..<4 * count {
            let entity = Int.random(in: 0..<count, using: &random) * 7
            #expect((tables.place(entity) == nil) == (expected[entity] == nil))
            let place = tables.place(entity, orMake: [-entity])
            tables[place].append(step)
            expected[entity, default: [-entity]].append(step)
        }
        for (entity, table) in expected { #expect(tables.place(entity).map { tables[$0] } == table) }
        #expect(tables.place(-1) == nil)
    }
}
