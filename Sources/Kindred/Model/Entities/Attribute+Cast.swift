import KindredPostgres
import KindredSchema

extension Attribute {
    /// Whether the column holds arrays.
    var isArray: Bool { elementType != nil }

    /// A value of the column, as SQL, for a comparison: with a cast where PostgreSQL has no operators for its type.
    func compared(_ sql: String) -> String { comparedType.map { "\(sql)::\($0)" } ?? sql }

    /// A type's name without a length: a cast to a type with a length would truncate the value instead of refusing it.
    static func castName(of typeName: String) -> String {
        var result = ""
        var depth = 0
        var isQuoted = false
        for character in typeName {
            if character == "\"" { isQuoted.toggle() }
            if !isQuoted && character == "(" { depth += 1 }
            if depth == 0 { result.append(character) }
            if !isQuoted && character == ")" { depth -= 1 }
        }
        // Without a length these two types have a length of one.
        for (name, unlimited) in [("character", "bpchar"), ("bit", "\"bit\"")] {
            if result == name || result == "\(name)[]" { return unlimited + result.dropFirst(name.count) }
        }
        return result
    }
}
