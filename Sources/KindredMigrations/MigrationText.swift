import KindredPostgres

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The text of a file: read once, byte by byte of its lines' beginnings, since files can be large.
struct MigrationText {
    /// All of it, with `\n` as line ends, whatever a checkout makes of them.
    let bytes: [UInt8]
    /// Where it ends for Kindred: at a line behind which another tool keeps the statements that undo the file.
    private(set) var end: Int
    /// Whether no line asks to run the statements without a transaction.
    private(set) var isTransaction = true
    /// The rules that lines `-- kindred: ignore M101` name.
    private(set) var ignoreMarks: [IgnoreMark] = []

    /// A rule of ``MigrationLint`` that a line names.
    struct IgnoreMark: Sendable, Hashable {
        let rule: String
        let line: Int
    }

    /// The words of comments that ask for no transaction: Kindred's own, and the words of goose, dbmate and
    /// sql-migrate.
    private static let withoutTransaction: [[String]] = [
        ["kindred:", "no", "transaction"], ["+goose", "no", "transaction"], ["migrate:up", "transaction:false"],
        ["+migrate", "up", "notransaction"],
    ]
    /// The words of comments behind which a file is undone.
    private static let undoing: [[String]] = [["+goose", "down"], ["migrate:down"], ["+migrate", "down"]]

    init(_ content: Data) {
        bytes = Self.withPlainLineEnds(Array(content))
        end = bytes.count
        readMarks()
    }

    /// The part that runs.
    var script: String { String(decoding: bytes[..<end], as: UTF8.self) }

    private mutating func readMarks() {
        let (end, isTransaction, marks) = bytes.withBytes { bytes in
            var (start, isTransaction, line, marks) = (0, true, 1, [IgnoreMark]())
            while start < bytes.count {
                let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: start) ?? bytes.count
                let words = Self.commentWords(bytes.part(start..<end))
                if !words.isEmpty {
                    if Self.withoutTransaction.contains(words) { isTransaction = false }
                    if words.starts(with: ["kindred:", "ignore"]) {
                        marks += Self.ignored(bytes.part(start..<end)).map { IgnoreMark(rule: $0, line: line) }
                    }
                    if Self.undoing.contains(where: { words.starts(with: $0) }) { return (start, isTransaction, marks) }
                }
                (start, line) = (end + 1, line + 1)
            }
            return (bytes.count, isTransaction, marks)
        }
        (self.end, self.isTransaction, ignoreMarks) = (end, isTransaction, marks)
    }

    /// The first words of a line that begins with `--`, in lower case; one more than any mark has.
    private static func commentWords(_ line: ByteView) -> [String] {
        let rest = line.drop { $0 == 0x20 || (0x09...0x0D).contains($0) }
        guard rest.starts(with: "--".utf8) else { return [] }
        let text = String(decoding: rest.dropFirst(2), as: UTF8.self)
        return text.split(maxSplits: 3, whereSeparator: \.isWhitespace)
            .map { $0.lowercased() }.filter { !$0.allSatisfy(\.isWhitespace) }
    }

    /// The numbers behind `-- kindred: ignore`, between blanks or commas; words behind them say why.
    private static func ignored(_ line: ByteView) -> [String] {
        let words = String(decoding: line, as: UTF8.self).split { $0.isWhitespace || $0 == "," }
        let behind = words.drop { $0.lowercased() != "ignore" }.dropFirst()
        let numbers = behind.prefix { $0.first?.lowercased() == "m" && $0.dropFirst().allSatisfy(\.isNumber) }
        return (numbers.isEmpty ? behind.prefix(1) : numbers).map(String.init)
    }

    private static func withPlainLineEnds(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withBytes { view in
            let carriageReturn = UInt8(ascii: "\r")
            guard var found = view.firstIndex(of: carriageReturn, from: 0) else { return bytes }
            var (result, start): ([UInt8], Int) = ([], 0)
            result.reserveCapacity(bytes.count)
            while true {
                let isLineEnd = found + 1 < view.count && view[found + 1] == UInt8(ascii: "\n")
                result.append(contentsOf: view.part(start..<(isLineEnd ? found : found + 1)))
                start = found + 1
                guard let next = view.firstIndex(of: carriageReturn, from: start) else { break }
                found = next
            }
            result.append(contentsOf: view.part(start..<view.count))
            return result
        }
    }
}
