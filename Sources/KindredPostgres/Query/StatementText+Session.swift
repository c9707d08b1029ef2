extension StatementText {
    /// The reason why a statement needs a session that is its own for longer than a transaction.
    struct SessionNeed: Sendable, Equatable {
        /// The words that show it.
        let found: String
        /// The way to do it without such a session.
        let advice: String
    }

    /// The functions that hold or release locks of the session.
    private static let locks = [
        "pg_advisory_lock", "pg_advisory_lock_shared", "pg_try_advisory_lock", "pg_try_advisory_lock_shared",
        "pg_advisory_unlock", "pg_advisory_unlock_shared", "pg_advisory_unlock_all",
    ]

    /// The session's state that the text shows to be made, used or dropped; nil where it shows none.
    ///
    /// Quoted texts and comments do not count, and the effects of the functions that it calls are unknown.
    var sessionNeed: SessionNeed? {
        let statement = SQLScanner.withoutTexts(text).lowercased()
        let words = statement.utf8.split { !SQLScanner.isPartOfName($0) }.map { Substring($0) }
        guard let first = words.first else { return nil }
        let rest = words.dropFirst()
        let name = first.uppercased()
        switch first {
        case "set" where !["local", "transaction", "constraints"].contains(rest.first):
            return SessionNeed(found: name, advice: "use SET LOCAL in a transaction")
        case "reset", "load", "discard":
            return SessionNeed(found: name, advice: "give the role its settings with ALTER ROLE")
        case "listen", "unlisten":
            return SessionNeed(found: name, advice: "listen with a PostgresListener")
        case "prepare" where rest.first != "transaction", "execute", "deallocate":
            return SessionNeed(found: name, advice: "send the statement itself")
        case "declare" where rest.contains(["with", "hold"]):
            return SessionNeed(found: "WITH HOLD", advice: "use stream")
        default: break
        }
        if Self.makesTemporary(words), !words.contains(["on", "commit", "drop"]) {
            return SessionNeed(found: "A temporary object", advice: "use ON COMMIT DROP in a transaction")
        }
        if Self.setsForSession(statement) {
            return SessionNeed(found: "set_config(…, false)", advice: "use set_config(…, true) in a transaction")
        }
        return words.first { Self.locks.contains(String($0)) }.map {
            SessionNeed(found: String($0), advice: "use a lock of the transaction, such as pg_advisory_xact_lock")
        }
    }

    /// Whether `CREATE` or `INTO` is followed by `TEMP`.
    private static func makesTemporary(_ words: [Substring]) -> Bool {
        let starts = words.indices.filter {
            $0 == 0 && words[$0] == "create" || words[0] == "select" && words[$0] == "into"
        }
        return starts.contains { start in
            let next = words[(start + 1)...].first { !["or", "replace", "global", "local"].contains($0) }
            return next == "temp" || next == "temporary"
        }
    }

    /// Whether a call of `set_config` ends with `false`.
    private static func setsForSession(_ statement: String) -> Bool {
        statement.split(separator: "set_config").dropFirst().contains { behind in
            let last = behind.prefix { $0 != ")" }.split(separator: ",").last
            return last?.split(separator: " ") == ["false"]
        }
    }
}
