import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Connector {
    /// Parameters that decoding and quoting depend on.
    ///
    /// Requested at connection; a pooler or another server may ignore the request.
    private static let expected = [
        ("client_encoding", "UTF8"), ("standard_conforming_strings", "on"), ("integer_datetimes", "on"),
        ("DateStyle", "ISO"), ("IntervalStyle", "postgres"),
    ]

    /// Returns the reason why a new session is unusable, if any, and its server's answer about itself as a primary, if
    /// it is asked for that.
    ///
    /// A parameter that a pooler does not report passes, except the search path: a wrong one could change which functions and
    /// tables statements use. The session is in pipeline mode and does not block; this method does, until the turn's deadline.
    static func inspect(
        _ handle: ConnectionHandle, for wish: SessionWish, within turn: ConnectionTurn
    ) throws(PostgresError) -> (violation: String?, primary: PrimaryRecord.Sighting?) {
        let asksForPath = wish.searchPath != nil && handle.parameter("search_path") == nil
        // In this order: settings are made before they are checked.
        var questions = wish.startupSettings.map { Question.setting($0.name, to: $0.value) }
        questions += wish.needs.map { Question.current($0.name) }
        questions += wish.settings.map { Question.comparing($0.name, with: $0.value) }
        if asksForPath { questions.append(Question.current("search_path")) }
        if wish.choosesPrimary { questions.append(PrimaryRecord.question) }
        var answers = questions.isEmpty ? [] : try ask(questions, over: handle, within: turn)[...]
        let primary = wish.choosesPrimary ? PrimaryRecord.Sighting(answer: answers.removeLast()) : nil
        let reportedPath =
            asksForPath ? try answers.removeLast().get().first ?? nil : handle.parameter("search_path")
        return (try violation(of: handle, wish, answers, searchPath: reportedPath), primary)
    }

    private static func violation(
        of handle: ConnectionHandle, _ wish: SessionWish, _ answers: ArraySlice<Result<[String?], PostgresError>>,
        searchPath reportedPath: String?
    ) throws(PostgresError) -> String? {
        let settingCount = wish.startupSettings.count
        for answer in answers.prefix(settingCount) { _ = try answer.get() }
        var answers = answers.dropFirst(settingCount)
        for (name, value) in expected {
            guard let reported = handle.parameter(name) else { continue }
            if reported != value, !reported.hasPrefix("\(value),") {
                return "The session's \(name) is not \(value); set it on the server, the role or the pooler"
            }
        }
        let needs = wish.needs
        for (need, answer) in zip(needs, answers) {
            guard let value = try answer.get().first, let value, need.values.contains(value) else {
                return notInForce(need.name, need.values[0])
            }
        }
        answers = answers.dropFirst(needs.count)
        for (setting, answer) in zip(wish.settings, answers) where !isInForce(answer) {
            return notInForce(setting.name, "the configured one")
        }
        guard let searchPath = wish.searchPath else { return nil }
        // The server quotes only where needed.
        guard SearchPathSetting.names(reportedPath ?? "") != SearchPathSetting.names(searchPath) else { return nil }
        return notInForce("search_path", "the configured one (\(searchPath))")
    }

    /// Whether a setting has the configured value; a setting that can be set only at the session's beginning (55P02) is
    /// not checked.
    private static func isInForce(_ answer: Result<[String?], PostgresError>) -> Bool {
        switch answer {
        case .success(let values): values.count == 2 && values[0] == values[1]
        case .failure(let error): error.sqlState?.rawValue == "55P02"
        }
    }

    private static func notInForce(_ name: String, _ wanted: String) -> String {
        """
        The session's \(name) is not \(wanted); behind a pooler that takes no such requests set it for the role or the \
        database: ALTER ROLE … SET \(name) = …
        """
    }

    /// A statement with at most one row of answer.
    struct Question {
        let text: String
        let values: [String]

        init(_ text: String, _ values: [String] = []) {
            self.text = text
            self.values = values
        }

        static func current(_ name: String) -> Question { Question("SELECT pg_catalog.current_setting($1)", [name]) }

        static func setting(_ name: String, to value: String) -> Question {
            Question("SELECT pg_catalog.set_config($1, $2, false)", [name, value])
        }

        /// Returns the current value and the configured one in the server's notation; `set_config` formats it, for this
        /// statement only.
        static func comparing(_ name: String, with value: String) -> Question {
            Question("SELECT pg_catalog.current_setting($1, true), pg_catalog.set_config($1, $2, true)", [name, value])
        }

        func send(over handle: ConnectionHandle) -> Bool {
            handle.send(text, texts: values) && handle.sendSync()
        }
    }

    /// Sends the questions in one round trip before the connection is used; each has an answer or error of its own.
    static func ask(
        _ questions: [Question], over handle: ConnectionHandle, within turn: ConnectionTurn
    ) throws(PostgresError) -> [Result<[String?], PostgresError>] {
        guard questions.allSatisfy({ $0.send(over: handle) }) else {
            throw failure(handle.message, turn.address)
        }
        var answers: [Result<[String?], PostgresError>] = []
        var answer = Result<[String?], PostgresError>.success([])
        var silences = 0
        while true {
            let isWritten = handle.flush() == .all
            while !handle.isBusy {
                // libpq returns nil between an answer and its Sync.
                guard let result = handle.nextResult() else {
                    silences += 1
                    guard silences < 3 else {
                        throw PostgresError(.protocolViolation, "\(turn.address) did not answer a question")
                    }
                    continue
                }
                defer { result.clear() }
                silences = 0
                switch result.status {
                case PGRES_PIPELINE_SYNC:
                    answers.append(answer)
                    if answers.count == questions.count { return answers }
                    answer = .success([])
                case PGRES_TUPLES_OK where result.rowCount == 1:
                    answer = .success(result.texts(row: 0))
                case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_PIPELINE_ABORTED: break
                default:
                    let error = LibPQ.error(result)
                    guard handle.isAlive else { throw error }
                    answer = .failure(error)
                }
            }
            let now = MonotonicTime.now
            guard now < turn.deadline, !turn.isOver else { throw turn.timedOut }
            let isReady = SystemCalls.wait(
                for: Int32(isWritten ? POLLIN : POLLIN | POLLOUT), handle.socket,
                milliseconds: turn.deadline.milliseconds(after: now, atMost: 100))
            guard isReady != true || handle.consumeInput(), handle.isAlive else {
                throw failure(handle.message, turn.address)
            }
        }
    }
}
