import KindredPostgres
import KindredSchema

// The text of resolved conditions. It is written from left to right into one string.
extension ConditionTerm {
    var sql: String {
        get throws {
            var text = ""
            try write(to: &text)
            return text
        }
    }

    /// Whether it needs no parentheses beside AND and OR.
    private var isClosed: Bool {
        switch self {
        case .all, .any, .between, .sameRow: false
        default: true
        }
    }

    /// Writes the condition for a place beside AND and OR.
    func writeClosed(to text: inout String) throws {
        if isClosed { return try write(to: &text) }
        text += "("
        try write(to: &text)
        text += ")"
    }

    func write(to text: inout String) throws {
        switch self {
        case .always: text += "TRUE"
        case .never: text += "FALSE"
        case .all(let terms): try terms.write(to: &text, separator: " AND ")
        case .any(let terms): try terms.write(to: &text, separator: " OR ")
        case .not(let term):
            text += "NOT "
            try term.writeClosed(to: &text)
        case .isNotTrue(let term):
            text += "("
            try term.write(to: &text)
            text += ") IS NOT TRUE"
        // Separate functions: their locals would enlarge the stack frame of every level of a deep condition.
        case .comparison, .isNull, .isNotNull, .between, .element, .sameOrMissing, .foreign, .text:
            try writeTest(to: &text)
        case .sameRow, .row, .search, .exists, .anyElement, .after: try writeRare(to: &text)
        }
    }

    /// The comparisons of values.
    private func writeTest(to text: inout String) throws {
        switch self {
        case .comparison(let left, let comparison, let right):
            try left.write(to: &text)
            text += " "
            text += comparison.text
            text += " "
            try right.write(to: &text)
        case .isNull(let value, let isRow):
            try value.write(to: &text)
            text += isRow ? " IS NOT DISTINCT FROM NULL" : " IS NULL"
        case .isNotNull(let value, let isRow):
            try value.write(to: &text)
            text += isRow ? " IS DISTINCT FROM NULL" : " IS NOT NULL"
        case .between(let value, let least, let from, let greatest, let to) where !from.isBuiltIn || !to.isBuiltIn:
            let value = try value.sql
            text += "\(value) \(from.text) \(try least.sql) AND \(value) \(to.text) \(try greatest.sql)"
        case .between(let value, let least, _, let greatest, _):
            try value.write(to: &text)
            text += " BETWEEN "
            try least.write(to: &text)
            text += " AND "
            try greatest.write(to: &text)
        case .element(let value, let comparison, let array):
            try value.write(to: &text)
            text += " \(comparison.text) ANY("
            try array.write(to: &text)
            text += ")"
        case .foreign(let comparison, let referenced, let holder):
            text += comparison.sql(referenced: try referenced.sql, holder: try holder.sql)
        case .sameOrMissing(let left, let comparison, let right):
            text += "coalesce(\(try left.sql) \(comparison.text) \(try right.sql), "
            text += "\(try left.sql) IS NULL AND \(try right.sql) IS NULL)"
        case .text(let whole, let place, let part):
            let (whole, part) = (try whole.sql, try part.sql)
            switch place {
            case .beginning: text += "starts_with(\(whole), \(part))"
            case .end: text += "right(\(whole), length(\(part))) = \(part)"
            case .anywhere: text += "strpos(\(whole), \(part)) > 0"
            }
        default: try write(to: &text)
        }
    }

    private func writeRare(to text: inout String) throws {
        switch self {
        case .sameRow(let columns, let missing):
            try columns.write(to: &text, separator: " AND ")
            text += " OR "
            try missing.write(to: &text, separator: " AND ")
        case .row(let columns, let arrays):
            let list = try columns.map { try $0.0.sql }.joined(separator: ", ")
            let values = try arrays.map { try $0.sql }.joined(separator: ", ")
            if columns.contains(where: { !$0.1.isBuiltIn }) {
                let names = columns.indices.map { "k\($0)" }.joined(separator: ", ")
                let pairs = try columns.enumerated().map { "given.k\($0) \($1.1.text) \(try $1.0.sql)" }
                text +=
                    "EXISTS (SELECT FROM unnest(\(values)) AS given(\(names)) WHERE \(pairs.joined(separator: " AND ")))"
                break
            }
            text += "(\(list)) IN (SELECT * FROM unnest(\(values)))"
        case .search(let search):
            // A constant, so that an index on `to_tsvector('english', …)` can be used.
            let configuration = search.configuration.map { "'\($0)'::regconfig, " } ?? ""
            let subject = try search.text.sql
            text += search.isVector ? subject : "to_tsvector(\(configuration)\(subject))"
            text += " @@ websearch_to_tsquery(\(configuration)\(search.pattern))"
        case .exists(let members):
            text += "EXISTS (SELECT 1 FROM "
            try members.write(to: &text)
            text += ")"
        case .anyElement(let rows, let term):
            text += "EXISTS (SELECT 1 FROM "
            try rows.write(to: &text)
            text += " WHERE "
            try term.write(to: &text)
            text += ")"
        case .after(let beyond, let same, let next):
            text += "("
            for term in beyond {
                try term.write(to: &text)
                text += " OR "
            }
            try same.write(to: &text)
            text += " AND "
            try next.write(to: &text)
            text += ")"
        default: try write(to: &text)
        }
    }
}

extension [ConditionTerm] {
    /// Writes the terms one beside the other.
    fileprivate func write(to text: inout String, separator: String) throws {
        for position in indices {
            if position > 0 { text += separator }
            try self[position].writeClosed(to: &text)
        }
    }
}

extension ConditionTerm.ArrayRows {
    fileprivate func write(to text: inout String) throws {
        text += mayHoldRows ? "(SELECT unnest(" : "unnest("
        try array.write(to: &text)
        text += mayHoldRows ? ") AS e) AS t\(alias)" : ") AS t\(alias)(e)"
    }
}
