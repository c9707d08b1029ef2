import Testing

@testable import KindredPostgres

extension ConnectionStateTests {
    /// How requests end with their connection.
    @Suite struct End {
        /// A request in flight, and its end.
        struct Case: Sendable, CustomTestStringConvertible {
            var sql = "INSERT INTO a DEFAULT VALUES"
            var traits = Request.sharing
            var stop: Request.Stop?
            var reason = PostgresError.playedLoss
            /// Whether another request is before it.
            var isSecond = false
            let end: Expected

            var testDescription: String { "\(sql), \(stop.map { "\($0)" } ?? "not stopped"): \(end)" }
        }

        enum Expected: Sendable {
            /// It was not executed, and may be sent over another connection.
            case gone
            case lost(mayHaveTakenEffect: Bool)
            case cancelled
            case unknown
            case timedOut(mayHaveTakenEffect: Bool)
        }

        static let idle = PostgresError(
            .connectionLost, "The server ended the connection", sqlState: .idleSessionTimeout)

        static let cases: [Case] = [true, false].flatMap { isSecond in
            [
                Case(isSecond: isSecond, end: .lost(mayHaveTakenEffect: true)),
                Case(sql: "SELECT 1", isSecond: isSecond, end: .lost(mayHaveTakenEffect: false)),
                Case(
                    traits: .init(isInTransaction: true, end: .rollback), isSecond: isSecond,
                    end: .lost(mayHaveTakenEffect: false)),
                Case(reason: idle, isSecond: isSecond, end: .gone),
                Case(stop: .timedOut, isSecond: isSecond, end: .timedOut(mayHaveTakenEffect: true)),
                Case(
                    sql: "SELECT 1", stop: .timedOut, isSecond: isSecond, end: .timedOut(mayHaveTakenEffect: false)),
                Case(stop: .cancelled, isSecond: isSecond, end: .unknown),
                Case(sql: "SELECT 1", stop: .cancelled, isSecond: isSecond, end: .cancelled),
                Case(
                    traits: .init(isInTransaction: true), stop: .cancelled, isSecond: isSecond, end: .cancelled),
                Case(traits: .init(isCommittedLater: true), stop: .cancelled, isSecond: isSecond, end: .cancelled),
                Case(stop: .timedOut, reason: idle, isSecond: isSecond, end: .timedOut(mayHaveTakenEffect: false)),
                Case(stop: .cancelled, reason: idle, isSecond: isSecond, end: .cancelled),
            ]
        }

        @Test(arguments: cases) func aRequestInFlight(_ example: Case) {
            var connection = PlayedConnection()
            connection.isInTransaction = example.traits.isInTransaction
            if example.isSecond { connection.submit(.played()) }
            let request = Request.played(example.sql, traits: example.traits)
            connection.submit(request)
            if let stop = example.stop { connection.stop(request.id, stop) }
            connection.end(example.reason)
            // A stopped read that is not the first has told its caller before.
            let end = connection.ends.first { $0.id == request.id && $0.parties.contains(.caller) }
            let error = end?.postgresError
            switch example.end {
            case .gone: #expect(end?.error is ConnectionGone)
            case .cancelled: #expect(end?.error is CancellationError)
            case .unknown: #expect(error?.code == .outcomeUnknown && error?.mayHaveTakenEffect == true)
            case .lost(let mayHave):
                #expect(error?.code == .connectionLost && error?.mayHaveTakenEffect == mayHave)
            case .timedOut(let mayHave):
                #expect(error?.code == .timeout && error?.mayHaveTakenEffect == mayHave)
            }
            // Once each.
            let told = connection.ends.filter { $0.id == request.id }.map(\.parties)
            #expect(told.count { $0.contains(.caller) } == 1 && told.count { $0.contains(.pool) } == 1)
            #expect(connection.state.isQuiet && connection.endReason != nil)
        }

        @Test func heldRequestsAreUnsent() {
            var connection = PlayedConnection(maximumBytesInFlight: 0)
            connection.submit(.played())
            let held = Request.played(script: "INSERT INTO a DEFAULT VALUES")
            connection.submit(held)
            #expect(connection.held == [held.id])
            connection.end(.playedLoss)
            #expect(connection.ends.last?.id == held.id && connection.ends.last?.error is ConnectionGone)
        }

        @Test func theServersLastErrorIsThatOfTheFirst() {
            var connection = PlayedConnection()
            connection.submit(.played("INSERT INTO a DEFAULT VALUES"))
            connection.submit(.played("INSERT INTO b DEFAULT VALUES"))
            let last = PostgresError(.connectionLost, "terminating", sqlState: .adminShutdown)
            _ = connection.state.inFlight.first.map { connection.state.fail($0, with: last) }
            connection.end(.playedLoss)
            #expect(connection.ends.map(\.postgresError?.sqlState) == [.adminShutdown, nil])
            #expect(connection.ends.allSatisfy { $0.postgresError?.mayHaveTakenEffect == true })
        }

        @Test func aRequestAfterTheEndGetsTheReason() throws {
            var connection = PlayedConnection()
            connection.end(PostgresError(.closed, "The connection was closed"))
            connection.submit(.played())
            connection.stop(connection.ends[0].id)
            connection.end(.playedLoss)
            #expect(connection.ends.count == 1 && connection.sent.isEmpty && connection.endReason?.code == .closed)
            let gone = try #require(connection.ends[0].error as? ConnectionGone)
            #expect(gone.lost("SELECT 1").code == .closed)
        }
    }

    /// A COPY has the connection to itself.
    @Suite struct Copy {
        @Test(arguments: [true, false]) func otherRequestsAreRefused(hasBegun: Bool) {
            var connection = PlayedConnection()
            let copy = Request.played(copy: .input)
            connection.submit(copy)
            if hasBegun {
                let beginning = connection.beginCopy(.input)
                #expect(beginning == .goes)
            }
            #expect(copy.copy?.isOpen == hasBegun)
            let other = Request.played()
            connection.submit(other)
            #expect(connection.ends.last?.id == other.id && connection.held.isEmpty)
            #expect(connection.ends.last?.postgresError?.code == .copyInProgress)
            // Once the COPY is stopped its end is near.
            connection.stop(copy.id)
            connection.submit(other)
            #expect(connection.held == [other.id])
            connection.answer(.played57014)
            #expect(connection.ends.last?.error is CancellationError)
        }

        @Test func itsDeadlineStopsWithTheServersAnswer() {
            var connection = PlayedConnection()
            let copy = Request.played(copy: .input)
            connection.submit(copy, by: connection.now + .milliseconds(10))
            let beginning = connection.beginCopy(.input)
            #expect(beginning == .goes)
            connection.pass(.seconds(60))
            #expect(connection.ends.isEmpty && connection.state.inFlight.first?.stop == nil)
            #expect(connection.state.copyInput(copy.id) != nil)
        }

        @Test func theOtherDirectionIsStopped() {
            for asked in [CopyOperation.Direction.input, .output] {
                var connection = PlayedConnection()
                connection.submit(.played(copy: asked))
                let beginning = connection.beginCopy(asked == .input ? .output : .input)
                #expect(beginning == .stops)
                // Input is ended by its sender, output by a cancel request.
                #expect(connection.wantsCancel == (asked == .input))
                #expect(connection.state.needsCancel)
                connection.answer(.played57014)
                #expect(connection.ends.last?.postgresError?.code == .invalidParameter)
            }
        }

        @Test func oneThatWasStoppedBeforeItBeganIsCut() {
            var connection = PlayedConnection()
            let copy = Request.played(copy: .output)
            connection.submit(copy)
            connection.stop(copy.id, .timedOut)
            let beginning = connection.beginCopy(.output)
            #expect(beginning == .stops)
            // The server had finished before the cancel request came: the rows are missing all the same.
            connection.answer()
            #expect(connection.ends.last?.postgresError?.code == .timeout)
        }

        @Test func oneThatWasNotAskedForMakesTheConnectionUnusable() {
            var connection = PlayedConnection()
            connection.submit(.played("COPY a TO STDOUT"))
            let beginning = connection.beginCopy(.output)
            #expect(beginning == .fails)
            connection.end(.playedLoss)
            #expect(connection.ends.last?.postgresError?.code == .invalidParameter)
        }
    }
}
