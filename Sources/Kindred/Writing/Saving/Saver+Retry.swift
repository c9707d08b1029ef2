import KindredPostgres

extension Saver {
    /// Runs `body` and saves, in one transaction; after a conflict or a lost connection again, with the objects concerned locked
    /// and read again.
    ///
    /// - Parameter place: the public call.
    func save<T>(
        isolation: IsolationLevel?, retry: RetryPolicy, at place: SourcePlace, _ body: () async throws -> T
    ) async throws -> T {
        let client = core.client
        let isNested = client.isInTransaction
        var concerned: [DatabaseObject] = []
        var attempt = 1
        while true {
            var attempted: TransactionJournal?
            do {
                // This loop repeats the transaction, since each attempt first locks the objects concerned.
                let options = TransactionOptions(isolation: isolation, retry: .none)
                return try await core.transaction(options, at: place) {
                    attempted = core.journal
                    try await client.called(at: place) { try await Refresher(core).refreshAndLock(concerned) }
                    let result = try await body()
                    try await client.called(at: place) { try await save() }
                    return result
                }
            } catch  where attempt < retry.attempts && mayRetry(error, isNested: isNested) {
                let conflicts = (error as? KindredError)?.conflicts ?? []
                var seen = Set<DatabaseObject>()
                concerned = (concerned + conflicts.map(\.object) + (attempted?.changedObjects ?? []))
                    .filter { $0.core === core && seen.insert($0).inserted }
                try await client.pause(after: attempt)
                attempt += 1
            }
        }
    }

    /// Whether an attempt failed only because of concurrent writers, or lost its connection before COMMIT.
    private func mayRetry(_ error: any Error, isNested: Bool) -> Bool {
        if let error = error as? KindredError { return error.code == .staleObject }
        return !isNested && core.client.mayRetry(error)
    }
}
