import CLibPQ

/// Reads libpq's errors and notices with their fields.
enum LibPQ {
    /// The version of the library, such as 150018.
    static var version: Int32 { PQlibVersion() }

    /// A server's error or notice; nil for an error of libpq's own.
    static func serverMessage(_ result: ResultHandle) -> ServerMessage? {
        guard let message = result.field("M") else { return nil }
        return ServerMessage(
            severity: result.field("V") ?? result.field("S") ?? "ERROR",
            sqlState: result.field("C").map(SQLState.init(rawValue:)),
            message: message,
            detail: result.field("D"),
            hint: result.field("H"),
            position: result.field("P").flatMap { Int($0) },
            context: result.field("W"),
            schema: result.field("s"),
            table: result.field("t"),
            column: result.field("c"),
            dataType: result.field("d"),
            constraint: result.field("n"),
            routine: result.field("R")
        )
    }

    /// The size of an error or notice on the wire: type, length, a letter and a text for each field, an end.
    static func messageSize(_ result: ResultHandle) -> Int {
        // libpq's own notices have no code.
        guard result.fieldSize(UnicodeScalar("C").value) != nil else { return 0 }
        let letters = [
            UnicodeScalar("A").value...UnicodeScalar("Z").value, UnicodeScalar("a").value...UnicodeScalar("z").value,
        ]
        return letters.joined().compactMap { result.fieldSize($0).map { 2 + $0 } }.reduce(6, +)
    }

    /// The error of a failed result.
    static func error(_ result: ResultHandle) -> PostgresError {
        guard let message = serverMessage(result) else {
            return connectionLost(result.errorMessage)
        }
        if message.isFatal {
            return PostgresError(
                .connectionLost, "The server ended the connection: \(message.message)", server: message)
        }
        return PostgresError(.server, message.summary, server: message)
    }

    /// The error of a connection that ended, with libpq's message.
    static func connectionLost(_ text: String) -> PostgresError {
        PostgresError(
            .connectionLost, "The connection ended before the answer came", underlying: lines(of: text))
    }

    static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingWhitespace() }.filter { !$0.isEmpty }
    }
}

extension StringProtocol {
    /// The text without white space around it.
    fileprivate func trimmingWhitespace() -> String {
        let start = self.drop { $0.isWhitespace }
        return String(start.reversed().drop { $0.isWhitespace }.reversed())
    }
}
