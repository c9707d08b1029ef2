import DemoModels
import Foundation
import Kindred
import KindredFoundation
import KindredTesting
import TestSupport
import Testing

/// Foundation's predicates find the same objects in the database as in memory.
@Suite struct PredicateTests {
    @Test(.database(.file("../../sql/demo.sql"))) func randomPredicatesFindTheSameAsInMemory() async throws {
        try await withModels { _, context in
            let people = try await context.fetch(Person.self)
                .prefetch(\.emails).prefetch(\.managedStore).prefetch(\.titles).all()
            var generator = SeededGenerator(seed: 1)
            var found = 0
            for round in 0..<40 {
                let test = Self.test(on: people, depth: 3, &generator)
                let expected = Set(try people.filter(test.holds))
                let actual = Set(try await context.fetch(Person.self).where { _ in try test.condition() }.all())
                #expect(actual == expected, "round \(round)")
                found += expected.count
            }
            #expect(found > 0 && found < 40 * people.count)
        }
    }

    /// A condition made of predicates, and its meaning in memory.
    private struct Test {
        let condition: () throws -> Condition
        let holds: (Person) throws -> Bool
    }

    private static func test(on people: [Person], depth: Int, _ generator: inout SeededGenerator) -> Test {
        guard depth > 0 else {
            let predicate = leaf(on: people, &generator)
            return Test {
                try Condition(predicate)
            } holds: {
                try predicate.evaluate($0)
            }
        }
        let left = test(on: people, depth: depth - 1, &generator)
        let right = test(on: people, depth: depth - 1, &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            return Test {
                try left.condition() && right.condition()
            } holds: {
                let (left, right) = (try left.holds($0), try right.holds($0))
                return left && right
            }
        case 1:
            return Test {
                try left.condition() || right.condition()
            } holds: {
                let (left, right) = (try left.holds($0), try right.holds($0))
                return left || right
            }
        default:
            return Test {
                !(try left.condition())
            } holds: {
                !(try left.holds($0))
            }
        }
    }

    private static func leaf(on people: [Person], _ generator: inout SeededGenerator) -> Predicate<Person> {
        let one = generator.pick(people)
        let (id, surname, joined) = (one.id, one.surname, one.joinedAt)
        let born = one.born
        let day = born ?? one.joinedAt.date
        let part = String(surname.prefix(2))
        let ids = (0..<20).map { _ in generator.pick(people).id }
        let days = [born, nil, generator.pick(people).born]
        let count = Int.random(in: 0..<3, using: &generator)
        switch Int.random(in: 0..<26, using: &generator) {
        case 0: return #Predicate { $0.id == id }
        case 1: return #Predicate { $0.id * 2 - 7 > id }
        case 2: return #Predicate { $0.surname != surname }
        case 3: return #Predicate { $0.surname.contains(part) }
        case 4: return #Predicate { $0.surname.starts(with: part) && !$0.firstname.isEmpty }
        case 5: return #Predicate { $0.born == born }
        case 6: return #Predicate { $0.born != born }
        case 7: return #Predicate { $0.born == nil || $0.joinedAt <= joined }
        case 8: return #Predicate { ($0.born ?? day) < day }
        case 9:
            return #Predicate {
                if let born = $0.born { born >= day } else { false }
            }
        case 10: return #Predicate { ids.contains($0.id) }
        case 11: return #Predicate { days.contains($0.born) }
        case 12: return #Predicate { (id...id + 20).contains($0.id) }
        case 13: return #Predicate { (id..<id + 5).contains($0.id) }
        case 14: return #Predicate { $0.emails.loaded.isEmpty }
        case 15: return #Predicate { $0.emails.loaded.count > count }
        case 16: return #Predicate { $0.emails.loaded.contains { $0.address.contains(part) || $0.personID == nil } }
        case 17: return #Predicate { $0.titles.loaded.allSatisfy { $0.name != "Dr." } }
        case 18: return #Predicate { $0.titles.loaded.filter { $0.id > count }.count == count }
        case 19: return #Predicate { !($0.id == id && ($0.born != born || $0.surname == surname)) }
        case 20: return #Predicate { ($0.id < id) == ($0.born == nil) }
        case 21: return #Predicate { ($0.born == nil ? $0.id : -$0.id) < id - 250 }
        case 22: return #Predicate { ($0.managedStore.loaded?.city.contains("e") ?? true) != ($0.born == nil) }
        case 23: return #Predicate { $0.id % 7 == count }
        case 24: return #Predicate { $0.id / 100 <= count }
        default: return #Predicate { $0.managedStore.loaded?.city.contains("e") == true }
        }
    }

    @Test(.database(.file("../../sql/demo.sql"))) func predicatesFollowPathsOfRelationships() async throws {
        try await withModels { _, context in
            let books = try await context.fetch(Book.self).prefetch(\.category).prefetch(\.authors).all()
            func expect(
                _ predicate: Predicate<Book>,
                sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let expected = Set(try books.filter { try predicate.evaluate($0) })
                let (actual, recorder) = try await recordingStatements {
                    try await context.fetch(Book.self).where(predicate).all()
                }
                #expect(Set(actual) == expected && recorder.statements.count == 1, sourceLocation: sourceLocation)
                #expect(!expected.isEmpty && expected.count < books.count, sourceLocation: sourceLocation)
            }
            let name = try #require(books.first?.category.loaded?.name)
            let cheap: PostgresNumeric = 20
            try await expect(#Predicate { $0.category.loaded?.name == name })
            try await expect(#Predicate { $0.category.loaded?.name != name && $0.price < cheap })
            try await expect(#Predicate { $0.category.loaded?.parentID == nil })
            try await expect(#Predicate { $0.keywords.contains("signed") })
            try await expect(#Predicate { $0.authors.loaded.count > 1 ? $0.price < cheap : $0.price >= cheap })
            try await expect(#Predicate { $0.authors.loaded.contains { $0.name.starts(with: "A") } })
            let purchases = try await context.fetch(Purchase.self).all()
            let states: [PurchaseStatus] = [.sent, .returned]
            let found = try await context.fetch(Purchase.self).where(#Predicate { states.contains($0.status) }).all()
            #expect(Set(found) == Set(purchases.filter { states.contains($0.status) }) && !found.isEmpty)
        }
    }

    @Test(.database(.file("../../sql/demo.sql"))) func whatSQLCannotSayIsAnError() async throws {
        try await withModels { (_, context) async throws in
            func expect(_ code: KindredError.Code, _ part: String, _ predicate: Predicate<Person>) async {
                let (_, recorder) = await recordingStatements {
                    let error = await expectError(code) {
                        _ = try await context.fetch(Person.self).where(predicate).all()
                    }
                    #expect(error?.message.contains(part) == true, "\(String(describing: error))")
                }
                #expect(recorder.statements.isEmpty)
            }
            await expect(.invalidCondition, "count", #Predicate { $0.surname.count == 3 })
            await expect(.unknownKey, "not a column", #Predicate { $0.isDeleted })
            await expect(.unknownKey, "not a column", #Predicate { $0.joinedAt.isFinite })
        }
    }

    @Test(.database(.file("../../sql/demo.sql"))) func sortDescriptorsSortAsInMemory() async throws {
        try await withModels { (_, context) async throws in
            let people = try await context.fetch(Person.self).all()
            for order in [SortOrder.forward, .reverse] {
                let descriptors = [SortDescriptor(\Person.born, order: order), SortDescriptor(\.id, order: .reverse)]
                let (sorted, recorder) = try await recordingStatements {
                    try await context.fetch(Person.self).sorted(by: descriptors).all()
                }
                #expect(sorted == people.sorted(using: descriptors) && recorder.statements.count == 1)
            }
            #expect(people.contains { $0.born == nil })
            let groups = try await context.fetch(Person.self).sorted(by: SortDescriptor(\.born)).group(
                by: "born", aggregates: .count
            ).all()
            #expect(groups.count > 1 && groups[0]["born"] == .some(nil))
            let surnames = try await context.fetch(Person.self).sorted(by: SortDescriptor(\.surname)).all().map(
                \.surname)
            #expect(try await surnames == context.fetch(Person.self).sorted { $0.surname }.all().map(\.surname))
            await expectError(.unknownKey) {
                _ = try context.fetch(Email.self).sorted(by: SortDescriptor(\.person.loaded?.id))
            }
            await expectError(.invalidRequest) {
                _ = try context.fetch(Person.self).sorted(by: SortDescriptor(\.surname, comparator: .lexical))
            }
        }
    }
}
