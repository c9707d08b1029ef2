import EmbeddedPostgres
import KindredDDL
import KindredPostgres

/// Runs a plan on a copy of the old side, and compares the result with the new side.
///
/// The scratch database begins with the old side and nothing else: a script runs there, a database is copied. The
/// result is judged by the embedded server's `pg_dump`, and by a row that is inserted, updated and deleted in each
/// table that the plan touched.
struct Trial {
    let server: ScratchServer
    let (from, to): (ComparedSide, ComparedSide)
    let plan: Plan

    /// The statements to try, and the schema that they should make of the old side.
    struct Plan {
        var steps: [SchemaStep] = []
        /// The new side, with everything that is withheld.
        var target: SchemaSnapshot
        /// The new side as the server writes it.
        var wanted: SchemaSnapshot
        /// The new names of relations, by their old names.
        var renamed: [ItemName: ItemName] = [:]
        /// Differences that the result names already: they may be left.
        var named: [String] = []
        var isWithholding = false
        /// Obstacles, for the case that a statement fails.
        var obstacles: [String] = []
        /// The extensions that are made before the old side, and before the new side.
        var first: (old: [FirstExtension], new: [FirstExtension]) = ([], [])
        /// The statements that made them.
        var done: Set<ServerText> = []
    }

    /// The result of a trial.
    struct Outcome {
        var proof: SchemaDifferences.Proof
        /// A sentence for each table in which no row could be tried.
        var untried: [String] = []
        /// Differences without statements that would change them.
        var left: [String] = []
        /// Statements that took too long.
        var cut: [String] = []
    }

    private struct Result {
        var lacking: [String]
        var reason: String?
        var dump: SchemaDump.Text?
        var untried: [String] = []
        var cut: String?
        /// A statement for which the role of the copies has no right.
        var refused: String?
    }

    func run() async throws -> Outcome {
        do {
            return try await tried()
        } catch let error as SchemaCopy.Failure {
            return Outcome(
                proof: .skipped("\(error.name) cannot be made on the embedded server: \(error.reason)"),
                cut: [error.cut].compactMap { $0 })
        } catch let error as EmbeddedPostgresError {
            return Outcome(proof: .skipped(error.message))
        } catch let error as TookTooLong {
            return Outcome(proof: .skipped(error.message), cut: ["pg_dump"])
        } catch let error as SchemaDifferencesError where !plan.done.isEmpty {
            return Outcome(proof: .skipped("the old side cannot be made behind the new extensions: \(error.message)"))
        } catch let error as PostgresError {
            // A function of a side can end its own session.
            return Outcome(proof: .skipped("the embedded server failed: \(error.server?.message ?? error.message)"))
        }
    }

    private func tried() async throws -> Outcome {
        let old = try await from.withMade(on: server, after: plan.first.old) { try await result(in: $0) }
        var outcome = Outcome(proof: .proven, untried: old.untried)
        if let cut = old.cut {
            outcome.proof = .skipped("a statement took too long and was stopped: \(cut)")
            outcome.cut = [cut]
            return outcome
        }
        if let refused = old.refused {
            outcome.proof = .skipped("the plan has \(refused), which only a superuser may do")
            return outcome
        }
        if let reason = old.reason {
            outcome.proof = .failed(reason)
            return outcome
        }
        let new = try await to.withMade(on: server, after: plan.first.new) { made in
            Result(lacking: made.lacking, dump: try await server.dump(of: made.client))
        }
        guard let dump = old.dump, let other = new.dump else {
            outcome.proof = .skipped("there is no pg_dump beside the embedded server's programs")
            return outcome
        }
        var targets = [other]
        if plan.isWithholding {
            try await server.withDatabase(plan.first.old) { client in
                try await SchemaCopy(plan.target, of: "what is left of the old side").make(on: client, of: server)
                if let kept = try await server.dump(of: client) { targets.append(kept) }
            }
        }
        let left = try await differences(dump, targets).filter { !isNamed($0) }
        if from.isExact, to.isExact {
            let failures = plan.steps.isEmpty ? [] : left.filter(\.key.isPlanned)
            if let first = failures.first {
                let rest = failures.count == 1 ? "" : " and \(failures.count - 1) more"
                outcome.proof = .failed("Afterwards pg_dump tells the two sides apart by \(first.phrase)\(rest).")
            }
            outcome.left = left.filter { plan.steps.isEmpty || !$0.key.isPlanned }.map(\.sentence)
            return outcome
        }
        if !left.isEmpty {
            // A copy may lack things of its original that a snapshot does not know.
            outcome.proof = .skipped(
                "a copy of a database does not tell whether it has \(left.map(\.phrase).joined(separator: ", "))")
        }
        for (side, lacking) in [(from, old.lacking), (to, new.lacking)] where !lacking.isEmpty {
            outcome.proof = .skipped("the copy of \(side.name) lacks \(lacking.joined(separator: ", "))")
            break
        }
        return outcome
    }

    /// Runs the plan where the old side is, and tries rows.
    private func result(in old: ComparedSide.Made) async throws -> Result {
        let (client, before) = (old.client, old.snapshot)
        var result = Result(lacking: old.lacking)
        if !plan.steps.isEmpty {
            for step in plan.steps {
                do {
                    try await step.run(on: client, without: plan.done)
                } catch let error as FailedStatement {
                    switch error.kind {
                    case .cut: result.cut = error.sql
                    case .refused: result.refused = error.sql
                    case .failed: result.reason = reason(error, before)
                    }
                    return result
                }
            }
            let after = try await server.snapshot(of: client)
            if let reason = try wrong(after, lacking: old.lacking) {
                result.reason = reason
                return result
            }
            let rows = try await rows(TouchedTables(from: before, to: after).names, on: client)
            result.untried = rows.untried
            let broken = Leftovers(from: before, plan.renamed, to: after, wanted: plan.wanted).lines + rows.failures
            if !broken.isEmpty {
                result.reason = broken.joined(separator: " ")
                return result
            }
        }
        result.dump = try await server.dump(of: client)
        return result
    }

    /// Tries rows in tables; a fault that was there before the plan is no failure of it.
    private func rows(
        _ tables: [ItemName], on client: PostgresClient
    ) async throws -> (untried: [String], failures: [String]) {
        var (untried, failures): ([String], [Smoke.Failure]) = ([], [])
        for (table, outcome) in try await Smoke(client: client, tables: tables).outcomes() {
            switch outcome {
            case .done: break
            case .refused(let reason): untried.append("No row was tried in the \(table.described): \(reason).")
            case .failed(let failure): failures.append(failure)
            }
        }
        if failures.isEmpty { return (untried, []) }
        let names = Dictionary(plan.renamed.map { ($0.value, $0.key) }) { first, _ in first }
        let earlier = failures.map { names[$0.table] ?? $0.table }
        let before = try await from.withCopy(on: server, after: plan.first.old) {
            try await Smoke(client: $0.client, tables: earlier).outcomes()
        }
        let known = before.compactMap { if case .failed(let failure) = $0.outcome { failure } else { nil } }
        let (old, new) = (failures.filter { $0.isKnown(among: known) }, failures.filter { !$0.isKnown(among: known) })
        untried += old.map { "No row was tried in the \($0.table.described), as before: \($0.message)." }
        return (untried.sorted(), new.map(\.sentence))
    }

    private func reason(_ error: FailedStatement, _ before: SchemaSnapshot) -> String {
        let needed = Unmanaged.needed(before, plan.wanted)
        var reason = "A statement fails (\(error.reason)): \(error.sql)"
        if !needed.isEmpty {
            reason += ". These statements do not make what the new side needs: \(needed.joined(separator: ", "))"
        }
        if let obstacle = plan.obstacles.first { reason += ". In the way: \(obstacle)" }
        return reason
    }

    /// A sentence about things that the statements should have made, as far as `pg_dump` does not show them.
    private func wrong(_ after: SchemaSnapshot, lacking: [String]) throws -> String? {
        for (name, item) in plan.target.items.sorted(by: { $0.key < $1.key }) {
            guard let made = after[name], made.comment != item.comment else { continue }
            return "Afterwards the \(name.described) has another comment."
        }
        // A whole copy is written as the new side's copy is.
        guard !from.isExact, lacking.isEmpty else { return nil }
        var present = after.withOriginals(of: from.snapshot)
        // The versions of extensions depend on the servers of the sides.
        for name in Set(present.items.keys).union(plan.target.items.keys) where name.kind == .extension {
            present.items[name] = after[name] == nil ? nil : plan.target[name] ?? present[name]
        }
        var planner = SchemaPlanner(from: present, to: plan.target)
        let rest = try planner.plan().flatMap(\.statements)
        return rest.first.map { "Afterwards \(rest.count) statements are still to do, such as: \($0.sql)" }
    }

    // MARK: Remaining differences

    /// Compares dumps; if they differ, the server reads and writes each once more, which settles how it writes
    /// expressions.
    private func differences(_ dump: SchemaDump.Text, _ targets: [SchemaDump.Text]) async throws
        -> [SchemaDump.Difference]
    {
        let found = dump.entries.differences(from: targets.map(\.entries))
        if found.isEmpty { return [] }
        var again: [SchemaDump] = []
        do {
            for text in [dump] + targets {
                again.append(
                    try await ScratchScript(text.text, name: "the dump").withDatabase(of: server) { client, leftOut in
                        guard leftOut.isEmpty else { return text.entries }
                        return try await server.dump(of: client)?.entries ?? text.entries
                    })
            }
        } catch is SchemaDifferencesError {
            // A dump that cannot be read again is compared as it is.
            return found
        }
        return again[0].differences(from: Array(again.dropFirst()))
    }

    /// Whether a line of the result names the kind and the name of a difference.
    private func isNamed(_ difference: SchemaDump.Difference) -> Bool {
        let key = difference.key
        let isPrivilege = key.kind == "ACL" || key.kind == "DEFAULT ACL"
        var words = key.name.split(separator: " ").map(String.init)
        var (kind, schema) = (key.kind.lowercased(), key.schema)
        switch key.kind {
        case "ACL", "DEFAULT ACL": kind = "privileges"
        // A publication is named with everything that it publishes.
        case "PUBLICATION TABLE", "PUBLICATION TABLES IN SCHEMA":
            (kind, schema, words) = ("publication", "", Array(words.prefix(1)))
        default: break
        }
        // These names have words of the statement in capitals, such as the kind of a privilege's object.
        if isPrivilege || key.kind == "USER MAPPING" { words.removeAll { $0 == $0.uppercased() } }
        guard let start = words.first else { return false }
        let anchor = schema.isEmpty ? start : "\(schema).\(start)"
        return plan.named.contains { line in
            line.lowercased().contains(kind) && line.contains(anchor) && words.allSatisfy { line.contains($0) }
        }
    }
}

extension SchemaDump {
    /// A dump as it was printed, and split.
    struct Text {
        let text: String
        let entries: SchemaDump

        init(_ text: String) {
            self.text = text
            entries = SchemaDump(text)
        }
    }
}
