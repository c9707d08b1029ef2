import KindredPostgres

extension FormatParser {
    /// A key path, `SELF`, or a path that ends in `@count`.
    mutating func path() throws -> ConditionExpression {
        var keys: [String] = []
        if try takeVariable(), !take(.dot) { return .path([]) }
        var isFirst = true
        repeat {
            let position = current.position
            switch current.kind {
            case .word(let word):
                let isSelf = isFirst && current.keyword == .itself
                advance()
                if isSelf { break }
                if isAt(.leftParenthesis) {
                    throw KindredError.invalidFormat("functions such as \(word)() are not supported", at: position)
                }
                keys.append(word)
            case .key(let key), .string(let key):
                guard !key.isEmpty else { throw expected("a key") }
                advance()
                keys.append(key)
            case .placeholder(.keyPath) where isFirst:
                let argument = try takeArgument()
                guard let named = argument.keys else { throw unfitArgument("a key path", at: position) }
                keys += named
            case .collectionOperator(let name):
                guard name == "count", !keys.isEmpty else { throw expected("a key, or @count at the end of a path") }
                advance()
                guard !isAt(.dot) else { throw expected("the end of the path after @count") }
                return .count(keys)
            default: throw expected("a key")
            }
            isFirst = false
        } while take(.dot)
        if keys.last == "@count" { return .count(keys.dropLast()) }
        return .path(keys)
    }
}

extension ConditionArgument {
    /// The keys that the argument of `%K` names: a path with dots, or a list of keys that may themselves hold dots.
    fileprivate var keys: [String]? {
        switch self {
        case .value(.string(let path)):
            let keys = path.keys
            return keys.contains("") || keys == ["@count"] ? nil : keys
        case .list(let values):
            var keys: [String] = []
            for value in values {
                guard case .string(let key) = value, !key.isEmpty else { return nil }
                keys.append(key)
            }
            return keys.isEmpty ? nil : keys
        default: return nil
        }
    }
}
