import Testing

/// Runs a test's body, and if the limit passes before its end, cancels it and records an issue.
func withTimeLimit(
    _ limit: Duration?, of test: Test, _ body: @concurrent @Sendable () async throws -> Void
) async throws {
    guard let limit else { return try await body() }
    // The group waits for its tasks, so that none outlives this call.
    try await withoutActuallyEscaping(body) { body in
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                Issue.record(
                    "The test took longer than its limit of \(limit), the wait for its database not counted.",
                    sourceLocation: test.sourceLocation)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }
}
