import Kindred
import KindredLive
import KindredTesting
import Testing

private let schema =
    organizationSchema + """
        CREATE TABLE pace (id integer PRIMARY KEY, delay double precision NOT NULL);
        INSERT INTO pace VALUES (1, 0);
        GRANT SELECT ON pace TO PUBLIC;
        CREATE POLICY slow ON project AS RESTRICTIVE USING (
            current_setting('app.slow', true) IS DISTINCT FROM 'on' OR pg_sleep((SELECT delay FROM pace)) IS NOT NULL);
        """

/// A question that cannot be asked with some settings ends the followers with these settings, and no others.
@Suite(.database(.sql(schema)), .timeLimit(.minutes(10))) struct TenantFollowingFaultTests {
    enum Loss: CaseIterable, Sendable {
        case membership, role
    }

    @Test(arguments: Loss.allCases) func aRoleThatIsLostEndsAlone(_ loss: Loss) async throws {
        try await withTenantWorld(.hidden) { world in
            let lost = world.role + "_b"
            try await world.admin.query("CREATE ROLE \(identifier: lost)")
            try await world.admin.query("GRANT \(identifier: lost) TO \(identifier: world.role)")
            do {
                try await lose(lost, by: loss, in: world)
            } catch {
                try await world.admin.query("DROP ROLE IF EXISTS \(identifier: lost)")
                throw error
            }
            try await world.admin.query("DROP ROLE IF EXISTS \(identifier: lost)")
        }
    }

    private func lose(_ role: String, by loss: Loss, in world: TenantWorld) async throws {
        var staying = try await world.context(1).fetch("task").sorted("id").live().makeAsyncIterator()
        var ending = try await world.context(1, role: role).fetch("task").sorted("id").live().makeAsyncIterator()
        _ = try await (staying.update(), ending.update())
        let kept = try await world.context(1, tracking: .automatic).fetch("task").where("id == 11").one()
        let left = try await world.context(1, role: role, tracking: .automatic).fetch("task").where("id == 11").one()
        switch loss {
        case .membership: try await world.admin.query("REVOKE \(identifier: role) FROM \(identifier: world.role)")
        case .role: try await world.admin.query("DROP ROLE \(identifier: role)")
        }
        try await world.admin.query("UPDATE task SET title = 'dug' WHERE id = 11")
        #expect(try await staying.update().updates == [0])
        await expectLoss(loss) { _ = try await ending.next() }
        await expectLoss(loss) { try await world.database.tracking.catchUp() }
        #expect(kept["title"] == "dug")
        try await world.admin.query("UPDATE task SET title = 'done' WHERE id = 11")
        #expect(try await staying.update().updates == [0])
        await expectLoss(loss) { try await world.database.tracking.catchUp() }
        #expect(kept["title"] == "done")
        // A context that no longer follows asks, and is refused.
        await expectLoss(loss) { _ = try await left.value(forKey: "title") }
    }

    private func expectLoss(_ loss: Loss, _ body: () async throws -> Void) async {
        switch loss {
        case .membership: await expectError(.accessDenied) { try await body() }
        case .role: await expectPostgresError(.settingsRefused) { try await body() }
        }
    }

    @Test func settingsThatStopEachQuestionEndAlone() async throws {
        try await withTenantWorld(.hidden, enabling: ["pace"]) { world in
            let slow: [String: any PostgresEncodable] = ["app.slow": "on", "statement_timeout": "400ms"]
            var staying = try await world.context(1).fetch("project").live().makeAsyncIterator()
            var ending = try await world.context(1, settings: slow).fetch("project").live().makeAsyncIterator()
            _ = try await (staying.update(), ending.update())
            let kept = try await world.context(1, tracking: .automatic).fetch("project").one()
            let left = try await world.context(1, settings: slow, tracking: .automatic).fetch("project").one()
            try await world.admin.withTransaction { _ in
                try await world.admin.query("UPDATE pace SET delay = 60")
                try await world.admin.query("UPDATE project SET name = 'orchard' WHERE id = 10")
            }
            #expect(try await staying.update().updates == [0])
            await #expect(throws: (any Error).self) { _ = try await ending.next() }
            await #expect(throws: (any Error).self) { try await world.database.tracking.catchUp() }
            #expect(kept["name"] == "orchard")
            await #expect(throws: (any Error).self) { _ = try await left.value(forKey: "name") }
            // The session's time limit is as before.
            #expect(try await world.database.client.value("SHOW statement_timeout") != "400ms")
        }
    }
}
