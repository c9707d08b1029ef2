import Foundation
import KindredPostgres
import Synchronization
import Testing

/// Rows H of the fault catalogue: a server whose bytes break the protocol, or only just keep it.
///
/// Whatever it says, a statement ends in time with an error or with the sent rows, and the process goes on.
@Suite struct HostileServerTests {
    /// Runs a statement on a server that answers with the given bytes, and returns the outcome.
    private func outcome(
        of answer: @escaping @Sendable (ScriptedServer.Session) -> [UInt8], closes: Bool = false
    ) async throws -> Result<QueryResult, any Error> {
        let server = try ScriptedServer { session in
            session.welcome()
            // The description first, then the statement; the same answer to both.
            while session.readUntilSync() {
                guard session.socket.write(answer(session)) else { return }
                if closes { return }
            }
        }
        let client = try await PostgresClient.connect(server.configuration)
        var result: Result<QueryResult, any Error>
        do {
            result = .success(try await client.query("SELECT 1", timeout: .milliseconds(200)))
        } catch {
            result = .failure(error)
        }
        if case .success(let rows) = result {
            do { for row in rows { _ = try row[0] } } catch { result = .failure(error) }
        }
        await client.close(timeout: .zero)
        return result
    }

    @Test(
        "H11: settings without end end their connection, before they delay other statements", .timeLimit(.minutes(15)))
    func floodOfSettings() async throws {
        let server = try ScriptedServer { session in
            session.welcome()
            guard session.readUntilSync() else { return }
            // libpq compares each setting with all before.
            var number = 0
            while true {
                var bytes: [UInt8] = []
                for _ in 0..<1_000 {
                    number += 1
                    bytes += session.message("S", session.text("n\(number)") + session.text(""))
                }
                guard session.socket.write(bytes) else { return }
            }
        }
        var configuration = server.configuration
        configuration.statementTimeout = .seconds(3_600)
        let client = try await PostgresClient.connect(configuration)
        let error = await expectPostgresError(.connectionLost) { try await client.query("SELECT 1") }
        #expect(error?.message.contains("more settings") == true, "\(String(describing: error))")
        await client.close(timeout: .zero)
    }

    /// A correct answer to Parse, Bind, Describe, Execute and Sync with one integer.
    private static func answer(_ session: ScriptedServer.Session) -> [UInt8] {
        session.message("1", []) + session.message("2", []) + session.integerColumn
            + session.message("D", session.short(1) + session.number(4) + session.number(7))
            + session.message("C", session.text("SELECT 1")) + session.ready
    }

    @Test("H1: answers cut or changed at any byte", arguments: [true, false]) func changedBytes(isCut: Bool)
        async throws
    {
        for offset in stride(from: 0, to: 70, by: isCut ? 7 : 3) {
            _ = try await outcome(
                of: { session in
                    var bytes = Self.answer(session)
                    if isCut {
                        bytes.removeSubrange(min(offset, bytes.count)...)
                    } else if offset < bytes.count {
                        bytes[offset] ^= UInt8(1 << (offset % 8))
                    }
                    return bytes
                }, closes: true)
        }
    }

    @Test(
        "H2: lengths that lie",
        arguments: [
            [0x44, 0, 0, 0, 0], [0x44, 0, 0, 0, 3], [0x44, 0x7f, 0xff, 0xff, 0xff], [0x44, 0x80, 0, 0, 0],
            [0x44, 0, 0, 0, 10, 0, 1, 0x7f, 0xff, 0xff, 0xff], [0x44, 0, 0, 0, 6, 0x7f, 0xff],
            [0x54, 0, 0, 0, 6, 0x7f, 0xff], [0x54, 0, 0, 0, 6, 0xff, 0xff], [0x74, 0, 0, 0, 6, 0x7f, 0xff],
            [0x43, 0, 0, 0, 8, 0x41, 0x41, 0x41, 0x41],
        ] as [[UInt8]]) func lyingLengths(bytes: [UInt8]) async throws
    {
        let result = try await outcome { session in
            session.message("1", []) + session.message("2", []) + session.integerColumn + bytes + session.ready
        }
        #expect(throws: (any Error).self) { try result.get() }
    }

    @Test("H2: a row of a negative length, in a result without an end") func unendedResult() async throws {
        let result = try await outcome { session in
            let row: [UInt8] = [0x44, 0, 0, 0, 10, 0, 1, 0xff, 0xff, 0xff, 0xfe]
            return session.message("1", []) + session.message("2", []) + session.integerColumn + row + session.ready
        }
        #expect(throws: (any Error).self) { try result.get() }
    }

    @Test("H3: a COPY that nobody asked for", arguments: ["G", "H", "W"] as [Unicode.Scalar])
    func unaskedCopy(type: Unicode.Scalar) async throws {
        let result = try await outcome { session in
            session.message(type, [0] + session.short(0)) + session.ready
        }
        #expect(throws: (any Error).self) { try result.get() }
    }

    @Test("H4: errors without a code, without an end, and of many megabytes") func oddErrors() async throws {
        for body in [
            Array("SERROR\0MoOps\0\0".utf8), Array("MoOps".utf8), [0], [],
            Array("SERROR\0C\0M".utf8) + [UInt8](repeating: 0x61, count: 20 << 20) + [0, 0],
        ] {
            let result = try await outcome(of: { $0.message("E", body) + $0.ready }, closes: true)
            guard case .failure(let error as PostgresError) = result else {
                Issue.record("no error")
                continue
            }
            #expect(error.description.utf8.count < 200_000)
        }
    }

    @Test("H5: a change of the encoding ends the connection") func changedEncoding() async throws {
        let result = try await outcome { session in
            session.message("S", session.text("client_encoding") + session.text("LATIN1")) + Self.answer(session)
        }
        #expect(throws: (any Error).self) { try result.get() }
    }

    @Test("H6: values of a wrong length", arguments: [0, 1, 3, 5, 8, 1_000]) func wrongLength(count: Int) async throws {
        let result = try await outcome { session in
            let value = [UInt8](repeating: 0xff, count: count)
            return session.message("1", []) + session.message("2", []) + session.integerColumn
                + session.message("D", session.short(1) + session.number(Int32(count)) + value)
                + session.message("C", session.text("SELECT 1")) + session.ready
        }
        #expect(throws: (any Error).self) { try result.get() }
    }

    @Test("H7: a count of rows that no number holds") func hugeCount() async throws {
        let server = try ScriptedServer { session in
            session.welcome()
            while session.readUntilSync() {
                session.socket.write(
                    session.message("1", []) + session.message("2", []) + session.message("n", [])
                        + session.message("C", session.text("UPDATE 99999999999999999999999999")) + session.ready)
            }
        }
        var configuration = server.configuration
        configuration.statementCacheCapacity = 0
        let client = try await PostgresClient.connect(configuration)
        if let result = try? await client.query("UPDATE t SET a = 1", timeout: .milliseconds(200)) {
            #expect(result.affectedRows == 0)
        }
        await client.close(timeout: .zero)
    }

    @Test("H8: notices and notifications without end neither pile up nor stop a deadline") func endlessNotices()
        async throws
    {
        let result = try await outcome { session in
            let notice = session.message("N", Array("SNOTICE\0C00000\0Mx\0\0".utf8))
            let notification = session.message("A", session.number(1) + session.text("c") + session.text("p"))
            let end = ContinuousClock.now + .milliseconds(600)
            while ContinuousClock.now < end, session.socket.write(notice + notification) {}
            return []
        }
        #expect(throws: (any Error).self) { try result.get() }
    }
}
