import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Reads libpq's errors and notices with their fields.
enum LibPQ {
    /// The version of the library, such as 150018.
    static var version: Int32 { PQlibVersion() }

    /// A server's error or notice; nil for an error of libpq's own.
    static func serverMessage(_ result: OpaquePointer) -> ServerMessage? {
        guard let message = field("M", of: result) else { return nil }
        return ServerMessage(
            severity: field("V", of: result) ?? field("S", of: result) ?? "ERROR",
            sqlState: field("C", of: result).map(SQLState.init(rawValue:)),
            message: message,
            detail: field("D", of: result),
            hint: field("H", of: result),
            position: field("P", of: result).flatMap { Int($0) },
            context: field("W", of: result),
            schema: field("s", of: result),
            table: field("t", of: result),
            column: field("c", of: result),
            dataType: field("d", of: result),
            constraint: field("n", of: result)
        )
    }

    /// A field of an error, by its letter in the protocol.
    ///
    /// For messages only, so invalid UTF-8 may be replaced.
    static func field(_ letter: Unicode.Scalar, of result: OpaquePointer) -> String? {
        PQresultErrorField(result, Int32(letter.value)).map { beginning($0) }
    }

    /// The first 64 KiB of a libpq text.
    private static func beginning(_ text: UnsafePointer<CChar>) -> String {
        let bytes = UnsafeRawBufferPointer(start: text, count: strnlen(text, 65_536))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The size of an error or notice on the wire: type, length, a letter and a text for each field, an end.
    static func messageSize(_ result: OpaquePointer) -> Int {
        let letters = [
            UnicodeScalar("A").value...UnicodeScalar("Z").value, UnicodeScalar("a").value...UnicodeScalar("z").value,
        ]
        let fields = letters.joined().compactMap { PQresultErrorField(result, Int32($0)).map { 2 + strlen($0) } }
        // libpq's own notices have no code.
        return PQresultErrorField(result, Int32(UnicodeScalar("C").value)) == nil ? 0 : fields.reduce(6, +)
    }

    /// The error of a failed result.
    static func error(_ result: OpaquePointer) -> PostgresError {
        guard let message = serverMessage(result) else {
            let text = PQresultErrorMessage(result).map { beginning($0) } ?? ""
            return connectionLost(text)
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

    /// libpq's message about a connection.
    static func message(of connection: OpaquePointer) -> String {
        PQerrorMessage(connection).map { beginning($0) } ?? ""
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
