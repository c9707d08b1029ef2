import KindredPostgres
import Synchronization

/// A statement's operations and tables, for people and for grouping: `SELECT public.book`.
///
/// Made from the text, so that it never has a bound value: operations and tables in order, names without quotes.
struct StatementSummary: Sendable, Equatable {
    /// The first word: `SELECT`.
    let operation: String
    /// The operations and their tables, at most 255 characters.
    let text: String

    private enum Expected {
        case nothing, table, tableOrFunction
    }

    init(_ sql: String) {
        var words = SummaryWords(sql)
        var parts: [String] = []
        var operation = ""
        // For each open parenthesis, whether a FROM in it names a table.
        var names = [false]
        var before = ""
        // Whether a table's name comes next, and whether a function could come instead.
        var expected = Expected.nothing
        while let word = words.next() {
            let wasExpected = expected
            expected = .nothing
            func isTable() -> Bool {
                wasExpected == .table || wasExpected == .tableOrFunction && !words.isAtParenthesis
            }
            switch word {
            case .symbol(let symbol):
                if symbol == UInt8(ascii: "(") { names.append(false) }
                if symbol == UInt8(ascii: ")"), names.count > 1 { names.removeLast() }
            case .name(let name):
                if isTable() { parts.append(name) }
            case .word(let word):
                let upper = word.uppercased()
                if operation.isEmpty { operation = upper }
                switch upper {
                case "SELECT", "DELETE", "INSERT", "MERGE", "WITH":
                    parts.append(upper)
                    names[names.count - 1] = upper == "SELECT" || upper == "DELETE"
                case "UPDATE" where !["FOR", "KEY", "DO", "THEN"].contains(before):
                    parts.append(upper)
                    names[names.count - 1] = true
                    expected = .table
                case "FROM" where names[names.count - 1] && before != "DISTINCT": expected = .tableOrFunction
                case "JOIN": expected = .tableOrFunction
                case "INTO": expected = .table
                case "ONLY", "LATERAL": expected = wasExpected
                default: if isTable() { parts.append(word) }
                }
                before = upper
                continue
            }
            before = ""
        }
        self.operation = operation
        if parts.isEmpty { parts = [operation] }
        text = String(parts.joined(separator: " ").prefix(255))
    }
}

/// The words of a statement.
private struct SummaryWords {
    enum Word {
        case word(String)
        /// A name with parts or quotes: `"public"."book"`.
        case name(String)
        case symbol(UInt8)
    }

    private let bytes: [UInt8]
    private var index = 0

    init(_ sql: String) {
        bytes = Array(SQLScanner.withoutTexts(sql).utf8)
    }

    private func byte(_ distance: Int = 0) -> UInt8? {
        index + distance < bytes.count ? bytes[index + distance] : nil
    }

    /// Whether a parenthesis follows, so that the name is a function's.
    var isAtParenthesis: Bool {
        var position = index
        while position < bytes.count, bytes[position] <= 32 { position += 1 }
        return position < bytes.count && bytes[position] == UInt8(ascii: "(")
    }

    mutating func next() -> Word? {
        while let byte = byte() {
            if byte <= 32 {
                index += 1
            } else if byte == UInt8(ascii: "\"") || Self.isLetter(byte) {
                return name()
            } else {
                index += 1
                if byte != UInt8(ascii: "$") { return .symbol(byte) }
            }
        }
        return nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (65...90).contains(byte) || (97...122).contains(byte) || byte == UInt8(ascii: "_") || byte >= 128
    }

    /// The text between two quotes; a doubled quote counts as one.
    private mutating func quoted(_ quote: UInt8) -> [UInt8] {
        index += 1
        var text: [UInt8] = []
        while let byte = byte() {
            index += 1
            if byte == quote {
                guard self.byte() == quote else { return text }
                index += 1
            }
            text.append(byte)
        }
        return text
    }

    private mutating func name() -> Word {
        var text: [UInt8] = []
        var isPlain = true
        while let byte = byte() {
            if byte == UInt8(ascii: "\"") {
                isPlain = false
                text += quoted(byte)
            } else if Self.isLetter(byte) || (48...57).contains(byte) || byte == UInt8(ascii: "$") {
                text.append(byte)
                index += 1
            } else if byte == UInt8(ascii: "."), let next = self.byte(1),
                Self.isLetter(next) || next == UInt8(ascii: "\"")
            {
                isPlain = false
                text.append(byte)
                index += 1
            } else {
                break
            }
        }
        let name = String(decoding: text, as: UTF8.self)
        return isPlain ? .word(name) : .name(name)
    }
}

/// A cache of the summaries of recent texts.
///
/// Making a summary takes longer than sending many a statement: without the cache, 5 % of a web server's processor time.
final class StatementSummaries: Sendable {
    /// A program has some hundreds of texts; the limit bounds the memory of programs that generate new ones.
    static let capacity = 1_000
    /// Longer texts are rare, and not worth their memory.
    private static let maximumSize = 10_000

    private struct State {
        var recent: [ServerText: StatementSummary] = [:]
        /// The previous generation; its entries move to the current one when they are used.
        var older: [ServerText: StatementSummary] = [:]
    }

    private let state = Mutex(State())
    private let make: @Sendable (String) -> StatementSummary

    init(_ make: @escaping @Sendable (String) -> StatementSummary = { StatementSummary($0) }) {
        self.make = make
    }

    /// The number of cached summaries.
    var count: Int { state.withLock { $0.recent.count + $0.older.count } }

    /// The summary of a statement's text; made on a cache miss.
    func summary(of sql: String) -> StatementSummary {
        if let known = state.withLock({ $0.recent[sql] }) { return known }
        let summary = state.withLock { $0.older[sql] } ?? make(sql)
        guard sql.utf8.count <= Self.maximumSize else { return summary }
        state.withLock { state in
            if state.recent.count >= Self.capacity / 2 { state = State(older: state.recent) }
            state.recent[sql] = summary
            state.older[sql] = nil
        }
        return summary
    }
}
