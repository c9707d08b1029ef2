import KindredPostgres

extension ConditionRenderer {
    /// Equality that ignores case.
    mutating func equalIgnoringCase(
        _ left: Operand,
        _ operation: ConditionComparison.Operator,
        _ right: Operand
    ) throws -> Rendered {
        func lowered(_ operand: Operand) throws -> Operand {
            guard case .scalar(var scalar) = operand else { return operand }
            scalar.sql = "lower(\(try text(scalar, operation)))"
            scalar.type = ValueType(.text)
            return .scalar(scalar)
        }
        if left.isNull || right.isNull { return try equal(left, isNegated: operation == .notEqual, right) }
        let texts = (try lowered(left), try lowered(right))
        var (first, second) = try scalars(texts.0, texts.1, operation)
        // An operand other than a column is a parameter, which is bound here.
        if !left.isScalar { first.sql = "lower(\(first.sql))" }
        if !right.isScalar { second.sql = "lower(\(second.sql))" }
        return try equal(.scalar(first), isNegated: operation == .notEqual, .scalar(second))
    }

    /// `LIKE`, `MATCHES`, `BEGINSWITH`, `ENDSWITH` and `CONTAINS` over texts.
    mutating func text(
        _ whole: Operand,
        _ operation: ConditionComparison.Operator,
        _ part: Operand,
        _ ignoresCase: Bool,
        configuration: String? = nil
    ) throws -> Rendered {
        if whole.isNull || part.isNull { return .never }
        let subject: String
        var isNullable = false
        // A stored vector can use an index.
        var isVector = false
        switch whole {
        case .scalar(let scalar) where operation == .search && scalar.type.type == .tsvector:
            subject = scalar.sql
            isNullable = scalar.mayBeNull
            isVector = true
        case .scalar(let scalar):
            subject = try text(scalar, operation)
            isNullable = scalar.mayBeNull
        case .value(.string(let text)?):
            subject = try parameters.value(.string(text), as: .text).description
        default: throw KindredError(.wrongType, "\(operation.rawValue) needs texts on both sides")
        }
        switch part {
        case .value(.string(let value)?):
            let pattern = try parameters.value(.string(TextPattern(value, operation).text), as: .text)
            if operation == .search {
                let configuration = try configuration.map { "\(try Self.searchConfiguration($0)), " } ?? ""
                let vector = isVector ? subject : "to_tsvector(\(configuration)\(subject))"
                let sql = "\(vector) @@ websearch_to_tsquery(\(configuration)\(pattern))"
                return Rendered(sql: sql, isTwoValued: !isNullable)
            }
            let symbol =
                operation == .matches ? (ignoresCase ? "~*" : "~") : (ignoresCase ? "ILIKE" : "LIKE")
            return Rendered(sql: "\(subject) \(symbol) \(pattern)", isTwoValued: !isNullable)
        case .scalar(let scalar):
            let part = try text(scalar, operation)
            let sql = try Self.search(
                ignoresCase ? "lower(\(subject))" : subject,
                operation,
                ignoresCase ? "lower(\(part))" : part,
                scalar.label
            )
            return Rendered(sql: sql, isTwoValued: !isNullable && !scalar.mayBeNull)
        case .value(let value?):
            throw KindredError(
                .wrongType, "\(operation.rawValue) needs a text on its right; \(value.kindName) was given")
        default: throw KindredError(.wrongType, "\(operation.rawValue) needs texts on both sides")
        }
    }

    /// The name of a text search configuration as a constant, so that an index on `to_tsvector('english', …)` can be used.
    ///
    /// The name becomes part of the statement, so only letters, digits and underscores are allowed, and one dot after a schema.
    private static func searchConfiguration(_ name: String) throws -> String {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        let isName =
            parts.count <= 2
            && parts.allSatisfy { part in
                !part.isEmpty
                    && part.utf8.allSatisfy { byte in
                        byte == UInt8(ascii: "_") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                            || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20
                    }
            }
        guard isName else {
            throw KindredError(
                .invalidCondition,
                "The configuration of a search is a name such as english or public.german, of letters, digits and underscores"
            )
        }
        return "'\(name)'::regconfig"
    }

    /// A search for a text from a column.
    private static func search(
        _ whole: String,
        _ operation: ConditionComparison.Operator,
        _ part: String,
        _ label: String
    ) throws -> String {
        switch operation {
        case .beginsWith: "starts_with(\(whole), \(part))"
        case .endsWith: "right(\(whole), length(\(part))) = \(part)"
        case .contains: "strpos(\(whole), \(part)) > 0"
        default:
            throw KindredError(
                .invalidCondition,
                "The pattern of \(operation.rawValue) must be a value, not the key \(label)",
                key: label
            )
        }
    }

    /// The SQL of a value as text.
    ///
    /// Throws for a value that is not a text.
    private func text(_ scalar: Scalar, _ operation: ConditionComparison.Operator) throws -> String {
        switch scalar.type.family {
        case .text: return scalar.type.type == .char ? "\(scalar.sql)::text" : scalar.sql
        case .enumeration: return "\(scalar.sql)::text"
        default:
            throw KindredError(
                .wrongType,
                "\(scalar.label) is of the type \(scalar.type.typeName), and \(operation.rawValue) needs a text",
                key: scalar.label
            )
        }
    }
}

/// A search pattern in PostgreSQL's form.
struct TextPattern {
    let text: String

    init(_ value: String, _ operation: ConditionComparison.Operator) throws {
        guard !value.utf8.contains(0) else {
            throw KindredError(.wrongType, "PostgreSQL text cannot hold a NUL character")
        }
        switch operation {
        case .beginsWith: text = Self.escaped(value) + "%"
        case .endsWith: text = "%" + Self.escaped(value)
        case .contains: text = "%\(Self.escaped(value))%"
        case .like: text = Self.translated(value)
        // The whole text must match, as in NSPredicate.
        case .matches:
            let (options, expression) = try Self.options(value)
            let isExpanded = options.contains("x")
            guard Self.isBalanced(expression, isExpanded: isExpanded) else {
                throw KindredError(.invalidCondition, "The regular expression's parentheses are not balanced")
            }
            // Options may make `^` and `$` match at line ends, and a comment may extend to the end of its line.
            let end = isExpanded ? "\n" : ""
            text = options.isEmpty ? "^(?:\(expression))$" : "\(options)\\A(?:\(expression)\(end))\\Z"
        default: text = value
        }
    }

    /// A regular expression's leading options, such as `(?i)`, and the rest.
    ///
    /// Throws for options that select another kind of expression.
    private static func options(_ pattern: String) throws -> (options: Substring, expression: Substring) {
        guard pattern.hasPrefix("(?"), let end = pattern.firstIndex(of: ")"),
            case let letters = pattern[..<end].dropFirst(2), letters.allSatisfy({ ("a"..."z").contains($0) })
        else { return ("", pattern[...]) }
        guard letters.allSatisfy("cimnpstwx".contains) else {
            throw KindredError(
                .invalidCondition,
                "MATCHES takes advanced regular expressions, which may begin with the options c, i, m, n, p, s, t, w and x"
            )
        }
        return (pattern[...end], pattern[pattern.index(after: end)...])
    }

    /// Whether the parentheses of a regular expression are balanced, so that it cannot close the enclosing one.
    ///
    /// - Parameter isExpanded: whether `#` begins a comment.
    private static func isBalanced(_ pattern: Substring, isExpanded: Bool) -> Bool {
        var depth = 0
        var rest = pattern.unicodeScalars
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\\": _ = rest.popFirst()
            case "#" where isExpanded: rest = rest.drop { $0 != "\n" }
            case "(" where rest.starts(with: "?#".unicodeScalars):
                rest = rest.drop { $0 != ")" }
                if rest.popFirst() == nil { return false }
            case "[": guard skipBrackets(&rest) else { return false }
            case "(": depth += 1
            case ")":
                depth -= 1
                if depth < 0 { return false }
            default: break
            }
        }
        return depth == 0
    }

    /// Skips a bracket expression after its `[`; false if it is not terminated.
    private static func skipBrackets(_ rest: inout Substring.UnicodeScalarView) -> Bool {
        if rest.first == "^" { rest.removeFirst() }
        // In the first position it is literal.
        if rest.first == "]" { rest.removeFirst() }
        while let scalar = rest.popFirst() {
            switch scalar {
            case "]": return true
            case "\\": _ = rest.popFirst()
            // A class such as [:alpha:], an element such as [.-.].
            case "[":
                guard let kind = rest.first, ":.=".unicodeScalars.contains(kind) else { continue }
                rest.removeFirst()
                var last: Unicode.Scalar?
                while last != kind || rest.first != "]" {
                    last = rest.popFirst()
                    if last == nil { return false }
                }
                rest.removeFirst()
            default: break
            }
        }
        return false
    }

    private static func escaped(_ value: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in value.unicodeScalars {
            if scalar == "%" || scalar == "_" || scalar == "\\" { escaped.append("\\") }
            escaped.append(scalar)
        }
        return String(escaped)
    }

    /// `*` and `?` as `%` and `_`; after a backslash both are literal.
    private static func translated(_ value: String) -> String {
        var pattern = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in value.unicodeScalars {
            switch scalar {
            case "*" where !isEscaped: pattern.append("%")
            case "?" where !isEscaped: pattern.append("_")
            case "\\" where !isEscaped:
                isEscaped = true
                continue
            case "*", "?": pattern.append(scalar)
            default:
                // A backslash before another character is literal.
                if isEscaped && scalar != "\\" { pattern.append(contentsOf: "\\\\".unicodeScalars) }
                if scalar == "%" || scalar == "_" || scalar == "\\" { pattern.append("\\") }
                pattern.append(scalar)
            }
            isEscaped = false
        }
        if isEscaped { pattern.append(contentsOf: "\\\\".unicodeScalars) }
        return String(pattern)
    }
}
