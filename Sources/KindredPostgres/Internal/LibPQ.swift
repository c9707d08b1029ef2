import CLibPQ
import Logging

/// What libpq tells beyond its plain functions: errors with their fields, notices for the log.
enum LibPQ {
    /// The version of the library, such as 150018.
    static var version: Int32 { PQlibVersion() }

    /// A server's error or notice with its fields.
    static func serverMessage(_ result: OpaquePointer) -> ServerMessage? {
        // The fields are named by letters of the protocol.
        func field(_ letter: Unicode.Scalar) -> String? {
            // A server's text is shown, not decoded into data: what is no UTF-8 is replaced here only.
            PQresultErrorField(result, Int32(letter.value)).map { String(String(cString: $0).prefix(65_536)) }
        }
        guard let message = field("M") else { return nil }
        return ServerMessage(
            severity: field("V") ?? field("S") ?? "ERROR",
            sqlState: field("C").map(SQLState.init(rawValue:)),
            message: message,
            detail: field("D"),
            hint: field("H"),
            position: field("P").flatMap { Int($0) },
            context: field("W"),
            schema: field("s"),
            table: field("t"),
            column: field("c"),
            dataType: field("d"),
            constraint: field("n")
        )
    }

    /// The error of a failed result.
    static func error(_ result: OpaquePointer, statement: String?) -> PostgresError {
        if let message = serverMessage(result) {
            return PostgresError(.server, message.summary, server: message, statement: statement)
        }
        let text = PQresultErrorMessage(result).map { firstLine(String(cString: $0)) } ?? ""
        return PostgresError(
            .connectionLost,
            "The connection ended before the answer came\(text.isEmpty ? "" : ": \(text)")",
            statement: statement
        )
    }

    /// libpq's own words about a connection, in one line.
    static func connectionMessage(_ connection: OpaquePointer) -> String {
        PQerrorMessage(connection).map { String(cString: $0) } ?? ""
    }

    static func firstLine(_ text: String) -> String {
        String(text.split(separator: "\n").first ?? "")
    }
}

/// Where a connection's notices go: the log, never standard error.
final class NoticeSink: Sendable {
    private let logger: Logger?

    init(logger: Logger?) {
        self.logger = logger
    }

    private func receive(_ message: ServerMessage) {
        logger?.debug("PostgreSQL \(message.severity): \(message.sqlState?.rawValue ?? "")")
    }

    /// Sends the connection's notices here.
    ///
    /// The sink has to live as long as the connection.
    func install(on connection: OpaquePointer) {
        PQsetNoticeReceiver(
            connection,
            { argument, result in
                guard let argument, let result, let message = LibPQ.serverMessage(result) else { return }
                Unmanaged<NoticeSink>.fromOpaque(argument).takeUnretainedValue().receive(message)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }
}
