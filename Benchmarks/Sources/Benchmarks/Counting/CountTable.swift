import Foundation

/// Counts as lines of text.
enum CountTable {
    /// Four significant digits, at most four of them after the point.
    static func number(_ value: Double?) -> String {
        guard let value else { return "-" }
        let digits =
            switch abs(value) {
            case 1_000...: 0
            case 100...: 1
            case 10...: 2
            default: value == value.rounded() ? 0 : 4
            }
        return value.formatted(.number.precision(.fractionLength(0...digits)).locale(.init(identifier: "en_US")))
    }

    /// A number of bytes in MiB, with one digit after the point.
    static func mebibytes(_ bytes: Double?) -> String { number(bytes.map { ($0 / 1_048_576).rounded(digits: 1) }) }

    /// The difference of a count from the baseline's, if it is above half a percent.
    static func change(_ before: Double?, _ now: Double?) -> String {
        guard let before, let now, before > 0, abs(now / before - 1) > 0.005 else { return "" }
        return ((now / before - 1) * 100).formatted(
            .number.precision(.fractionLength(0...1)).sign(strategy: .always()).locale(.init(identifier: "en_US")))
            + " %"
    }
}

/// Prints lines of cells as columns: the first aligned left, the others right.
func writeColumns(_ lines: [[String]]) {
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    for line in lines {
        let cells = line.enumerated().map { column, cell in
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            return column == 0 ? cell + padding : padding + cell
        }
        print(cells.joined(separator: "  "))
    }
}
