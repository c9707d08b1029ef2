import Foundation
import KindredPostgres
import Synchronization
import Testing

/// A server's messages in the middle of a COPY from here, whose source would go on for ever.
@Suite struct CopyAnswerTests {
    private static let error = [("S", "ERROR"), ("V", "ERROR"), ("C", "22P02"), ("M", "wrong")]
    private static let notice = [("S", "NOTICE"), ("V", "NOTICE"), ("C", "00000"), ("M", "so far so good")]

    private static func message(
        _ type: Unicode.Scalar, _ fields: [(String, String)], _ session: ScriptedServer.Session
    ) -> [UInt8] {
        session.message(type, fields.flatMap { Array($0.utf8) + session.text($1) } + [0])
    }

    /// Copies from a source that takes long to end by itself, to a server that does as `script` says once it takes
    /// data.
    private func copy(
        piece: [UInt8] = Array("1\n".utf8), pieces: Int = 20_000, pause: Duration = .milliseconds(1),
        isAnsweredWith begin: @escaping @Sendable (ScriptedServer.Session) -> [UInt8] = { _ in [] },
        _ script: @escaping @Sendable (ScriptedServer.Session) -> Void
    ) async throws -> (result: Result<Int, any Error>, sent: Int) {
        let server = try ScriptedServer { session in
            session.welcome()
            session.readMessage()
            session.socket.write(session.message("G", [0] + session.short(0)) + begin(session))
            script(session)
            while session.readMessage() != nil {}
        }
        var configuration = server.configuration
        configuration.statementTimeout = .seconds(600)
        let client = try await PostgresClient.connect(configuration)
        let sent = Atomic(0)
        let source = AsyncStream<[UInt8]> {
            if sent.add(1, ordering: .relaxed).newValue > pieces { return nil }
            if pause > .zero { try? await Task.sleep(for: pause) }
            return piece
        }
        let result: Result<Int, any Error>
        do {
            result = .success(try await client.copyIn("COPY note FROM STDIN", from: source))
        } catch {
            result = .failure(error)
        }
        await client.close(timeout: .zero)
        return (result, sent.load(ordering: .relaxed))
    }

    private func expectError(
        _ copied: (result: Result<Int, any Error>, sent: Int), before count: Int = 20_000,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async {
        let error = await expectPostgresError(.server, sourceLocation: sourceLocation) { _ = try copied.result.get() }
        #expect(error?.sqlState == .invalidTextRepresentation, sourceLocation: sourceLocation)
        #expect(copied.sent < count, sourceLocation: sourceLocation)
    }

    @Test("An error whose end comes later is noticed") func errorInParts() async throws {
        let copied = try await copy { session in
            session.readMessage()
            session.socket.write(Self.message("E", Self.error, session))
            // A client that comes to write late ends the data at once.
            var rest = 5
            while rest > 0, session.readMessage()?.type != UInt8(ascii: "f") { rest -= 1 }
            session.socket.write(session.ready)
        }
        await expectError(copied)
    }

    @Test("An error that comes together with notices is noticed", arguments: [1, 3, 500])
    func errorBehindNotices(count: Int) async throws {
        let copied = try await copy { session in
            session.readMessage()
            let notice = Self.message("N", Self.notice, session)
            let error = Self.message("E", Self.error, session)
            session.socket.write((0..<count).flatMap { _ in notice } + error + session.ready)
        }
        await expectError(copied)
    }

    @Test("An error that comes together with the beginning is noticed", arguments: [0, 2])
    func errorAtOnce(notices: Int) async throws {
        let copied = try await copy(isAnsweredWith: { session in
            let notice = Self.message("N", Self.notice, session)
            return (0..<notices).flatMap { _ in notice } + Self.message("E", Self.error, session) + session.ready
        }) { _ in }
        await expectError(copied)
    }

    @Test("An error that comes while nothing more can be written is noticed") func errorWhileBlocked() async throws {
        let piece = [UInt8](repeating: UInt8(ascii: "1"), count: 100_000) + [10]
        let copied = try await copy(piece: piece, pieces: 1_000_000, pause: .zero) { session in
            // Reads nothing until the client is stuck.
            _ = session.socket.read(milliseconds: 600_000, atMost: 1)
            for _ in 0..<100 { session.socket.write(Self.message("N", Self.notice, session)) }
            session.socket.write(Self.message("E", Self.error, session) + session.ready)
            while session.socket.read(milliseconds: 600_000, atMost: 1 << 20)?.isEmpty == false {}
        }
        await expectError(copied, before: 1_000_000)
    }

    @Test("Notices, also such as come in parts, are no answer") func noticesOnly() async throws {
        let copied = try await copy(pieces: 300) { session in
            let notice = Self.message("N", Self.notice, session)
            for end in 1..<notice.count {
                session.socket.write(Array(notice[..<end]))
                // Not by waiting for the client, which may come to write only after the time that a part may stay behind.
                usleep(2_000)
                session.socket.write(Array(notice[end...]) + notice)
            }
            while let message = session.readMessage(), message.type == UInt8(ascii: "d") {}
            session.socket.write(session.message("C", session.text("COPY 300")) + session.ready)
        }
        #expect(try copied.result.get() == 300)
    }

    @Test(
        "An error behind many notices is noticed with and without encryption", .enabled(if: LongTests.areOn),
        .timeLimit(.minutes(15)), arguments: [PostgresConfiguration.TLS.Mode.disable, .require])
    func realServer(mode: PostgresConfiguration.TLS.Mode) async throws {
        let port = RestartableServer.freePort
        let isEncrypted = mode == .require
        let server = try await RestartableServer(
            settings: ["listen_addresses = '127.0.0.1'", "port = \(port)", "ssl = \(isEncrypted ? "on" : "off")"],
            hasCertificate: isEncrypted)
        do {
            let canEncrypt = await server.hasTLS
            if canEncrypt || !isEncrypted {
                try await server.start()
                try await expectErrorsBehindNotices(server, port, isEncrypted: isEncrypted)
            }
        } catch {
            try? await server.remove()
            throw error
        }
        try await server.remove()
    }

    private func expectErrorsBehindNotices(_ server: RestartableServer, _ port: UInt16, isEncrypted: Bool) async throws
    {
        var configuration = server.configuration
        configuration.tls.mode = isEncrypted ? .require : .disable
        for endpoint in [
            PostgresConfiguration.Endpoint.socket(folder: server.folder, port: port),
            .tcp(host: "127.0.0.1", port: port),
        ] where !(isEncrypted && endpoint == .socket(folder: server.folder, port: port)) {
            configuration.endpoints = [endpoint]
            let client = try await PostgresClient.connect(configuration)
            try await client.runScript(
                """
                DROP TABLE IF EXISTS note;
                CREATE TABLE note (id bigint);
                CREATE OR REPLACE FUNCTION speak() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    RAISE NOTICE 'row %', new.id;
                    IF new.id = 20000 THEN RAISE EXCEPTION 'enough'; END IF;
                    RETURN new;
                END $$;
                CREATE TRIGGER speak BEFORE INSERT ON note FOR EACH ROW EXECUTE FUNCTION speak();
                """)
            for isEndless in [true, false] {
                let sent = Atomic(0)
                let source = AsyncStream<[UInt8]> {
                    let number = sent.add(1, ordering: .relaxed).newValue
                    return isEndless || number < 20_000 ? Array("\(number)\n".utf8) : nil
                }
                if isEndless {
                    let error = await expectPostgresError(.server) {
                        try await client.copyIn("COPY note FROM STDIN", from: source)
                    }
                    #expect(error?.server?.message == "enough")
                } else {
                    #expect(try await client.copyIn("COPY note FROM STDIN", from: source) == 19_999)
                }
            }
            let rows = try await client.query("SELECT count(*) FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl")
            #expect(try rows[0][0] == (isEncrypted ? 1 : 0))
            await client.close()
        }
    }
}
