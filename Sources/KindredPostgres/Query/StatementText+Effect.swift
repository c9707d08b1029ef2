extension StatementText {
    /// A statement's side effects, judged by its first words.
    package enum Effect: Sendable, Equatable {
        /// Reads or writes rows; rolled back with its transaction, after which it can be sent again.
        case plain
        /// May have effects that survive a rollback, such as VACUUM or a procedure that commits.
        case lasting
        /// Begins or ends a transaction or savepoint.
        case transactionControl
        /// Makes or deallocates prepared statements.
        case preparing
    }

    /// Whether the first word is a query's, so that a cursor can return its rows.
    package var isQuery: Bool { begins(with: ["SELECT", "WITH", "VALUES", "TABLE"]) }

    /// Whether it may change stored rows; SQL of the program may call functions that do.
    var mayWrite: Bool {
        mayChangeSession
            || !begins(with: ["SELECT", "FETCH", "DECLARE", "CLOSE", "BEGIN", "SAVEPOIN", "SET", "SHOW", "EXPLAIN"])
                && !isRecursiveQuery
    }

    /// Whether it begins WITH RECURSIVE: the library's own statements of that form only read.
    private var isRecursiveQuery: Bool {
        text.withBytes { bytes in
            var words = FirstWords(bytes)
            return words.next() == "WITH" && words.next() == "RECURSIV"
        }
    }

    /// Whether its transaction may have a number afterwards; not SET, LOCK and their like, which may have to come before the
    /// transaction's first snapshot.
    var mayNumberTransaction: Bool {
        mayWrite
            && !begins(with: [
                "SET", "RESET", "SHOW", "LOCK", "FETCH", "MOVE", "CLOSE", "DECLARE", "LISTEN", "UNLISTEN", "NOTIFY",
                "PREPARE", "DEALLOCA", "DISCARD",
            ])
    }

    /// Whether it may write rows: settings do not.
    var mayWriteRows: Bool { mayWrite && !begins(with: ["SET", "RESET", "SHOW"]) }

    /// Whether it may commit a part of its work before it ends: one table of several, or an index that is not valid yet.
    var mayCommitInside: Bool {
        begins(with: ["CALL", "DO", "VACUUM", "ANALYZE", "ANALYSE", "CLUSTER", "REINDEX"])
            || effect == .lasting && text.uppercased().contains("CONCURRENTLY")
    }

    /// Whether a COPY may write: one of a table to the client only reads, but a query or a function in one may do anything.
    static func mayWrite(copy text: String) -> Bool {
        let source = text.drop { $0.isWhitespace }.dropFirst(4).drop { $0.isWhitespace }
        // A query stands in parentheses.
        guard let first = source.first, !"(/-".contains(first) else { return true }
        return source.lowercased().contains("from")
    }

    /// Whether prepared statements may be lacking after a statement: DEALLOCATE, DISCARD, PREPARE, or a block that may send one of
    /// them.
    static func mayDeallocate(_ text: String, _ effect: Effect) -> Bool {
        guard effect == .lasting else { return effect == .preparing }
        let words = text.lowercased()
        return words.contains("deallocate") || words.contains("discard")
    }

    /// Whether it may make the session's transactions read-only, as `SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY` does.
    var mentionsReadOnly: Bool {
        let words = text.lowercased()
        return words.contains("read_only") || words.contains("read only")
    }

    /// Whether the first word is COPY.
    var isCopy: Bool { begins(with: ["COPY"]) }

    private func begins(with candidates: [Word]) -> Bool {
        return text.withBytes { bytes in
            var words = FirstWords(bytes)
            return candidates.contains(words.next())
        }
    }

    /// Reads the first words of a statement.
    static func effect(of text: String) -> Effect {
        return text.withBytes { bytes in
            var words = FirstWords(bytes)
            switch words.next() {
            case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "":
                return .plain
            case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOIN", "RELEASE":
                return .transactionControl
            case "PREPARE": return words.next() == "TRANSACT" ? .transactionControl : .preparing
            case "DISCARD", "DEALLOCA": return .preparing
            case "SET":
                let second = words.next()
                return second == "LOCAL" || second == "TRANSACT" || second == "CONSTRAI" ? .plain : .lasting
            default: return .lasting
            }
        }
    }
}

/// Up to eight letters of a word in upper case, packed into a number for fast comparison.
private struct Word: Equatable, ExpressibleByStringLiteral {
    private var letters: UInt64 = 0

    init() {}

    init(stringLiteral text: StaticString) {
        text.withBytes { bytes in
            var position = 0
            while position < bytes.count {
                append(bytes[position])
                position += 1
            }
        }
    }

    mutating func append(_ letter: UInt8) {
        if letters >> 56 == 0 { letters = letters << 8 | UInt64(letter) }
    }
}

/// The first words of a statement, without comments and opening parentheses.
private struct FirstWords {
    private let bytes: ByteView
    private var position = 0

    init(_ bytes: ByteView) {
        self.bytes = bytes
    }

    mutating func next() -> Word {
        skipBlanks()
        var word = Word()
        while position < bytes.count, case let letter = bytes[position] & ~0x20, letter >= 0x41, letter <= 0x5a {
            word.append(letter)
            position += 1
        }
        return word
    }

    private mutating func skipBlanks() {
        while position < bytes.count {
            switch bytes[position] {
            case 0...0x20, UInt8(ascii: "("), UInt8(ascii: ";"): position += 1
            case UInt8(ascii: "-") where isAt("-", UInt8(ascii: "-")):
                while position < bytes.count, !Self.endsLine(bytes[position]) { position += 1 }
            case UInt8(ascii: "/") where isAt("/", UInt8(ascii: "*")): skipComment()
            default: return
            }
        }
    }

    /// To the server a carriage return ends a comment too.
    private static func endsLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

    private func isAt(_ first: Unicode.Scalar, _ second: UInt8) -> Bool {
        position + 1 < bytes.count && bytes[position] == UInt8(ascii: first) && bytes[position + 1] == second
    }

    /// Block comments nest.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if isAt("/", UInt8(ascii: "*")) {
                depth += 1
                position += 2
            } else if isAt("*", UInt8(ascii: "/")) {
                depth -= 1
                position += 2
            } else {
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }
}
