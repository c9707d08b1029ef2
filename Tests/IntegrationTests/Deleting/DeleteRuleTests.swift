import Kindred
import KindredTesting
import Testing

/// Every rule, on every kind of relationship, on both sides, required and not, from the foreign key, from an annotation
/// and from code.
@Suite struct DeleteRuleTests {
    private static let schema = DeleteRuleCase.all.map(\.sql).joined()

    @Test(.database(.sql(schema), timeLimit: .seconds(900)))
    func everyRuleDoesWhatItSays() async throws {
        try await withDatabase(overrides: DeleteRuleCase.all.compactMap(\.override)) { database, context, other in
            // Each case has tables of its own.
            let all = DeleteRuleCase.all
            try await withThrowingTaskGroup(of: Void.self) { group in
                for first in 0..<4 {
                    group.addTask {
                        for position in stride(from: first, to: all.count, by: 4) {
                            try await Self.check(all[position], database, other)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private static func check(_ ruleCase: DeleteRuleCase, _ database: Database, _ other: PostgresClient) async throws {
        let context = database.makeContext()
        let parents = try await context.fetch(ruleCase.parent).where("id < 10").sorted("id").all()
        let children = try await context.fetch(ruleCase.child).where("id > 10").sorted("id").all()
        let relationship = try #require(
            parents[0].entity.relationships.first {
                ruleCase.side == .helper
                    ? $0.helper?.sourceForeignKey == ruleCase.constraint
                    : $0.foreignKey == ruleCase.constraint && !$0.holdsForeignKey
            }, "\(ruleCase)")
        // Loaded on both sides, so that both have to be right afterwards.
        for parent in parents {
            if relationship.isToMany {
                _ = try await parent.set(forKey: relationship.name).objects
            } else {
                _ = try await parent.object(forKey: relationship.name)
            }
        }
        let deleted = ruleCase.side == .holder ? children[0] : parents[0]
        var outcome: KindredError.Code?
        let (_, recorder) = await recordingStatements {
            do {
                try await context.delete(deleted)
            } catch let error as KindredError {
                outcome = error.code
                #expect(error.entity != nil && error.constraint != nil || error.code == .missingValue, "\(ruleCase)")
            } catch {
                Issue.record(error, "\(ruleCase)")
            }
        }
        #expect(outcome == ruleCase.expected.code, "\(ruleCase)")
        if ruleCase.isOneStatement { #expect(recorder.statements.count == 1, "\(ruleCase): \(recorder.statements)") }
        if ruleCase.expected == .required || ruleCase.effectiveRule == .deny {
            #expect(!recorder.statements.contains { !$0.hasPrefix("SELECT") }, "\(ruleCase): \(recorder.statements)")
        }
        #expect(deleted.isDeleted == (outcome == nil), "\(ruleCase)")
        let state = try await Self.state(ruleCase, other)
        #expect(state == ruleCase.expectedState, "\(ruleCase)")
        try await compare(ruleCase, parents, children, relationship, database)
    }

    /// The rows of the tables: parents, children with their parents, and pairs.
    private static func state(_ ruleCase: DeleteRuleCase, _ other: PostgresClient) async throws -> [String] {
        var rows = try await other.query(
            "SELECT 'p' || id FROM \(identifier: ruleCase.parent) WHERE id < 10 ORDER BY 1"
        )
        .map { try $0.decode(0, as: String.self) ?? "" }
        if ruleCase.side == .helper {
            rows += try await other.query(
                "SELECT 'c' || id FROM \(identifier: ruleCase.child) WHERE id > 10 ORDER BY 1"
            )
            .map { try $0.decode(0, as: String.self) ?? "" }
            rows += try await other.query("SELECT a || '-' || b FROM \(identifier: ruleCase.helper) ORDER BY 1")
                .map { try $0.decode(0, as: String.self) ?? "" }
        } else {
            rows += try await other.query(
                """
                SELECT 'c' || id || ':' || coalesce(parent_id::text, '') FROM \(identifier: ruleCase.child)
                WHERE id > 10 ORDER BY 1
                """
            ).map { try $0.decode(0, as: String.self) ?? "" }
        }
        return rows
    }

    /// The objects in memory against the rows.
    private static func compare(
        _ ruleCase: DeleteRuleCase,
        _ parents: [DatabaseObject],
        _ children: [DatabaseObject],
        _ relationship: Relationship,
        _ database: Database
    ) async throws {
        let context = database.makeContext()
        let stored = Set(
            try await context.fetch(ruleCase.parent).all().map(\.objectID)
                + context.fetch(ruleCase.child).all().map(\.objectID))
        for object in parents + children {
            #expect(object.isDeleted == !stored.contains(object.objectID), "\(ruleCase): \(object)")
            if object.isDeleted {
                await expectError(.objectDeleted) { try await object.setValue(9, forKey: "id") }
                continue
            }
            guard let id = object.objectID else { continue }
            let twin = try await context.get(id)
            #expect(object.dictionary == twin.dictionary, "\(ruleCase): \(object)")
            guard let found = object.entity.relationship(named: relationship.name) ?? object.entity.relationships.first
            else { continue }
            let (mine, theirs) = (try await members(object, found), try await members(twin, found))
            #expect(mine == theirs, "\(ruleCase): \(object).\(found.name)")
        }
    }

    private static func members(_ object: DatabaseObject, _ relationship: Relationship) async throws -> Set<ObjectID?> {
        guard relationship.isToMany else {
            return Set([try await object.object(forKey: relationship.name)?.objectID])
        }
        return Set(try await object.set(forKey: relationship.name).objects.map(\.objectID))
    }
}

extension DeleteRuleCase {
    fileprivate var expectedState: [String] {
        if side == .helper {
            switch expected {
            case .kept: return ["p2", "c11", "c12", "c13", "2-12", "2-13"]
            case .cascaded: return ["p2", "c13", "2-13"]
            default: return ["p1", "p2", "c11", "c12", "c13", "1-11", "1-12", "2-12", "2-13"]
            }
        }
        switch (side, expected) {
        case (.referenced, .cascaded): return ["p2", "c13:2"]
        case (.referenced, .nullified): return ["p2", "c11:"] + (isUnique ? [] : ["c12:"]) + ["c13:2"]
        case (.holder, .kept): return ["p1", "p2"] + (isUnique ? [] : ["c12:1"]) + ["c13:2"]
        case (.holder, .cascaded): return ["p2"] + (isUnique || action == .cascade ? [] : ["c12:"]) + ["c13:2"]
        default: return ["p1", "p2", "c11:1"] + (isUnique ? [] : ["c12:1"]) + ["c13:2"]
        }
    }
}

extension DeleteRuleCase.Outcome {
    fileprivate var code: KindredError.Code? {
        switch self {
        case .denied: .deletionDenied
        case .required: .requiredRelationship
        case .refused: .missingValue
        case .cascaded, .nullified, .kept: nil
        }
    }
}
