import Foundation
import Kindred
import Testing

/// Which of several replicas answers.
@Suite(.timeLimit(.minutes(15))) struct ReplicaShareTests {
    @Test func aDistantReplicaIsNotReadWhileANearOneIs() async throws {
        try await ProxiedReplicas.with { proxied in
            proxied.proxies[2].delay(by: .milliseconds(100))
            // Some samples show that.
            try await Task.sleep(for: .seconds(2))
            // On a busy machine the near one may be as slow for a moment.
            try await eventually("a hundred reads go to the near one alone") {
                let before = proxied.reads
                for _ in 0..<20 {
                    try await withThrowingDiscardingTaskGroup { group in
                        for _ in 0..<5 { group.addTask { try await proxied.readPeople() } }
                    }
                }
                return proxied.reads[1] >= before[1] + 100 && proxied.reads[2] == before[2]
            }
            let before = proxied.reads
            // Without the near one it is.
            try await proxied.scene.servers[0].stop(.immediate)
            try await eventually("the distant one is read") {
                try await proxied.readPeople()
                return proxied.reads[2] > before[2]
            }
            try await proxied.scene.servers[0].start()
        }
    }

    @Test func replicasGetReadsByTheirWeights() async throws {
        try await ProxiedReplicas.with { configuration, number in
            configuration.replicaWeight = number == 1 ? 4 : 1
        } _: { proxied in
            // However busy the machine is, they answer about as soon.
            for proxy in proxied.proxies.dropFirst() { proxy.delay(by: .milliseconds(40)) }
            try await Task.sleep(for: .seconds(1))
            let before = proxied.reads
            try await withThrowingDiscardingTaskGroup { group in
                for _ in 0..<5 {
                    group.addTask {
                        for _ in 0..<20 { try await proxied.readPeople() }
                    }
                }
            }
            let reads = zip(proxied.reads, before).map { $0 - $1 }
            #expect(reads[1] > 2 * reads[2] && reads[2] > 0, "\(reads)")
        }
    }
}
