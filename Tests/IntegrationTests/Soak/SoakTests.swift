import Foundation
import TestSupport
import Testing

/// How long events go on, in seconds; each comes once at least.
private let time = TestAmount.number("KINDRED_SOAK_SECONDS") ?? 90

/// A server with lists, contexts that follow, tenants, replicas, a pooler and a ledger, through one night: `make soak`.
@Suite(.timeLimit(.minutes(15 + time / 30))) struct SoakTests {
    /// The least time after which the memory of the halves is compared: before, not everything has been used once.
    private static let longTime = 600

    @Test func oneNight() async throws {
        let seed = UInt64(TestAmount.number("KINDRED_SOAK_SEED") ?? Int.random(in: 0..<1_000_000))
        print("soak: KINDRED_SOAK_SEED=\(seed)")
        try await SoakServers.with { servers in
            let soak = Soak(servers)
            do {
                try await soak.run(for: .seconds(time), seed: seed)
            } catch {
                print(soak.table(seed: seed))
                try? await soak.stop()
                throw error
            }
            print(soak.table(seed: seed))
            for fault in SoakBooks.Fault.allCases {
                #expect(soak.books.count(fault) == 0, "\(fault.rawValue), with the seed \(seed)")
            }
            #expect(soak.books.unanswered == [])
            #expect(soak.books.refusedConnections == 0)
            #expect(soak.ledger.acknowledged > 100)
            if time >= Self.longTime { #expect(soak.books.growth <= 0.05) }
        }
    }
}
