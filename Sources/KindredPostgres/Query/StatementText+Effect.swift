extension StatementText {
    /// What a statement does beyond its rows, as far as its first words tell.
    package enum Effect: Sendable, Equatable {
        /// Reads or writes rows, and is undone with its transaction: sent twice it does nothing twice if the first was undone.
        case plain
        /// May have effects that no transaction undoes, such as VACUUM or a procedure that commits.
        case lasting
        /// Begins or ends a transaction or savepoint.
        case transactionControl
        /// Changes the session, for whoever uses the connection later.
        case session
    }

    /// Reads the first words of a statement.
    static func effect(of text: String) -> Effect {
        var words = FirstWords(text)
        switch words.next() {
        case "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "": return .plain
        case "BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "SAVEPOINT", "RELEASE": return .transactionControl
        case "PREPARE": return words.next() == "TRANSACTION" ? .transactionControl : .session
        case "SET":
            switch words.next() {
            case "LOCAL", "TRANSACTION", "CONSTRAINTS": return .plain
            default: return .session
            }
        case "RESET", "LISTEN", "UNLISTEN", "DISCARD", "DEALLOCATE", "LOAD", "DECLARE": return .session
        case "CREATE":
            switch words.next() {
            case "TEMP", "TEMPORARY", "LOCAL", "GLOBAL": return .session
            default: return .lasting
            }
        default: return .lasting
        }
    }
}

/// The words that a statement begins with, in upper case, without comments.
private struct FirstWords {
    private var rest: Substring.UTF8View

    init(_ text: String) {
        rest = text[...].utf8
    }

    mutating func next() -> String {
        skipBlanks()
        var word = ""
        while let byte = rest.first, byte | 0x20 >= UInt8(ascii: "a"), byte | 0x20 <= UInt8(ascii: "z"),
            word.utf8.count < 16
        {
            word.unicodeScalars.append(Unicode.Scalar(byte & ~0x20))
            rest.removeFirst()
        }
        return word
    }

    private mutating func skipBlanks() {
        while let byte = rest.first {
            if byte == UInt8(ascii: "-"), rest.dropFirst().first == UInt8(ascii: "-") {
                rest = rest.drop { $0 != UInt8(ascii: "\n") }
            } else if byte == UInt8(ascii: "/"), rest.dropFirst().first == UInt8(ascii: "*") {
                skipComment()
            } else if byte <= 0x20 || byte == UInt8(ascii: "(") || byte == UInt8(ascii: ";") {
                rest.removeFirst()
            } else {
                return
            }
        }
    }

    /// Comments of this kind nest.
    private mutating func skipComment() {
        var depth = 0
        repeat {
            if rest.starts(with: "/*".utf8) {
                depth += 1
                rest = rest.dropFirst(2)
            } else if rest.starts(with: "*/".utf8) {
                depth -= 1
                rest = rest.dropFirst(2)
            } else {
                rest = rest.dropFirst()
            }
        } while depth > 0 && !rest.isEmpty
    }
}
