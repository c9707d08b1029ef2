import KindredPostgres

/// The expression of a policy, as `pg_get_expr` writes it, with the calls in it that every row repeats.
struct PolicyText {
    /// The functions called outside of subqueries.
    let calls: [String]
    /// The text with each of these calls in a subquery of its own.
    let wrapped: String

    /// Functions whose result is the same for all rows of a statement: settings, and the schema `auth`.
    private static func isSteady(_ name: String) -> Bool {
        name == "current_setting" || name.hasPrefix("auth.")
    }

    init(_ text: String) {
        let (policy, bytes) = (PolicyTokens(text), Array(text.utf8))
        var calls: [String] = []
        var wrapped = ""
        var (index, copied) = (0, 0)
        func copy(to end: Int) {
            wrapped += String(decoding: bytes[copied..<end], as: UTF8.self)
            copied = end
        }
        while index < policy.tokens.count {
            if policy.isSubquery(at: index) {
                index = policy.closing(index) + 1
                continue
            }
            guard let name = policy.name(at: index) else {
                index += 1
                continue
            }
            let start = policy.tokens[index].range.lowerBound
            index = name.end
            guard policy.isSign("(", at: index), Self.isSteady(name.text) else { continue }
            let end = policy.closing(index)
            if Self.areConstant(policy.tokens[index...end]) {
                calls.append(name.text)
                copy(to: start)
                wrapped += "( SELECT "
                copy(to: policy.tokens[end].range.upperBound)
                wrapped += ")"
            }
            index = end + 1
        }
        copy(to: bytes.count)
        self.calls = calls
        self.wrapped = wrapped
    }

    /// Whether arguments name no column, so that they are the same for each row.
    private static func areConstant(_ arguments: ArraySlice<SQLToken>) -> Bool {
        var isInType = false
        for (place, token) in zip(arguments.indices, arguments) {
            if token.isSign(":") {
                // A type may have several words.
                isInType = place > arguments.startIndex && arguments[place - 1].isSign(":")
                continue
            }
            switch token.kind {
            case .word where isInType: continue
            case .word:
                guard token.isNumber || ["true", "false"].contains(token.text) else { return false }
            case .name where !isInType: return false
            case .name, .text: break
            case .sign: isInType = false
            }
        }
        return true
    }
}
