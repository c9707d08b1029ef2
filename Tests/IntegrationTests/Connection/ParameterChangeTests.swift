import KindredPostgres
import KindredTesting
import Testing

@Suite(.database) struct ParameterChangeTests {
    private func next(_ changes: AsyncStream<ServerParameterChange>) async -> ServerParameterChange? {
        for await change in changes { return change }
        return nil
    }

    @Test func changesThatTheServerReportsAreTold() async throws {
        try await withClient(maximumConnections: 1) { client in
            let changes = client.parameterChanges()
            try await client.withConnection { connection in
                try await connection.query("SET TimeZone = 'Asia/Tokyo'")
                let change = await next(changes)
                #expect(change?.name == "TimeZone" && change?.value == "Asia/Tokyo")
                let process = try await connection.query("SELECT pg_backend_pid()")
                #expect(try process[0].decode(0, as: Int32.self) == change?.processID)
                // A change that the server does not report is not told, so the next told change is the second.
                try await connection.query("SET work_mem = '5MB'")
                try await connection.query("SET application_name = 'other'")
                let next = await next(changes)
                #expect(next?.name == "application_name" && next?.value == "other")
            }
            // The connection was reset when it came back.
            var names: Set<String?> = []
            for _ in 0..<2 { names.insert(await next(changes)?.name) }
            #expect(names == ["TimeZone", "application_name"])
            await client.close()
            #expect(await next(changes) == nil)
        }
    }

    @Test func aChangeFromBeforeIsToldToo() async throws {
        try await withClient(maximumConnections: 1) { client in
            try await client.withConnection { connection in
                try await connection.query("SET IntervalStyle = 'iso_8601'")
                let changes = client.parameterChanges()
                try await connection.query("SELECT 1")
                #expect(await next(changes)?.value == "iso_8601")
            }
        }
    }
}
