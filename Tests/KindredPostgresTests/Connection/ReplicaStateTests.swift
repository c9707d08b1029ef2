import Testing

@testable import KindredPostgres

/// Which replicas may be read, without servers.
@Suite struct ReplicaStateTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func sample(
        _ location: UInt64, isReplica: Bool = true, timeline: UInt32 = 1, system: UInt64 = 7,
        startedAt: String = "1.5"
    ) -> ServerSample {
        ServerSample(
            isReplica: isReplica,
            position: DatabasePosition(system: system, timeline: timeline, location: location), isReadOnly: isReplica,
            startedAt: startedAt)
    }

    private func replicas(_ state: ReplicaState, _ limit: Duration, at now: MonotonicTime) -> [Int] {
        state.replicas(maximumLag: limit, at: now).map(\.server)
    }

    /// A primary that writes ten bytes each tenth of a second, from 0 on, and is sampled at each of them.
    private func primary(_ count: Int, replicas: Int = 2) -> (state: ReplicaState, now: MonotonicTime) {
        var state = ReplicaState(count: replicas + 1)
        for number in 0..<count {
            _ = state.note(
                sample(UInt64(number) * 10, isReplica: false), of: 0, askedAt: start + .milliseconds(100 * number))
        }
        return (state, start + .milliseconds(100 * (count - 1)))
    }

    @Test func theLagIsTheAgeOfWhatItHasReplayed() {
        var (state, now) = primary(100)
        let isNew = state.note(sample(500), of: 1, askedAt: now)
        let isNewAgain = state.note(sample(509), of: 1, askedAt: now)
        #expect(isNew && !isNewAgain)
        _ = state.note(sample(2_000), of: 2, askedAt: now)
        #expect(state.lag(of: 1, at: now) == .milliseconds(4_900))
        // Ahead of the last sample.
        #expect(state.lag(of: 2, at: now) == .zero)
        #expect(state.lag(of: 0, at: now) == nil)
        #expect(replicas(state, .seconds(1), at: now) == [2])
        #expect(replicas(state, .seconds(5), at: now) == [1, 2])
    }

    @Test func anIdlePrimaryHasNoLag() {
        var (state, now) = primary(10)
        for _ in 0..<100 {
            now = now + .milliseconds(100)
            _ = state.note(sample(90, isReplica: false), of: 0, askedAt: now)
            _ = state.note(sample(90), of: 1, askedAt: now)
            _ = state.note(sample(80), of: 2, askedAt: now)
        }
        #expect(state.lag(of: 1, at: now) == .zero)
        #expect(state.lag(of: 2, at: now) == .milliseconds(10_100))
    }

    @Test func withASilentPrimaryOrReplicaItIsNotKnown() {
        var (state, now) = primary(10)
        _ = state.note(sample(90), of: 1, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now + .seconds(1)) == [1])
        #expect(replicas(state, .seconds(1_000), at: now + .milliseconds(1_001)) == [])
        _ = state.note(sample(90, isReplica: false), of: 0, askedAt: now + .seconds(5))
        #expect(replicas(state, .seconds(1_000), at: now + .seconds(5)) == [])
        // Its replayed position is older than all known marks.
        var late = primary(5_000)
        _ = late.state.note(sample(10), of: 1, askedAt: late.now)
        #expect(late.state.lag(of: 1, at: late.now) == nil)
    }

    @Test func aReplicaThatFailsIsLeftOut() {
        var (state, now) = primary(10)
        _ = state.note(sample(90), of: 1, askedAt: now)
        let failures = [state.noteFailure(of: 1), state.noteFailure(of: 1)]
        #expect(failures == [1, 2])
        #expect(replicas(state, .seconds(1), at: now) == [])
        _ = state.note(sample(90), of: 1, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [1])
        state.leaveOut(1)
        #expect(replicas(state, .seconds(1), at: now) == [])
        let again = state.noteFailure(of: 1)
        #expect(again == 1)
    }

    @Test func othersClustersAndTimelinesAreNotRead() {
        var (state, now) = primary(10)
        _ = state.note(sample(90, timeline: 2), of: 1, askedAt: now)
        _ = state.note(sample(90, system: 8), of: 2, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [])
        // A replica takes the place of the primary, and the other one follows it.
        _ = state.note(sample(100, isReplica: false, timeline: 2), of: 1, askedAt: now)
        _ = state.note(sample(90), of: 2, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [])
        _ = state.note(sample(100, timeline: 2), of: 2, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [2])
        // The former primary, which has not noticed it, does not count, nor does one of another cluster.
        _ = state.note(sample(9_000, isReplica: false), of: 0, askedAt: now)
        _ = state.note(sample(9_000, isReplica: false, timeline: 9, system: 8), of: 0, askedAt: now)
        #expect(state.primary(at: now) == DatabasePosition(system: 7, timeline: 2, location: 100))
    }

    @Test func aReplicaKeepsItsTimelineWhileItRuns() {
        var (state, now) = primary(10)
        _ = state.note(sample(90, isReplica: false, timeline: 2), of: 0, askedAt: now)
        _ = state.note(sample(90, timeline: 2), of: 1, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [1])
        // It receives nothing for a moment, and its samples fail.
        _ = state.note(sample(90, timeline: 1), of: 1, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [1])
        state.leaveOut(1)
        _ = state.note(sample(90, timeline: 1), of: 1, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [1])
        // Another run of the server, such as from an older copy.
        _ = state.note(sample(90, timeline: 1, startedAt: "2.5"), of: 1, askedAt: now)
        #expect(replicas(state, .seconds(1), at: now) == [])
    }

    @Test func aTimelineThatARoleMayNotSeeIsToldOnce() {
        var (state, now) = primary(10)
        var hidden = sample(90)
        hidden.hidesTimeline = true
        var told: [Bool] = []
        func see() {
            _ = state.note(hidden, of: 1, askedAt: now)
            told.append(state.tellsHiddenTimeline(of: 1))
        }
        see()
        _ = state.note(sample(100, isReplica: false, timeline: 2), of: 0, askedAt: now)
        see()
        see()
        _ = state.note(sample(100, isReplica: false, timeline: 3), of: 0, askedAt: now)
        see()
        #expect(told == [false, true, false, true])
    }

    @Test func twoServersOfOneTimelineAreTwoPrimaries() {
        var (state, now) = primary(10)
        _ = state.note(sample(90), of: 1, askedAt: now)
        #expect(!state.hasTwoPrimaries)
        // Another address of the same server.
        _ = state.note(sample(90, isReplica: false), of: 1, askedAt: now)
        #expect(!state.hasTwoPrimaries)
        // A former primary, and one of another cluster.
        _ = state.note(sample(100, isReplica: false, timeline: 2, startedAt: "2"), of: 1, askedAt: now)
        _ = state.note(sample(100, isReplica: false, timeline: 2, system: 8, startedAt: "3"), of: 2, askedAt: now)
        #expect(!state.hasTwoPrimaries)
        _ = state.note(sample(200, isReplica: false, timeline: 2, startedAt: "3"), of: 2, askedAt: now)
        #expect(state.hasTwoPrimaries)
        _ = state.noteFailure(of: 1)
        #expect(!state.hasTwoPrimaries)
        _ = state.note(sample(100, isReplica: false, timeline: 2, startedAt: "2"), of: 1, askedAt: now)
        #expect(state.hasTwoPrimaries)
        _ = state.note(sample(100, timeline: 2, startedAt: "4"), of: 1, askedAt: now)
        #expect(!state.hasTwoPrimaries)
    }

    @Test func withoutPlacesTheLagIsTheTimeThatIsSet() {
        func sample(isReplica: Bool) -> ServerSample {
            ServerSample(isReplica: isReplica, position: nil, isReadOnly: isReplica, startedAt: "")
        }
        var state = ReplicaState(count: 3, delay: .seconds(2))
        _ = state.note(sample(isReplica: true), of: 1, askedAt: start)
        #expect(state.lag(of: 1, at: start) == nil)
        _ = state.note(sample(isReplica: false), of: 0, askedAt: start)
        _ = state.note(sample(isReplica: false), of: 2, askedAt: start)
        #expect(state.lag(of: 1, at: start) == .seconds(2) && state.lag(of: 2, at: start) == nil)
        #expect(!state.hasTwoPrimaries && state.primary(at: start) == nil)
        #expect(replicas(state, .seconds(1), at: start) == [] && replicas(state, .seconds(2), at: start) == [1])
        #expect(state.lag(of: 1, at: start + .seconds(2)) == nil)
    }

    @Test func withoutPlacesAContextKnowsTheTimeOfItsWrite() throws {
        let place = DatabasePosition(system: 7, timeline: 1, location: 50)
        let fresh = PositionRecord(delay: .seconds(1_000))
        #expect(fresh.need == .none && fresh.token == nil)
        fresh.learn(nil)
        let token = try #require(fresh.token)
        #expect(token.isTime && fresh.need != .none && fresh.need != .unknown)
        #expect(DatabasePosition(token.description) == token)
        for given in [token, place, DatabasePosition(system: 0, timeline: 0, location: .max)] {
            let record = PositionRecord(after: given, delay: .seconds(1_000))
            #expect(record.need != .none && record.token?.isTime == true)
        }
        let late = DatabasePosition(system: 0, timeline: 0, location: token.location - 2_000_000)
        #expect(PositionRecord(after: late, delay: .seconds(3_000)).token == late)
        for given in [late, DatabasePosition(system: 0, timeline: 0, location: 0)] {
            #expect(PositionRecord(after: given, delay: .seconds(1_000)).need == .none)
        }
        // Where positions are told, a time says that one is not known.
        let told = PositionRecord(after: token)
        #expect(told.need == .unknown && told.token?.isTime == true)
        told.learn(place)
        #expect(told.need == .position(place) && told.token == place)
    }

    @Test func aContextNeverGoesBack() {
        func position(_ location: UInt64, _ timeline: UInt32 = 1) -> DatabasePosition {
            DatabasePosition(system: 7, timeline: timeline, location: location)
        }
        let fresh = PositionRecord()
        #expect(fresh.need == .none && fresh.position == nil)
        let record = PositionRecord(after: position(50))
        #expect(record.need == .position(position(50)))
        record.learn(replayed: position(60))
        record.learn(replayed: position(40))
        #expect(record.need == .position(position(60)))
        record.learn(nil)
        #expect(record.need == .unknown && record.position == nil)
        record.learn(position(70))
        #expect(record.need == .position(position(70)) && !record.takeIgnored())
        record.learn(position(5, 2))
        #expect(record.need == .position(position(5, 2)))
        record.learn(position(90))
        #expect(record.need == .position(position(5, 2)))
        let forged = PositionRecord(after: position(1_000))
        forged.learn(position(100))
        #expect(forged.takeIgnored() && !forged.takeIgnored() && forged.position == position(100))
    }
}
