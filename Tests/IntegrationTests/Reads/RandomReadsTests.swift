import KindredPostgres
import KindredTesting
import TestSupport
import Testing

@testable import Kindred

/// Random questions beside random changes by SQL: where the answer differs, the question's reads say so, and name the owner.
///
/// `KINDRED_RANDOM=10000` makes it that many rounds, `KINDRED_RANDOM_SEED=5` begins with another seed: rounds that have failed
/// come again with `KINDRED_RANDOM=1` and their seed.
@Suite struct RandomReadsTests {
    private static let questions = 10
    private static let changes = 40

    private struct Undone: Error {}

    /// How often questions were concerned in which way.
    private struct Figures {
        var rounds = 0
        var different = 0
        var unconcerned = 0
        /// The faults of which an answer has told.
        var found: Set<Fault> = []
    }

    /// Faults that reads might have: the comparison has to notice each of them.
    private enum Fault: CaseIterable {
        case column, filter, tenant, position, foreignKey, helper, secondOwner, comingRow

        func concern(_ change: ReadsWorld.Change, _ right: Reads.Concern) -> Reads.Concern {
            let isMissing =
                switch self {
                case .column: change.columns == ["size"]
                case .filter: change.columns == ["archived"]
                case .tenant: change.columns == ["tenant"]
                case .position: change.columns == ["place"]
                case .foreignKey: change.columns == ["person_id"] || change.columns == ["team_id"]
                case .helper: change.table.key.count > 1
                case .secondOwner: false
                case .comingRow: change.columns == nil
                }
            if isMissing { return .nothing }
            if self == .secondOwner, case .owners(let owners) = right { return .owners(Array(owners.prefix(1))) }
            return right
        }
    }

    @Test(.database(.sql(ReadsWorld.schema), timeLimit: .seconds(3_600))) func noChangeOfAnAnswerIsMissed() async throws
    {
        let rounds = TestAmount.number("KINDRED_RANDOM") ?? TestAmount.of(2_000, full: 5_000, long: 50_000)
        var seed = UInt64(GraphCounts.firstSeed)
        try await withDatabase { database, _, other in
            let models = [database.runtime, try database.model(ofTenantsBy: "tenant")]
            let tables = ReadsWorld.tables.map(\.name).joined(separator: ", ")
            var (figures, problems) = (Figures(), [String]())
            while figures.rounds < rounds, problems.count < 5 {
                var random = SeededGenerator(seed: seed)
                try await other.runScript("TRUNCATE \(tables) CASCADE; \(ReadsWorld.rows(&random))")
                problems += try await ask(random.pick(models), other, &random, &figures).map { "seed \(seed): \($0)" }
                seed += 1
            }
            for problem in problems { Issue.record("\(problem)") }
            if rounds < 5_000 { return }
            #expect(figures.found == Set(Fault.allCases))
            #expect(figures.different * 100 > figures.rounds, "\(figures)")
            #expect(figures.unconcerned * 4 > figures.rounds, "\(figures)")
        }
    }

    /// Asks some questions, and again after each of some changes, which are rolled back.
    private func ask(
        _ runtime: SchemaRuntime, _ other: PostgresClient, _ random: inout SeededGenerator, _ figures: inout Figures
    ) async throws -> [String] {
        var questions: [RandomQuestion] = []
        var attempts = 0
        while questions.count < Self.questions, attempts < 1_000 {
            attempts += 1
            if let question = try? RandomQuestion(in: runtime, &random) { questions.append(question) }
        }
        try #require(questions.count == Self.questions)
        let tenant = Statement(text: StatementText("SELECT set_config('kindred.tenant', 'x', true)"))
        let statements = questions.map(\.statement)
        let first = try await other.withTransaction { _ in
            try await other.executeBatch([tenant] + statements).dropFirst()
        }
        let answers = try zip(questions, first).map { try $0.answer($1) }
        var problems: [String] = []
        for _ in 0..<Self.changes {
            let change = ReadsWorld.Change(&random)
            let isByOther = change.table.shownBy != nil && random.once(in: 3)
            let name = isByOther ? change.table.shownBy ?? "" : change.table.name
            let entity = try runtime.entity(named: name)
            let whole = try models(of: runtime, entity)
            let isWhole = random.chance(50)
            let rows = try [change.former, change.new].map {
                try change.row($0, of: whole.entity, in: whole.runtime, isWhole: isWhole)
            }
            let sql = Statement(text: StatementText(change.sql))
            let batch = [tenant, rows[0], sql, rows[1]] + statements
            // A program that writes through an entity writes its columns alone.
            guard change.columns?.allSatisfy({ entity.attributeIndex(of: $0) != nil }) ?? true,
                let results = try await undone(batch, other), results[2].affectedRows == 1
            else { continue }
            let before = try EntityRows(results[1], of: entity), after = try EntityRows(results[3], of: entity)
            let row = RowChange(
                of: entity, from: before.count > 0 ? try before[0] : nil, to: after.count > 0 ? try after[0] : nil)
            let keys = Set(
                try [row.before, row.after].compactMap(\.self).map { row in
                    try entity.key.map { try row[$0].map { "\($0)" } ?? "-" }.joined(separator: " ")
                })
            for (number, question) in questions.enumerated() {
                let (old, new) = (answers[number], try question.answer(results[4 + number]))
                let concern = question.reads.concern(row)
                figures.rounds += 1
                if old != new { figures.different += 1 }
                if concern == .nothing { figures.unconcerned += 1 }
                if old != new {
                    for fault in Fault.allCases where !figures.found.contains(fault) {
                        let wrong = fault.concern(change, concern)
                        let isFound = question.problem(wrong, from: old, to: new, row: keys) != nil
                        if isFound { figures.found.insert(fault) }
                    }
                }
                if let problem = question.problem(concern, from: old, to: new, row: keys) {
                    problems.append("\(question) after \(change) of \(entity.name.name): \(problem), \(old) \(new)")
                } else if old != new, !isNamed(change, entity, question.reads) {
                    problems.append("\(question) after \(change): none of the columns is read")
                }
            }
        }
        return problems
    }

    /// Whether one of the columns that a statement has set is read, by which a live request goes.
    private func isNamed(_ change: ReadsWorld.Change, _ entity: EntityRuntime, _ reads: Reads) -> Bool {
        guard let columns = change.columns, !reads.isAnything, change.table.shownBy == nil else { return true }
        return columns.contains { entity.attributeIndex(of: $0).map(reads.columns(of: entity).contains) ?? false }
    }

    /// A model without tenants, in which each row is there, and the entity in it.
    private func models(
        of runtime: SchemaRuntime, _ entity: EntityRuntime
    ) throws -> (runtime: SchemaRuntime, entity: EntityRuntime) {
        var schema = runtime.schema
        if schema.tenantColumn == nil { return (runtime, entity) }
        schema.tenantColumn = nil
        let whole = SchemaRuntime(schema)
        return (whole, try whole.entity(named: entity.name.name))
    }

    /// The results of statements that are rolled back; nil if a constraint refuses one of them.
    private func undone(_ statements: [Statement], _ client: PostgresClient) async throws -> [QueryResult]? {
        var results: [QueryResult]?
        do {
            try await client.withTransaction { _ in
                results = try await client.executeBatch(statements)
                throw Undone()
            }
        } catch is Undone {
        } catch let error as PostgresError where error.sqlState?.rawValue.hasPrefix("23") == true {
            return nil
        }
        return results
    }
}
