import Testing

@testable import KindredPostgres

extension ConnectionStateTests {
    /// Writes whose tasks are cancelled, or whose time is over: their callers go on when the outcome is known.
    @Suite struct Writes {
        private static let insert = "INSERT INTO a DEFAULT VALUES"

        /// A read and a write in the pipeline.
        private func pipeline(
            by deadline: MonotonicTime = .never
        ) -> (connection: PlayedConnection, first: Request, write: Request) {
            var connection = PlayedConnection()
            let (first, write) = (Request.played(), Request.played(Self.insert))
            connection.submit(first)
            connection.submit(write, by: deadline)
            return (connection, first, write)
        }

        @Test(arguments: [true, false]) func aWriteBehindOthersIsToldItsOutcome(isDone: Bool) {
            var (connection, first, write) = pipeline()
            connection.stop(write.id)
            connection.pass(.seconds(600))
            // No cancel request goes out while another task's statement runs.
            #expect(connection.ends.isEmpty && !connection.wantsCancel && connection.endReason == nil)
            connection.answer()
            #expect(connection.ends.map(\.id) == [first.id] && connection.wantsCancel)
            let isCancelling = connection.beginCancel()
            #expect(isCancelling)
            connection.answer(isDone ? nil : .played57014)
            #expect(connection.ends.last?.id == write.id && connection.ends.last?.parties == .all)
            #expect(isDone ? connection.ends.last?.error == nil : connection.ends.last?.error is CancellationError)
            #expect(!connection.isRetired)
        }

        @Test func itWaitsForItsTurnUntilItsDeadline() {
            var (connection, first, write) = pipeline(by: PlayedConnection.start + .seconds(30))
            connection.stop(write.id)
            connection.pass(.milliseconds(30_149))
            #expect(connection.ends.isEmpty)
            connection.pass(.milliseconds(1))
            #expect(connection.ends.map(\.id) == [write.id] && connection.ends[0].parties == .caller)
            let error = connection.ends[0].postgresError
            #expect(error?.code == .outcomeUnknown && error?.mayHaveTakenEffect == true)
            // The connection takes nothing new, and the other task's answer still comes.
            #expect(connection.isRetired && connection.endReason == nil)
            let new = Request.played()
            connection.submit(new)
            #expect(connection.ends.last?.id == new.id && connection.ends.last?.error is ConnectionGone)
            connection.answer()
            #expect(connection.ends.last?.id == first.id && connection.ends.last?.error == nil)
            connection.answer(.played57014)
            #expect(connection.ends.last?.parties == [.pool, .scope] && connection.state.isQuiet)
        }

        @Test func theGraceBeginsWithItsTurn() {
            var (connection, _, write) = pipeline(by: PlayedConnection.start + .seconds(30))
            connection.stop(write.id)
            connection.pass(.seconds(10))
            connection.answer()
            connection.pass(.milliseconds(149))
            #expect(connection.ends.count == 1)
            connection.pass(.milliseconds(1))
            #expect(connection.ends.last?.id == write.id)
            #expect(connection.ends.last?.postgresError?.code == .outcomeUnknown)
            // No other task waits for an answer.
            #expect(connection.endReason != nil)
        }

        @Test func oneWhoseTimeIsOverIsToldSo() {
            var (connection, _, write) = pipeline(by: PlayedConnection.start + .seconds(1))
            connection.pass(.seconds(1))
            #expect(connection.ends.isEmpty)
            connection.pass(.milliseconds(150))
            #expect(connection.ends.map(\.id) == [write.id] && connection.isRetired)
            let error = connection.ends[0].postgresError
            #expect(error?.code == .timeout && error?.mayHaveTakenEffect == true)
        }

        @Test func severalAreStoppedOneAfterAnother() {
            var connection = PlayedConnection()
            let writes = (0..<3).map { _ in Request.played(Self.insert) }
            for write in writes { connection.submit(write, by: connection.now + .seconds(30)) }
            for write in writes { connection.stop(write.id) }
            for write in writes {
                connection.pass(.milliseconds(100))
                #expect(connection.wantsCancel)
                connection.beginCancel()
                connection.endCancel()
                connection.answer(.played57014)
                #expect(connection.ends.last?.id == write.id && connection.ends.last?.error is CancellationError)
            }
            #expect(connection.ends.count == 3 && !connection.isRetired)
        }

        /// A statement that does not stop takes no answer from other tasks.
        @Test func theConnectionIsClosedBehindTheAnswersThatOthersAwait() {
            var connection = PlayedConnection()
            let (first, write, other) = (Request.played(), Request.played(Self.insert), Request.played(Self.insert))
            for request in [first, write, other] { connection.submit(request, by: connection.now + .seconds(60)) }
            connection.stop(write.id)
            connection.answer()
            connection.beginCancel()
            connection.endCancel()
            connection.pass(.milliseconds(150))
            #expect(connection.ends.last?.id == write.id && connection.isRetired)
            for _ in 0..<20 {
                connection.pass(.seconds(1))
                #expect(connection.deadline > connection.now || connection.wantsCancel)
            }
            #expect(connection.endReason == nil && connection.ends.count == 2)
            connection.answer(.played57014)
            connection.answer()
            #expect(connection.ends.last?.id == other.id && connection.ends.last?.error == nil)
        }

        /// Each request waits for the grace from its own turn, even if an earlier request is not stopped in time.
        @Test func oneBehindAnotherThatIsNotStopped() {
            var connection = PlayedConnection()
            let (first, second) = (Request.played(Self.insert), Request.played(Self.insert))
            for write in [first, second] { connection.submit(write, by: connection.now + .seconds(1)) }
            connection.stop(first.id)
            connection.stop(second.id)
            connection.pass(.milliseconds(150))
            #expect(connection.ends.map(\.id) == [first.id] && connection.endReason == nil)
            connection.pass(.milliseconds(1_000))
            #expect(connection.endReason != nil)
            #expect(connection.ends.last { $0.id == second.id }?.postgresError?.code == .outcomeUnknown)
        }

        @Test func whatMayCommitInsideIsUnknownAlsoWhereItIsStopped() {
            var connection = PlayedConnection()
            let call = Request.played("CALL p()", traits: .init(isAutocommit: true, mayLeave: true))
            connection.submit(call)
            connection.stop(call.id)
            connection.answer(.played57014)
            #expect(connection.ends.last?.postgresError?.code == .outcomeUnknown)
        }

        /// A COPY into the database takes effect with the end of its data.
        @Test(arguments: [true, false]) func aCopyWithoutTheEndOfItsDataStoresNothing(isEnded: Bool) {
            var connection = PlayedConnection()
            let copy = Request.played(copy: .input)
            connection.submit(copy)
            _ = connection.beginCopy(.input)
            // As by the task that has sent all of its data.
            if isEnded { connection.state.inFlight.first?.copyPhase = nil }
            connection.stop(copy.id)
            connection.pass(.milliseconds(150))
            let end = connection.ends.last
            #expect(isEnded ? end?.postgresError?.code == .outcomeUnknown : end?.error is CancellationError)
        }

        @Test(arguments: [
            ("COPY note TO STDOUT", false), ("copy  \"from\" (id) TO STDOUT", true),
            ("COPY note (id) TO STDOUT", false),
            ("COPY (SELECT f()) TO STDOUT", true), ("COPY note FROM STDIN", true), ("COPY/**/note TO STDOUT", true),
        ])
        func aCopyOfATableToTheClientReads(text: String, mayWrite: Bool) {
            #expect(StatementText.mayWrite(copy: text) == mayWrite)
        }
    }
}
