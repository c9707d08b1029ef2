import Testing

@testable import KindredPostgres

/// The counters and warnings of a pool, without connections.
@Suite struct PoolRecordTests {
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func machine(_ states: [PoolStateMachine.Connection.State]) -> PoolStateMachine {
        var machine = PoolStateMachine(options: PostgresConfiguration.PoolOptions())
        machine.connections = states.enumerated().map { id, state in
            PoolStateMachine.Connection(id: id, state: state, movedAt: start)
        }
        return machine
    }

    @Test func gaugesTellWhatTheConnectionsDo() {
        var record = PoolRecord()
        record.counters.opened = 4
        let metrics = record.metrics(
            of: machine([.connecting, .testing, .idle(since: start), .shared(load: 2), .leased, .leased]))
        #expect(metrics.connecting == 1 && metrics.testing == 1 && metrics.idle == 1)
        #expect(metrics.inUse == 3 && metrics.leased == 2 && metrics.waiting == 0 && metrics.opened == 4)
        #expect(record.counters.inUse == 0)
    }

    @Test func aLongLeaseIsCountedOnceAndAgainAfterItsEnd() {
        var record = PoolRecord()
        var machine = machine([.leased, .shared(load: 1)])
        func expect(_ late: Int, next: MonotonicTime, after seconds: Int) {
            let noted = record.noteLeases(of: machine, over: .seconds(10), start + .seconds(seconds))
            #expect(noted.late == late && noted.next == next, "after \(seconds) seconds")
        }
        expect(0, next: start + .seconds(10), after: 9)
        expect(1, next: .never, after: 10)
        expect(0, next: .never, after: 20)
        // Lent again.
        machine.connections[0].movedAt = start + .seconds(30)
        expect(0, next: start + .seconds(40), after: 31)
        expect(1, next: .never, after: 41)
        #expect(record.counters.longLeases == 2)
        machine.connections = []
        expect(0, next: .never, after: 60)
    }

    @Test func whoGetsNoConnectionLearnsWhy() {
        let lost = PostgresError(.passwordUnavailable, "no password")
        let busy = machine([.leased, .idle(since: start)])
        let timeout = busy.error(.timedOut, lastFailure: lost, isStatements: false)
        #expect(
            timeout.code == .poolTimeout && timeout.message.contains("2 of") && timeout.underlying == ["no password"])
        #expect(busy.error(.timedOut, lastFailure: nil, isStatements: true).code == .timeout)
        let unreachable = machine([.connecting])
        #expect(unreachable.error(.timedOut, lastFailure: lost, isStatements: false).code == .passwordUnavailable)
        let refused = PostgresError(.server, "refused")
        #expect(
            unreachable.error(.permanentFailure, lastFailure: refused, isStatements: true).code == .connectionFailed)
    }
}
