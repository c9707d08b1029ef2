import Testing

@testable import KindredPostgres

/// Servers that look like poolers, and poolers.
@Suite struct PoolerProbeTests {
    @Test(arguments: [1, 2, 4_194_304] as [Int32]) func aProcessOfTheServerIsAskedNothing(id: Int32) {
        #expect(!PoolerProbe.suspects(processID: id, refusesOptions: false))
        #expect(PoolerProbe.suspects(processID: id, refusesOptions: true))
    }

    @Test(arguments: [0, -1, 4_194_305, .min, .max] as [Int32]) func aNumberOfNoProcessIsAskedFor(id: Int32) {
        #expect(PoolerProbe.suspects(processID: id, refusesOptions: false))
    }

    @Test func onlyItsOwnNumberSpeaksForTheServer() {
        #expect(!PoolerProbe.isPooler(processID: -7, answer: .success(["-7"])))
        #expect(PoolerProbe.isPooler(processID: -7, answer: .success(["7"])))
        for answer in [nil, .success([]), .success([nil]), .failure(PostgresError(.server, "no"))]
            as [Result<[String?], PostgresError>?]
        {
            #expect(PoolerProbe.isPooler(processID: 7, answer: answer))
        }
    }

    @Test func nothingIsPreparedBehindAPoolerOfTransactionsUnlessToldOtherwise() {
        var configuration = PostgresConfiguration(endpoints: [])
        for pooler in [.none, .session] as [PostgresConfiguration.Pooler] {
            #expect(configuration.cacheCapacity(behind: pooler) == 256)
        }
        #expect(configuration.cacheCapacity(behind: .transaction) == 0)
        configuration.statementCacheCapacity = 256
        #expect(configuration.cacheCapacity(behind: .transaction) == 256)
        configuration.statementCacheCapacity = 0
        #expect(configuration.cacheCapacity(behind: .none) == 0)
    }
}
