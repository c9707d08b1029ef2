import Testing

@testable import KindredPostgres

extension ConnectionStateTests {
    /// When a session with another task's traces is put back.
    @Suite struct Reset {
        private func submit(_ requests: Request..., to connection: inout PlayedConnection) {
            for request in requests { connection.submit(request) }
        }

        @Test func theSessionIsPutBackWhenNothingIsInFlight() {
            var connection = PlayedConnection()
            let first = Request.played("SELECT f()", isOfProgram: true)
            let (second, third) = (Request.played(), Request.played())
            submit(first, second, third, to: &connection)
            #expect(connection.inFlight == [first.id] && connection.held == [second.id, third.id])
            connection.answer()
            #expect(connection.sent == [.request(first.id), .reset, .request(second.id), .request(third.id)])
            for _ in 0..<3 { connection.answer() }
            #expect(connection.ends.map(\.id).filter { [first, second, third].map(\.id).contains($0) }.count == 3)
            #expect(connection.ends.allSatisfy { $0.error == nil })
        }

        @Test func theOwnStatementsOfALeaseNeedNoReset() {
            var connection = PlayedConnection()
            let requests = (0..<2).map { _ in Request.played("SET x.y = 1", isOfProgram: true, isShared: false) }
            for request in requests { connection.submit(request) }
            #expect(connection.sent == requests.map { .request($0.id) })
            connection.endUse()
            let next = Request.played()
            connection.submit(next)
            #expect(connection.held == [next.id])
            connection.answer()
            #expect(connection.held == [next.id])
            connection.answer()
            #expect(connection.sent.suffix(2) == [.reset, .request(next.id)])
        }

        @Test func aScriptWaitsForTheAnswerToTheReset() {
            var connection = PlayedConnection()
            connection.submit(.played("SELECT f()", isOfProgram: true))
            connection.answer()
            let (script, behind) = (Request.played(script: "SELECT 1"), Request.played())
            submit(script, behind, to: &connection)
            #expect(connection.sent.last == .reset && connection.held == [script.id, behind.id])
            connection.answer()
            #expect(connection.sent.last == .script(script.id) && connection.held == [behind.id])
        }

        @Test func anIdleSessionIsPutBackByItself() {
            var connection = PlayedConnection()
            connection.submit(.played("SELECT f()", isOfProgram: true))
            connection.answer()
            #expect(connection.deadline == connection.now + .milliseconds(50))
            connection.pass(.milliseconds(49))
            #expect(connection.sent.count == 1)
            connection.pass(.milliseconds(1))
            #expect(connection.sent.last == .reset)
            connection.answer()
            #expect(connection.state.isQuiet && connection.state.resetIsDue == .never)
        }

        @Test func preparedStatementsStayUnlessTheProgramMadeSome() {
            for (sql, isKept) in [("SELECT f()", true), ("PREPARE p AS SELECT 1", false), ("DEALLOCATE ALL", false)] {
                var connection = PlayedConnection()
                let text = StatementText("SELECT 1")
                func request() -> Request {
                    Request(
                        statements: [Statement(text: text)], traits: Request.sharing, lease: PlayedShare(),
                        onAnswer: { _ in })
                }
                connection.submit(request())
                connection.answer()
                connection.submit(.played(sql, isOfProgram: true))
                connection.answer()
                connection.submit(request())
                connection.answer()
                #expect(connection.state.inFlight.first?.steps.count == (isKept ? 1 : 2), "\(sql)")
            }
        }

        /// In a failed transaction the server refuses the statements behind, so they may be sent over another
        /// connection.
        @Test(arguments: [true, false]) func aSessionThatCannotBePutBackEnds(isBegun: Bool) throws {
            var connection = PlayedConnection()
            connection.submit(.played("SELECT f()", isOfProgram: true))
            connection.answer()
            connection.submit(.played("INSERT INTO a DEFAULT VALUES"))
            let reset = try #require(connection.state.inFlight.first)
            reset.step = isBegun ? 1 : 0
            connection.answer(PostgresError(.server, "refused", sqlState: .insufficientPrivilege))
            #expect(connection.endReason?.code == .connectionLost)
            if isBegun {
                #expect(connection.ends.last?.error is ConnectionGone)
            } else {
                #expect(connection.ends.last?.postgresError?.mayHaveTakenEffect == true)
            }
        }

        @Test func aStoppedRequestBehindAResetIsCancelledAfterIt() {
            var connection = PlayedConnection()
            connection.submit(.played("SELECT f()", isOfProgram: true))
            connection.answer()
            let request = Request.played()
            connection.submit(request)
            connection.stop(request.id)
            #expect(!connection.wantsCancel)
            let isTooEarly = connection.beginCancel()
            #expect(!isTooEarly)
            connection.answer()
            #expect(connection.wantsCancel)
            let isCancelling = connection.beginCancel()
            #expect(isCancelling)
        }
    }
}
