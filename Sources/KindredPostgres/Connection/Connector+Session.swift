import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Connector {
    /// What the server has to report of a session so that values are read, and texts are taken, as they are meant.
    ///
    /// They are asked for when connecting; a pooler may drop such requests, and a server may be none.
    private static let expected = [
        ("client_encoding", "UTF8"), ("standard_conforming_strings", "on"), ("integer_datetimes", "on"),
        ("DateStyle", "ISO"), ("IntervalStyle", "postgres"),
    ]

    /// Says what is wrong with a new session, if something is; a parameter that a pooler does not report passes, with the
    /// exception of a search path that was asked for, which others may rely on not to have their statements changed.
    ///
    /// The session is in pipeline mode and does not block; this does, until the attempt's deadline.
    static func objection(
        to handle: OpaquePointer, _ searchPath: String?, _ attempt: ConnectionAttempt
    ) throws(PostgresError) -> String? {
        for (name, value) in expected {
            guard let reported = PQparameterStatus(handle, name).map({ String(cString: $0) }) else { continue }
            if reported != value, !reported.hasPrefix("\(value),") {
                return "The session's \(name) is not \(value); set it on the server, the role or the pooler"
            }
        }
        guard let searchPath else { return nil }
        var actual = PQparameterStatus(handle, "search_path").map { String(cString: $0) }
        if actual == nil {
            actual = try ask("SELECT pg_catalog.current_setting('search_path')", handle, attempt)
        }
        // A role's or database's own setting is written with as few quotes as it needs.
        guard SearchPathSetting.names(actual ?? "") != SearchPathSetting.names(searchPath) else { return nil }
        return """
            The session's search_path is not the configured one (\(searchPath)); behind a pooler that ignores such requests \
            set it for the role or the database: ALTER ROLE … SET search_path = …
            """
    }

    /// Asks the server for a text, before the connection is in anybody's hands.
    private static func ask(
        _ question: String, _ handle: OpaquePointer, _ attempt: ConnectionAttempt
    ) throws(PostgresError) -> String? {
        guard PQsendQueryParams(handle, question, 0, nil, nil, nil, nil, 0) == 1, PQpipelineSync(handle) == 1 else {
            throw failure(LibPQ.message(of: handle), attempt.address)
        }
        var answer: String?
        var silences = 0
        while true {
            let isWritten = PQflush(handle) == 0
            while PQisBusy(handle) == 0 {
                // libpq gives nothing at all between an answer and the confirmation of the Sync.
                guard let result = PQgetResult(handle) else {
                    silences += 1
                    guard silences < 3 else {
                        throw PostgresError(.protocolViolation, "\(attempt.address) did not answer a question")
                    }
                    continue
                }
                defer { PQclear(result) }
                switch PQresultStatus(result) {
                case PGRES_PIPELINE_SYNC: return answer
                case PGRES_TUPLES_OK where PQntuples(result) == 1 && PQnfields(result) == 1:
                    answer = PQgetvalue(result, 0, 0).map { String(cString: $0) }
                case PGRES_TUPLES_OK: break
                default: throw LibPQ.error(result)
                }
            }
            let now = MonotonicTime.now
            guard now < attempt.deadline, !attempt.isOver else { throw attempt.timedOut }
            var polled = pollfd(
                fd: PQsocket(handle), events: Int16(isWritten ? POLLIN : POLLIN | POLLOUT), revents: 0)
            let milliseconds = (attempt.deadline.nanoseconds - now.nanoseconds) / 1_000_000 + 1
            poll(&polled, 1, Int32(clamping: min(milliseconds, 100)))
            guard polled.revents == 0 || PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else {
                throw failure(LibPQ.message(of: handle), attempt.address)
            }
        }
    }
}
