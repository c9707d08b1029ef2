import Kindred
import KindredLive
import KindredTesting
import Testing

/// Each form of DDL beside everything that follows a table: it goes on, or ends as `DefinitionForm` says.
@Suite(.database(.sql(DefinitionForm.schema), timeLimit: .seconds(600))) struct DefinitionTests {
    @Test(arguments: DefinitionForm.columns) func ofColumns(_ form: DefinitionForm) async throws { try await run(form) }

    @Test(arguments: DefinitionForm.tables) func ofTables(_ form: DefinitionForm) async throws { try await run(form) }

    @Test(arguments: DefinitionForm.others) func ofTypesViewsAndPolicies(_ form: DefinitionForm) async throws {
        try await run(form)
    }

    private func run(_ form: DefinitionForm) async throws {
        try await withDatabase { owner, _, other in
            try await owner.tracking.install()
            try await owner.tracking.enable("thing", "owner")
            let configuration = owner.client.configuration
            var databases: [Database] = []
            do {
                databases.append(try await Database.connect(configuration))
                databases.append(try await Database.connect(configuration, classes: [DefinitionThing.self]))
                let named = try await DefinitionFollowers(databases[0], isTyped: false, form: form)
                let typed = try await DefinitionFollowers(databases[1], isTyped: true, form: form)
                defer { for followers in [named, typed] { followers.end() } }
                try await run(form, [named, typed], other)
            } catch {
                for database in databases { await database.close(timeout: .zero) }
                throw error
            }
            for database in databases { await database.close(timeout: .zero) }
        }
    }

    private func run(_ form: DefinitionForm, _ all: [DefinitionFollowers], _ other: PostgresClient) async throws {
        try await other.withTransaction { _ in
            for statement in form.statements { try await other.query(statement) }
        }
        for followers in all {
            _ = try await followers.catchUp()
            for kind in [FollowerKind.sequence, .consumer] where form.isTold {
                try await followers.expect(.goesOnOrEnds(form, kind, followers), of: kind, "after DDL") {
                    $0.gaps.contains(.schemaChanged)
                }
            }
            let list = followers.notes[.list]?.now
            if form.isSilent, list?.error == nil { #expect(list?.updates == 1, "an update without a difference") }
        }
        try await other.withTransaction { _ in
            for statement in form.change { try await other.query(statement) }
        }
        for followers in all {
            for kind in FollowerKind.allCases {
                let outcome = form.outcome(of: kind, isTyped: followers.isTyped)
                var expected: [String] = []
                if case .goesOn = outcome {
                    switch kind {
                    case .list: expected = try await other.texts(form.truth.list)
                    case .view: expected = try await other.texts(form.truth.view)
                    case .set:
                        expected = try await other.texts(
                            "SELECT id || ' ' || coalesce(other, '-') FROM thing WHERE owner_id = 1 ORDER BY id")
                    default: break
                    }
                }
                let rows = expected
                switch kind {
                case .context: try await followers.expectContext(outcome, other)
                case .list, .set, .view: try await followers.expect(outcome, of: kind, "\(rows)") { $0.rows == rows }
                case .sequence, .consumer:
                    try await followers.expect(outcome, of: kind, "after a change") { state in
                        state.keys.isSuperset(of: ["1", "2", "9"]) || state.gaps.count > 1
                    }
                }
            }
        }
    }
}

extension DefinitionForm.Outcome {
    /// What a follower that is told of DDL becomes.
    fileprivate static func goesOnOrEnds(
        _ form: DefinitionForm, _ kind: FollowerKind, _ followers: DefinitionFollowers
    ) -> Self { form.outcome(of: kind, isTyped: followers.isTyped) }
}

extension PostgresClient {
    fileprivate func texts(_ sql: SQL) async throws -> [String] {
        try await query(sql).map { try $0.decode(0, as: String.self) ?? "-" }
    }
}
