import Foundation
import KindredSchema
import TestSupport
import Testing

/// Laws that hold for every catalog.
///
/// `KINDRED_SEED=123` tries one catalog, `KINDRED_CATALOGS=100000` more of them than usual.
@Suite struct RandomCatalogTests {
    private static var seeds: [UInt64] {
        if let seed = TestAmount.number("KINDRED_SEED") { return [UInt64(seed)] }
        return Array(1...UInt64(max(4, TestAmount.number("KINDRED_CATALOGS") ?? TestAmount.of(200, full: 2_000))))
    }

    // In quarters, so that they run side by side.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func everyCatalogKeepsTheLaws(_ quarter: UInt64) throws {
        let seeds = Self.seeds.filter { $0 % 4 == quarter }
        var refused = 0
        var relationships = 0
        var manyToMany = 0
        for seed in seeds {
            var random = RandomCatalog(seed: seed)
            var schema: DatabaseSchema
            do {
                schema = try DatabaseSchema(catalog: random.catalog)
            } catch {
                // An annotation that clashes: the same error in every order. Without it the laws hold.
                #expect(error.code == .invalidAnnotation, "seed \(seed)")
                let again = #expect(throws: SchemaError.self) { try DatabaseSchema(catalog: random.shuffled()) }
                #expect(again?.message == error.message, "seed \(seed)")
                refused += 1
                random.removeAnnotations()
                schema = try DatabaseSchema(catalog: random.catalog)
            }
            relationships += schema.entities.reduce(0) { $0 + $1.relationships.count }
            manyToMany += schema.entities.reduce(0) { sum, entity in
                sum + entity.relationships.count { $0.kind == .manyToMany }
            }
            let laws = SchemaLaws(schema: schema, catalog: random.catalog)
            let oracle = NamingOracle(schema: schema, catalog: random.catalog)
            let broken =
                laws.broken() + oracle.broken() + brokenByOrder(schema, &random) + brokenByAdditions(schema, &random)
            #expect(broken.isEmpty, "seed \(seed): \(broken.joined(separator: "; "))")
            if !broken.isEmpty { return }
        }
        // The catalogs are not all empty, and neither all refused.
        #expect(seeds.count <= 1 || relationships > 10 * seeds.count)
        #expect(seeds.count <= 1 || manyToMany > seeds.count / 2)
        #expect(seeds.count <= 1 || refused < seeds.count / 5)
    }

    private func brokenByOrder(_ schema: DatabaseSchema, _ random: inout RandomCatalog) -> [String] {
        guard let shuffled = try? DatabaseSchema(catalog: random.shuffled()) else {
            return ["refused in another order"]
        }
        var broken: [String] = []
        if shuffled.entities != schema.entities { broken.append("the order of rows changes entities") }
        if random.generator.chance(5), shuffled.json() != schema.json() {
            broken.append("the order of rows changes the JSON")
        }
        if shuffled.diagnostics != schema.diagnostics { broken.append("the order of rows changes diagnostics") }
        return broken
    }

    /// A table or key that is added later takes away no generated name.
    private func brokenByAdditions(_ before: DatabaseSchema, _ random: inout RandomCatalog) -> [String] {
        random.addTable()
        for _ in 0..<3 { random.addForeignKey() }
        // An added object may clash with an annotation; then there is nothing to compare.
        guard let after = try? DatabaseSchema(catalog: random.catalog) else { return [] }
        var broken: [String] = []
        for entity in before.entities {
            for relationship in entity.relationships where relationship.kind != .manyToMany {
                guard let key = relationship.foreignKey else { continue }
                let table = relationship.holdsForeignKey ? relationship.source : relationship.destination
                let name = "\(table.schema)_\(table.name)_\(key)"
                // Two keys can have one generated name, such as a.b_c.d and a_b.c.d; the first in order keeps it.
                guard entity.relationship(named: name) === relationship,
                    let found = after[entity.name]?.relationship(named: name)
                else { continue }
                // A key that repeats it may have been added, with the columns in another order.
                let isSame = found.destination == relationship.destination && pairs(found) == pairs(relationship)
                let others = after[entity.name]?.relationships.filter { other in
                    other.explanation.contains { $0.rule == .generated && $0.name.hasPrefix(name) }
                }
                if !isSame && others?.count == 1 { broken.append("\(entity).\(name) was taken away") }
            }
        }
        return broken
    }

    /// Views add relationships, and take no name from any that was there.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func viewsTakeNoNamesAway(_ quarter: UInt64) throws {
        let seeds = Self.seeds.filter { $0 % 4 == quarter }
        var added = 0
        for seed in seeds {
            var random = RandomCatalog(seed: seed)
            random.removeAnnotations()
            let before = try DatabaseSchema(catalog: random.catalog)
            for _ in 0..<4 { random.addView() }
            let after = try DatabaseSchema(catalog: random.catalog)
            var broken: [String] = []
            for entity in before.entities {
                let kept = after[entity.name]?.relationships.filter { !$0.isByView } ?? []
                if kept.map({ [$0.name] + $0.aliases }) != entity.relationships.map({ [$0.name] + $0.aliases }) {
                    broken.append("\(entity) has other names")
                }
            }
            let laws = SchemaLaws(schema: after, catalog: random.catalog)
            for entity in after.entities {
                broken += laws.ambiguousKeys(entity) + laws.unmatchedInverses(entity) + laws.unexplainedNames(entity)
                added += entity.relationships.count { $0.isByView }
            }
            if let shuffled = try? DatabaseSchema(catalog: random.shuffled()), shuffled.entities != after.entities {
                broken.append("the order of rows changes entities")
            }
            #expect(broken.isEmpty, "seed \(seed): \(broken.joined(separator: "; "))")
            if !broken.isEmpty { return }
        }
        #expect(seeds.count <= 1 || added > 4 * seeds.count, "\(added)")
    }

    private func pairs(_ relationship: Relationship) -> Set<[String]> {
        Set(zip(relationship.columns, relationship.destinationColumns).map { [$0, $1] })
    }

    @Test func seedsReproduce() throws {
        for seed in [1, 77, 2_024] as [UInt64] {
            let first = try? DatabaseSchema(catalog: RandomCatalog(seed: seed).catalog)
            let second = try? DatabaseSchema(catalog: RandomCatalog(seed: seed).catalog)
            #expect(first?.json() == second?.json())
        }
    }
}
