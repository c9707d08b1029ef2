import Foundation
import Kindred
import KindredTesting
import TestSupport
import Testing
import TypeModels

/// Random conditions with every operator of typed columns find the same objects on the server as in memory.
@Suite struct OperatorTests {
    private static let rounds = TestAmount.of(50, full: 200, long: 5_000)

    @Test(.database(.file("../../TypeModels/schema.sql")), arguments: [UInt64.random(in: 0..<100_000), 1])
    func everyOperatorMeansWhatItMeansInSwift(seed: UInt64) async throws {
        let classes = KindredModels.all.filter { $0 != Visit.self } + [DatedVisit.self]
        try await withDatabase(classes: classes) { database, context in
            var random = SeededGenerator(seed: seed)
            let world = try await OperatorWorld(&random, in: database)
            var writer = OperatorWriter(random, world)
            var round = 0
            // Somewhat longer where chance has left an operator out.
            while round < Self.rounds
                || round < max(2_000, 10 * Self.rounds) && !Self.operators.isSubset(of: writer.used)
            {
                round += 1
                let isRight =
                    switch Int.random(in: 0..<16, using: &writer.random) {
                    case 0: try await check(writer.visitCase(), world.visits, seed)
                    case 1..<4: try await check(writer.petCase(2), world.pets, seed)
                    default: try await check(writer.keeperCase(3), world.keepers, seed)
                    }
                guard isRight else { return }
            }
            #expect(Self.operators.subtracting(writer.used).sorted() == [], "these took no part")
            #expect(writer.used.subtracting(Self.operators).sorted() == [], "these are not listed")
        }
    }

    /// Whether a condition finds the same on the server as in memory.
    private func check<Root: TypedObject>(_ test: TypedCase<Root>, _ objects: [Root], _ seed: UInt64) async throws
        -> Bool
    {
        let expected = Set(objects.filter(test.holds))
        do {
            let found = try await objects[0].context.fetch(Root.self).where { test.condition($0) }.all()
            #expect(Set(found) == expected && found.count == expected.count, "seed \(seed): \(test.text)")
            return Set(found) == expected
        } catch {
            Issue.record(error, "seed \(seed): \(test.text)")
            return false
        }
    }

    /// Every operator that typed columns have.
    private static let operators: Set<String> = Set(
        """
        &&,||,!,! column,== value,!= value,< value,<= value,> value,>= value,isIn values,isIn optionals,isBetween
        == column,!= column,< column,<= column,> column,>= column,== object,!= object,== path,isIn objects
        + value,- value,* value,/ value,+ column,- column,* column,/ column,negative,% value,% column
        + numeric,- numeric,* numeric,/ numeric value,+ numeric column,- numeric column,* numeric column
        / numeric column,negative numeric,timestamp + interval,timestamp - interval,date + interval,date - interval
        timestamp + column,timestamp - column,date + column,date - column,Date + interval,Date - interval,date - date,date - date column,timestamp - timestamp
        timestamp - timestamp column,Date - Date,Date - Date column,?? value,?? column,?? text,+ text,+ text column
        hasPrefix,hasSuffix,contains text,equals,like,matches,hasPrefix ignoring case,hasSuffix ignoring case
        contains text ignoring case,equals ignoring case,like ignoring case,matches ignoring case
        search text,search vector,contains element,containsAll,containsAny,array count
        contains document,json number,json[key],json[keys]
        contains where,allSatisfy,none,isEmpty,contains object,count,count where
        members.toMany,members.toOne,members.toOne?
        """.split(whereSeparator: { $0 == "," || $0 == "\n" }).map(String.init))
}
