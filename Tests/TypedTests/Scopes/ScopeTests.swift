import Foundation
import Kindred
import KindredTesting
import Testing
import TypeModels

/// A closure may name the objects around it: a column belongs to the object whose closure gave it.
@Suite struct ScopeTests {
    @Test(.database(.file(ScopeWorld.schema))) func aColumnIsOfTheObjectWhoseClosureGaveIt() async throws {
        try await ScopeWorld.open { _, context, plain in
            let all = try await plain.texts("SELECT id FROM keeper ORDER BY id")
            func ids(_ request: FetchRequest<Keeper>) async throws -> [String] {
                try await request.sorted { $0.id }.all().map { "\($0.id)" }
            }
            for (number, test) in ScopeCase.all.enumerated() {
                let right = try await plain.texts("SELECT id FROM keeper t WHERE (\(test.sql)) ORDER BY id")
                #expect(!right.isEmpty && right.count < all.count, "the case \(number) decides nothing")
                let keepers = try context.fetch(Keeper.self)
                #expect(try await ids(keepers.where(test.closure)) == right, "\(number): \(test.sql)")
                #expect(try await keepers.where(test.closure).count() == right.count)
                let others = try await ids(keepers.where { !(try test.closure($0)) })
                #expect(others == all.filter { !right.contains($0) }, "not \(number): \(test.sql)")
                if let format = test.format {
                    let keys = ["weight", "name", "name"].prefix(format.components(separatedBy: "%K").count - 1)
                    let request = try keepers.where(format, arguments: keys.map { $0 as (any PropertyValue)? })
                    #expect(try await ids(request) == right, "\(number): \(format)")
                }
                if let predicate = test.predicate {
                    #expect(try await ids(keepers.where(predicate)) == right, "\(number): \(predicate)")
                }
            }
        }
    }

    @Test(.database(.file(ScopeWorld.schema))) func aColumnThatWasKeptIsRefusedBeforeAnythingIsSent() async throws {
        try await ScopeWorld.open { _, context, _ in
            var kept: Columns<Keeper>?
            var pet: Columns<Pet>?
            _ = try context.fetch(Keeper.self).where { keeper in
                kept = keeper
                return keeper.pets.contains {
                    pet = $0
                    return $0.weight == keeper.age
                }
            }
            let (keeper, member) = (try #require(kept), try #require(pet))
            let request = try context.fetch(Keeper.self)
            func expect(_ what: String, _ body: () async throws -> Void) async throws {
                let (_, recorder) = await recordingStatements {
                    let error = await expectError(.invalidCondition, body)
                    #expect(
                        error?.message.contains("kept from a closure") == true, "\(what): \(String(describing: error))")
                }
                #expect(recorder.statements.isEmpty, "\(what)")
            }
            try await expect("where") { _ = try await request.where { _ in keeper.age == 1 }.all() }
            try await expect("object") { _ = try await request.where { $0.boss == keeper }.all() }
            try await expect("within") {
                _ = try await request.where { $0.pets.contains { _ in keeper.age == 1 } }.all()
            }
            try await expect("members") { _ = try await request.where { _ in keeper.pets.isEmpty }.all() }
            try await expect("count") { _ = try await request.where { _ in keeper.pets.count > 1 }.all() }
            try await expect("array") { _ = try await request.where { _ in keeper.numbers.count > 1 }.all() }
            try await expect("member") {
                _ = try await request.where {
                    var inner: Columns<Pet>?
                    let first = $0.pets.contains {
                        inner = $0
                        return $0.weight == 1
                    }
                    return first && (inner ?? member).weight == 2
                }.all()
            }
            try await expect("sibling") {
                _ = try await request.where {
                    var inner: Columns<Pet>?
                    let first = $0.pets.contains {
                        inner = $0
                        return $0.weight == 1
                    }
                    return first && $0.pets.contains { $0.name == (inner ?? member).name }
                }.all()
            }
            try await expect("sorted") { _ = try await request.sorted { _ in keeper.age }.all() }
            try await expect("sorted by count") { _ = try await request.sorted { _ in keeper.pets.count }.all() }
            try await expect("sum") { _ = try await request.sum { $0.rank + keeper.rank } }
            try await expect("update") { try await request.update { $0.age = keeper.age + 1 } }
            try await expect("update of one's own") { try await request.update { [age = keeper.age] in $0.age = age } }
            try await expect("delete") { try await request.where { _ in keeper.age == 1 }.delete() }
            try await expect("part") {
                _ = try await request.prefetch(\.pets) { $0.where { _ in member.weight == 1 } }.all()
            }
            try await expect("sorted part") {
                _ = try await request.prefetch(\.pets) { $0.sorted { _ in member.weight } }.all()
            }
            let (keys, groups) = try keptKeys(of: request)
            try await expect("total") {
                _ = try await request.group(by: { $0.rank }) { $0.sum { _ in keeper.size } }.all()
            }
            try await expect("key") { _ = try await request.group(by: { _ in keys.rank }) { $0.count }.all() }
            try await expect("having") { _ = try await groups.having { $0.sum { _ in keeper.size } > 1 }.all() }
            try await expect("having a column") { _ = try await groups.having { _ in keeper.size > 1 }.all() }
        }
    }

    /// The keys that a closure was given, and the groups that it made of them.
    private func keptKeys(
        of request: FetchRequest<Keeper>
    ) throws -> (GroupKeys<Keeper>, TypedGroupRequest<Keeper, (Int, Int)>) {
        var kept: [GroupKeys<Keeper>] = []
        func keep(_ keys: GroupKeys<Keeper>) -> GroupKeys<Keeper> {
            kept.append(keys)
            return keys
        }
        let groups = try request.group(by: { keep($0).rank }) { $0.count }
        return (try #require(kept.first), groups)
    }
}
