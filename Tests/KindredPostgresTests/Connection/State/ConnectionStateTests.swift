import Testing

@testable import KindredPostgres

/// The requests of a connection, without a server.
@Suite struct ConnectionStateTests {
    // MARK: Order and room

    @Test func requestsAreSentAndAnsweredInTheirOrder() {
        var connection = PlayedConnection()
        let requests = (0..<3).map { _ in Request.played() }
        for request in requests { connection.submit(request) }
        #expect(connection.sent == requests.map { .request($0.id) })
        for _ in requests { connection.answer() }
        #expect(connection.ends.map(\.id) == requests.map(\.id))
        #expect(connection.ends.allSatisfy { $0.error == nil && $0.parties == .all })
        #expect(connection.state.isQuiet)
    }

    @Test func tooManyBytesAreHeldAndSentLater() throws {
        var connection = PlayedConnection(maximumBytesInFlight: 100)
        let requests = try [60, 30, 20, 90, 300].map { try Request.played(bytes: $0) }
        let ids = requests.map(\.id)
        for request in requests { connection.submit(request) }
        #expect(connection.inFlight == Array(ids[...1]) && connection.held == Array(ids[2...]))
        connection.answer()
        #expect(connection.inFlight == Array(ids[1...2]) && connection.state.bytesInFlight == 50)
        connection.answer()
        #expect(connection.held == Array(ids[3...]))
        connection.answer()
        #expect(connection.inFlight == [ids[3]] && connection.held == [ids[4]])
        connection.answer()
        // Larger than allowed, so it is sent alone.
        #expect(connection.inFlight == [ids[4]] && connection.state.bytesInFlight == 300)
        connection.answer()
        #expect(connection.state.bytesInFlight == 0 && connection.ends.map(\.id) == ids)
    }

    @Test func aScriptIsAlone() {
        var connection = PlayedConnection()
        let (before, script, behind) = (
            Request.played(), Request.played(script: "SELECT 1; SELECT 2"), Request.played()
        )
        for request in [before, script, behind] { connection.submit(request) }
        #expect(connection.inFlight == [before.id] && connection.held == [script.id, behind.id])
        connection.answer()
        #expect(connection.inFlight == [script.id] && connection.held == [behind.id])
        connection.answer()
        #expect(connection.sent == [.request(before.id), .script(script.id), .request(behind.id)])
    }

    // MARK: Cancellation

    @Test func nothingIsSentWhileACancelRequestIsInFlight() {
        var connection = PlayedConnection()
        let (first, second) = (Request.played(), Request.played())
        connection.submit(first)
        connection.stop(first.id)
        #expect(connection.wantsCancel && connection.ends.isEmpty)
        let isCancelling = connection.beginCancel()
        #expect(isCancelling)
        connection.submit(second)
        #expect(connection.held == [second.id])
        connection.answer(.played57014)
        #expect(connection.ends.map(\.id) == [first.id] && connection.ends[0].error is CancellationError)
        #expect(connection.inFlight.isEmpty && connection.held == [second.id])
        connection.endCancel()
        #expect(connection.inFlight == [second.id])
        connection.answer()
        #expect(connection.ends.last?.error == nil)
    }

    @Test func aLaterRequestIsLeftAtOnceAndCancelledWhenItsTurnComes() {
        var connection = PlayedConnection()
        let (first, second) = (Request.played(), Request.played())
        connection.submit(first)
        connection.submit(second)
        connection.stop(second.id)
        #expect(!connection.wantsCancel)
        #expect(connection.ends.map(\.id) == [second.id] && connection.ends[0].parties == .caller)
        connection.answer()
        #expect(connection.wantsCancel && connection.ends.last?.id == first.id)
        let isCancelling = connection.beginCancel()
        #expect(isCancelling)
        connection.answer(.played57014)
        // Its share of the connection, which the pool takes back.
        #expect(connection.ends.last?.id == second.id && connection.ends.last?.parties == [.pool, .scope])
    }

    /// Another server has answered the same read: nobody waits for the end of it.
    @Test(arguments: [0, 1]) func aSupersededReadIsLeftAtOnceAndCancelled(position: Int) {
        var connection = PlayedConnection()
        let requests = [Request.played(), Request.played()]
        for request in requests { connection.submit(request) }
        let (read, other) = (requests[position], requests[1 - position])
        connection.stop(read.id, .superseded)
        #expect(connection.ends.map(\.id) == [read.id] && connection.ends[0].error is ReadSuperseded)
        #expect(connection.ends[0].parties == .caller && connection.wantsCancel == (position == 0))
        if position == 1 { connection.answer() }
        let isCancelling = connection.beginCancel()
        #expect(isCancelling)
        connection.endCancel()
        connection.answer(.played57014)
        if position == 0 { connection.answer() }
        #expect(connection.ends.filter { $0.id == read.id }.map(\.parties) == [.caller, [.pool, .scope]])
        #expect(connection.ends.contains { $0.id == other.id && $0.error == nil } && connection.inFlight.isEmpty)
        #expect(connection.endReason == nil)
    }

    @Test func aServerThatDoesNotEndASupersededReadLosesItsConnection() {
        var connection = PlayedConnection()
        let read = Request.played()
        connection.submit(read)
        connection.stop(read.id, .superseded)
        connection.beginCancel()
        connection.pass(.milliseconds(4_999))
        #expect(connection.endReason == nil)
        connection.pass(.milliseconds(1))
        #expect(connection.endReason?.code == .connectionLost && connection.ends.last?.parties == [.pool, .scope])
    }

    @Test func aHeldRequestEndsUnsent() {
        var connection = PlayedConnection()
        let (first, second, third) = (Request.played(), Request.played(), Request.played())
        connection.submit(first)
        connection.stop(first.id)
        connection.beginCancel()
        connection.submit(second)
        connection.submit(third, by: connection.now + .milliseconds(1))
        connection.stop(second.id)
        #expect(connection.ends.last?.error is CancellationError)
        connection.pass(.milliseconds(2))
        #expect(connection.ends.last?.id == third.id)
        #expect(connection.ends.last?.postgresError?.message.contains("before it could be sent") == true)
        #expect(connection.held.isEmpty && connection.sent == [.request(first.id)])
    }

    /// The cancel request hits the statement behind the statement that it was meant for.
    @Test(arguments: [true, false]) func aLateCancellationRepeatsTheStatementThatItHits(isTaken: Bool) {
        var connection = PlayedConnection()
        let (first, second) = (Request.played(), Request.played())
        connection.submit(first)
        connection.submit(second)
        connection.stop(first.id)
        connection.beginCancel()
        if isTaken { connection.endCancel() }
        connection.answer()
        #expect(connection.ends.map(\.id) == [first.id] && connection.ends[0].error == nil)
        connection.answer(.played57014)
        #expect(connection.ends.count == 1)
        if !isTaken {
            #expect(connection.held == [second.id])
            connection.endCancel()
        }
        #expect(connection.inFlight == [second.id])
        #expect(connection.state.inFlight.first?.attempts == 1)
        connection.answer()
        #expect(connection.ends.last?.id == second.id && connection.ends.last?.error == nil)
    }

    @Test func aLateCancellationFailsWhatMayNotBeRepeated() {
        var connection = PlayedConnection()
        let first = Request.played()
        let second = Request.played("CALL p()", traits: .init(isAutocommit: true, mayLeave: true))
        connection.submit(first)
        connection.submit(second)
        connection.stop(first.id)
        connection.beginCancel()
        connection.answer()
        connection.answer(.played57014)
        #expect(connection.ends.last?.id == second.id)
        #expect(connection.ends.last?.postgresError?.sqlState == .queryCanceled)
    }

    @Test func aCancelRequestIsRepeatedUntilTheServerHadItsTime() {
        var connection = PlayedConnection()
        let (first, second) = (Request.played(), Request.played())
        connection.submit(first)
        connection.submit(second)
        connection.stop(second.id)
        connection.answer()
        connection.beginCancel()
        connection.endCancel()
        connection.pass(.milliseconds(249))
        #expect(!connection.wantsCancel)
        connection.pass(.milliseconds(1))
        #expect(connection.wantsCancel)
        let isCancelling = connection.beginCancel()
        #expect(isCancelling)
        connection.endCancel()
        connection.pass(.milliseconds(4_749))
        #expect(connection.endReason == nil)
        connection.pass(.milliseconds(1))
        #expect(connection.endReason?.code == .connectionLost)
        #expect(connection.ends.last?.id == second.id && connection.ends.last?.parties == [.pool, .scope])
    }

    // MARK: Giving up

    @Test func aConnectionThatDoesNotStopIsGivenUpAndItsOthersFinish() {
        var connection = PlayedConnection(maximumBytesInFlight: 0)
        let (first, second, third) = (Request.played(), Request.played(), Request.played(script: "SELECT 1"))
        for request in [first, second, third] { connection.submit(request) }
        connection.stop(first.id)
        connection.pass(.milliseconds(149))
        #expect(connection.ends.isEmpty)
        connection.pass(.milliseconds(1))
        #expect(connection.isRetired && connection.endReason == nil)
        #expect(connection.ends.map(\.id) == [first.id, third.id])
        #expect(connection.ends[0].parties == .caller && connection.ends[1].error is ConnectionGone)
        connection.submit(.played())
        #expect(connection.ends.last?.error is ConnectionGone)
        connection.answer(.played57014)
        connection.answer()
        #expect(connection.ends.last?.id == second.id && connection.ends.last?.error == nil)
    }

    @Test func aConnectionWhoseOtherRequestsAreDoneIsClosed() {
        var connection = PlayedConnection()
        let first = Request.played("INSERT INTO a DEFAULT VALUES")
        connection.submit(first, by: connection.now + .milliseconds(10))
        connection.pass(.milliseconds(10))
        connection.pass(.milliseconds(150))
        #expect(connection.endReason?.code == .timeout)
        let error = connection.ends.last?.postgresError
        #expect(error?.code == .timeout && error?.mayHaveTakenEffect == true)
    }

    // MARK: Transactions and prepared statements

    @Test func aRequestOfAnEndedTransactionIsNotSent() {
        var connection = PlayedConnection()
        let request = Request.played("DELETE FROM a", traits: .init(isInTransaction: true), isShared: false)
        connection.submit(request)
        #expect(connection.ends.last?.postgresError?.code == .transactionBroken && connection.sent.isEmpty)
        connection.isInTransaction = true
        connection.submit(request)
        #expect(connection.sent == [.request(request.id)])
        connection.isInTransaction = false
        connection.answer()
        #expect(connection.ends.last?.postgresError?.code == .transactionBroken)
    }

    @Test func aSessionInATransactionAfterCommitIsClosed() {
        var connection = PlayedConnection()
        connection.isInTransaction = true
        let commit = Request.played("COMMIT", traits: .init(isInTransaction: true, end: .commit), isShared: false)
        connection.submit(commit)
        connection.answer()
        #expect(connection.ends.last?.postgresError?.code == .commitUnknown)
        #expect(connection.endReason?.code == .connectionLost)
    }

    @Test func aStaleStatementIsPreparedAgainOnce() {
        var connection = PlayedConnection()
        let stale = PostgresError(.server, "prepared statement does not exist", sqlState: .invalidStatementName)
        let text = StatementText("SELECT 1")
        for round in 0..<6 {
            let request = Request(
                statements: [Statement(text: text)], traits: Request.sharing, lease: PlayedShare(), onAnswer: { _ in })
            connection.submit(request)
            let steps = connection.state.inFlight.first?.steps.count
            // After five losses nothing is prepared any more.
            #expect(steps == (round < 5 ? 2 : 1) && connection.state.cache.isOff == (round == 5))
            if round == 5 { break }
            connection.answer(stale)
            #expect(connection.state.inFlight.first?.attempts == 1 && connection.state.inFlight.first?.steps.count == 1)
            connection.answer(round == 0 ? stale : nil)
            #expect(connection.ends.count == round + 1)
            #expect((connection.ends.last?.postgresError?.sqlState == .invalidStatementName) == (round == 0))
        }
    }
}
