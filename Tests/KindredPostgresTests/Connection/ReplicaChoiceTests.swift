import TestSupport
import Testing

@testable import KindredPostgres

/// Which of several replicas is chosen, and how many reads may be asked again, without servers.
@Suite struct ReplicaChoiceTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// A primary and replicas that were sampled just now, each with its time to answer.
    private func state(_ times: [Duration], weights: [Int] = [], replayed: [UInt64] = []) -> ReplicaState {
        var state = ReplicaState(count: times.count + 1, weights: [1] + weights)
        // So that the lag of all is known.
        let first = ServerSample(isReplica: false, position: position(0), isReadOnly: false, startedAt: "0")
        _ = state.note(first, of: 0, askedAt: MonotonicTime(nanoseconds: start.nanoseconds - 1_000_000_000))
        for server in 0...times.count {
            let location = server > 0 && replayed.count >= server ? replayed[server - 1] : 100
            let sample = ServerSample(
                isReplica: server > 0, position: position(location), isReadOnly: server > 0, startedAt: "\(server)")
            let answeredAt = start + (server > 0 ? times[server - 1] : .zero)
            _ = state.note(sample, of: server, askedAt: start, answeredAt: answeredAt)
        }
        return state
    }

    private func position(_ location: UInt64) -> DatabasePosition {
        DatabasePosition(system: 7, timeline: 1, location: location)
    }

    private func choose(
        _ state: inout ReplicaState, after location: UInt64? = nil, besides other: Int? = nil, at now: MonotonicTime
    ) -> Int? {
        let choice = state.choose(
            maximumLag: .seconds(100), after: location.map { position($0) }, besides: other, at: now)
        if case .replica(let server, _) = choice { return server }
        return nil
    }

    /// How often each server is chosen, when each read ends before the next.
    private func shares(_ state: inout ReplicaState, _ count: Int) -> [Int] {
        var shares = [0, 0, 0, 0]
        for _ in 0..<count {
            guard let server = choose(&state, at: start) else { continue }
            shares[server] += 1
            state.end(on: server)
        }
        return shares
    }

    @Test func aDistantReplicaGetsNothingWhileANearOneIsFree() {
        var state = state([.milliseconds(200), .milliseconds(1)])
        #expect(shares(&state, 1_000) == [0, 0, 1_000, 0])
        // Unless that one has so much to do that its answer would take as long.
        var chosen: [Int?] = []
        for _ in 0..<300 { chosen.append(choose(&state, at: start)) }
        #expect(chosen.prefix(99).allSatisfy { $0 == 2 } && chosen.contains(1))
    }

    @Test func replicasThatAnswerAsSoonShareTheReadsByWeight() {
        var equal = state([.milliseconds(2), .milliseconds(3), .milliseconds(2)])
        #expect(shares(&equal, 3_000).dropFirst().allSatisfy { abs($0 - 1_000) < 10 })
        var weighted = state([.milliseconds(2), .milliseconds(2), .milliseconds(2)], weights: [1, 5, 4])
        let shares = shares(&weighted, 1_000)
        #expect(zip(shares, [0, 100, 500, 400]).allSatisfy { abs($0 - $1) < 10 }, "\(shares)")
        // Of the reads in flight too.
        var inFlight = [0, 0, 0, 0]
        for _ in 0..<1_000 { if let server = choose(&weighted, at: start) { inFlight[server] += 1 } }
        #expect(inFlight[2] > 3 * inFlight[1] && inFlight[3] > 2 * inFlight[1], "\(inFlight)")
    }

    @Test func aReplicaThatDoesNotAnswerIsAvoided() {
        var state = state([.milliseconds(2), .milliseconds(2)])
        // For as long as its last sample takes.
        state.noteQuestion(to: 1, at: start)
        #expect(choose(&state, at: start + .milliseconds(1)) != nil)
        for _ in 0..<3 {
            let server = choose(&state, at: start + .milliseconds(50))
            #expect(server == 2)
            state.end(on: 2)
        }
        // After a read that is overdue, until its next sample.
        state = self.state([.milliseconds(2), .milliseconds(2)])
        state.noteOverdue(on: 1, by: .milliseconds(20))
        #expect(shares(&state, 100) == [0, 0, 100, 0])
        let sample = ServerSample(isReplica: true, position: position(100), isReadOnly: true, startedAt: "1")
        _ = state.note(sample, of: 1, askedAt: start, answeredAt: start + .milliseconds(2))
        #expect(shares(&state, 100)[1] >= 40)
    }

    @Test func theSecondReplicaIsAnotherOneAndHasReplayedThePosition() {
        var state = state([.milliseconds(2), .milliseconds(2), .milliseconds(2)], replayed: [100, 90, 100])
        for _ in 0..<100 {
            #expect(choose(&state, after: 95, besides: 1, at: start) == 3)
            #expect(choose(&state, after: 101, besides: 1, at: start) == nil)
            #expect(choose(&state, after: 101, at: start) != nil)
        }
        var single = self.state([.milliseconds(2)])
        #expect(choose(&single, besides: 1, at: start) == nil)
    }

    /// Whatever the times, weights and places are.
    @Test func theChoiceIsAlwaysOneOfTheBest() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<2_000 {
            let count = Int.random(in: 1...3, using: &random)
            let times = (0..<count).map { _ in Duration.microseconds(Int.random(in: 1...400_000, using: &random)) }
            let weights = (0..<count).map { _ in Int.random(in: 1...1_000, using: &random) }
            let places = (0..<count).map { _ in UInt64.random(in: 90...100, using: &random) }
            var state = state(times, weights: weights, replayed: places)
            var inFlight = [Int](repeating: 0, count: count)
            for _ in 0..<20 {
                let needed = Bool.random(using: &random) ? nil : UInt64.random(in: 90...100, using: &random)
                let server = try #require(choose(&state, after: needed, at: start)) - 1
                let ready = (0..<count).filter { places[$0] >= needed ?? 0 }
                let waits = (0..<count).map { (replica: Int) -> Double in
                    let share = Double(inFlight[replica]) / Double(weights[replica])
                    return Double(times[replica].nanoseconds) * (1 + share)
                }
                let candidates = ready.isEmpty ? Array(0..<count) : ready
                #expect(candidates.contains(server))
                #expect(candidates.allSatisfy { waits[server] <= waits[$0] * 2.001 })
                inFlight[server] += 1
                if let other = inFlight.indices.filter({ inFlight[$0] > 0 }).randomElement(using: &random),
                    Bool.random(using: &random)
                {
                    state.end(on: other + 1)
                    inFlight[other] -= 1
                }
            }
        }
    }

    @Test func oneInTwentyReadsOfTenSecondsIsAskedAgain() {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<50 {
            var budget = RepetitionBudget()
            var (reads, repetitions): ([UInt64], [UInt64]) = ([], [])
            var now = start
            for _ in 0..<2_000 {
                now = now + .microseconds(Int.random(in: 0...50_000, using: &random))
                if Int.random(in: 0..<100, using: &random) == 0 {
                    now = now + .seconds(Int.random(in: 1...30, using: &random))
                }
                let second = now.nanoseconds / 1_000_000_000
                func ofTenSeconds(_ seconds: [UInt64]) -> Int { seconds.count { $0 + 10 > second } }
                if Bool.random(using: &random) {
                    budget.noteRead(at: now)
                    reads.append(second)
                } else {
                    let expected = max(1, ofTenSeconds(reads) / 20) > ofTenSeconds(repetitions)
                    let isTaken = budget.take(at: now)
                    #expect(isTaken == expected)
                    if isTaken { repetitions.append(second) }
                }
            }
        }
    }
}
