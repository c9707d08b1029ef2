import Testing

@testable import KindredPostgres

extension ConnectionStateTests {
    /// Requests with settings of their own.
    @Suite struct Settings {
        private func request(isShared: Bool) throws -> Request {
            var traits = isShared ? Request.sharing : Request.Traits()
            traits.settings = try SessionSettings(["app.a": "1"])
            return Request.played(traits: traits, isShared: isShared)
        }

        private func played(_ sql: String) -> Request {
            Request.played(sql, traits: .init(), isOfProgram: true, isShared: false)
        }

        @Test func onASharedConnectionTheyWaitForNoAnswer() throws {
            var connection = PlayedConnection()
            let requests = try (0..<3).map { _ in try request(isShared: true) }
            for request in requests { connection.submit(request) }
            #expect(connection.inFlight == requests.map(\.id) && connection.held.isEmpty)
        }

        @Test func aTransactionThatSQLInFlightBeginsRefusesThem() throws {
            var connection = PlayedConnection()
            let begin = played("BEGIN")
            let (own, behind) = (try request(isShared: false), played("SELECT 1"))
            for request in [begin, own, behind] { connection.submit(request) }
            #expect(connection.inFlight == [begin.id] && connection.held == [own.id, behind.id])
            connection.isInTransaction = true
            connection.answer()
            #expect(connection.ends.last?.id == own.id)
            #expect(connection.ends.last?.postgresError?.code == .settingsDiffer)
            #expect(connection.inFlight == [behind.id])
        }

        @Test func onALentConnectionTheyAreSentBehindTheAnswer() throws {
            var connection = PlayedConnection()
            let (before, also) = (played("SELECT 1"), played("SELECT 2"))
            let own = try (0..<2).map { _ in try request(isShared: false) }
            for request in [before, also] + own { connection.submit(request) }
            connection.answer()
            #expect(connection.inFlight == [also.id] && connection.held == own.map(\.id))
            connection.answer()
            #expect(connection.inFlight == [own[0].id] && connection.held == [own[1].id])
            connection.answer()
            connection.answer()
            #expect(connection.ends.map(\.id) == [before.id, also.id] + own.map(\.id))
            #expect(connection.ends.allSatisfy { $0.error == nil })
        }
    }
}
