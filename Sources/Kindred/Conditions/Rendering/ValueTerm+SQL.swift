import KindredPostgres
import KindredSchema

// The text of resolved values. It is written from left to right into one string.
extension ValueTerm {
    var sql: String {
        get throws {
            var text = ""
            try write(to: &text)
            return text
        }
    }

    func write(to text: inout String) throws {
        switch self {
        case .column(let column): try column.write(to: &text)
        case .element(let alias): text += "t\(alias).e"
        case .parameter(let parameter): parameter.write(to: &text)
        case .inner: text += "v"
        case .absent: text += "NULL"
        case .countOfRows: text += "count(*)"
        case .cast(let value, let type):
            try value.write(to: &text)
            text += "::"
            text += type
        case .negative(let value):
            text += "(- "
            try value.write(to: &text)
            text += ")"
        case .calculation(let left, let symbol, let right):
            text += "("
            try left.write(to: &text)
            text += " "
            text += symbol
            text += " "
            try right.write(to: &text)
            text += ")"
        case .function(let name, let value):
            text += name
            text += "("
            try value.write(to: &text)
            text += ")"
        // A separate function: its locals would enlarge the stack frame of every level of a deep calculation.
        case .guarded, .json, .jsonValue, .ofMembers, .mark, .tenant, .coalesced: try writeRare(to: &text)
        }
    }

    private func writeRare(to text: inout String) throws {
        switch self {
        case .guarded(let guards, let value):
            text += "CASE WHEN "
            for (position, value) in guards.enumerated() {
                if position > 0 { text += " AND " }
                try value.write(to: &text)
                text += " IS NOT NULL"
            }
            text += " THEN "
            try value.write(to: &text)
            text += " END"
        case .json(let part): try part.write(to: &text)
        case .jsonValue(let part, let kind):
            text += "CASE WHEN \(part.isBinary ? "jsonb_typeof" : "json_typeof")("
            try part.document.write(to: &text)
            text += " #> \(part.path)) = '\(kind.rawValue)' THEN "
            try part.write(to: &text)
            text += "::\(kind.type) END"
        case .ofMembers(let value, let members):
            text += "(SELECT "
            try value.write(to: &text)
            text += " FROM "
            try members.write(to: &text)
            text += ")"
        case .mark(let column, let type):
            text += "coalesce("
            try column.write(to: &text)
            text += ", now()::\(type))"
        case .coalesced(let first, let second):
            text += "coalesce("
            try first.write(to: &text)
            text += ", "
            try second.write(to: &text)
            text += ")"
        case .tenant(let type): text += TenantSetting.value(as: type)
        default: try write(to: &text)
        }
    }
}

extension ValueTerm.JSONPart {
    func write(to text: inout String) throws {
        text += "("
        try document.write(to: &text)
        text += " #>> \(path))"
    }
}

extension RowColumn {
    func write(to text: inout String) throws {
        if alias >= 0 {
            text += "t\(alias)."
        } else if let name = RowAlias(rawValue: alias)?.text {
            text += "\(name)."
        }
        text += try SQLIdentifier.quote(name)
        guard let comparedType else { return }
        text += "::"
        text += comparedType
    }
}

extension Parameter {
    func write(to text: inout String) { text += description }
}
