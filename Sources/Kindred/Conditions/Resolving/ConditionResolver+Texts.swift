import KindredPostgres
import KindredSchema

extension ConditionResolver {
    /// Equality that ignores case.
    mutating func equalIgnoringCase(
        _ left: Operand,
        _ operation: ConditionComparison.Operator,
        with right: Operand
    ) throws -> ResolvedTerm {
        func lowered(_ operand: Operand) throws -> Operand {
            guard case .scalar(var scalar) = operand else { return operand }
            scalar.value = .function("lower", try text(scalar, operation))
            scalar.type = ValueType(.text)
            return .scalar(scalar)
        }
        if left.isNull || right.isNull { return try equal(left, isNegated: operation == .notEqual, right) }
        let texts = (try lowered(left), try lowered(right))
        var (first, second) = try scalars(texts.0, texts.1, for: operation)
        // An operand other than a column is a parameter, which is bound here.
        if !left.isScalar { first.value = .function("lower", first.value) }
        if !right.isScalar { second.value = .function("lower", second.value) }
        return try equal(.scalar(first), isNegated: operation == .notEqual, .scalar(second))
    }

    /// `LIKE`, `MATCHES`, `BEGINSWITH`, `ENDSWITH` and `CONTAINS` over texts.
    mutating func text(
        _ whole: Operand,
        _ operation: ConditionComparison.Operator,
        part: Operand,
        ignoresCase: Bool,
        configuration: String? = nil
    ) throws -> ResolvedTerm {
        if whole.isNull || part.isNull { return .never }
        let subject: ValueTerm
        var isNullable = false
        // A stored vector can use an index.
        var isVector = false
        var operators: TypeOperators?
        // Functions of texts know no case that does not matter: citext is compared by lower(), as its own operators do.
        var isFolded = ignoresCase
        switch whole {
        case .scalar(let scalar) where operation == .search && scalar.type.type == .tsvector:
            subject = scalar.value
            isNullable = scalar.mayBeNull
            isVector = true
        case .scalar(let scalar):
            subject = try text(scalar, operation)
            isNullable = scalar.mayBeNull
            operators = scalar.type.operators
            isFolded = isFolded || scalar.type.isCitext
        case .value(.string(let text)?):
            subject = .parameter(try parameters.value(.string(text), as: .text))
        default: throw KindredError(.wrongType, "\(operation.rawValue) needs texts on both sides")
        }
        switch part {
        case .value(.string(let value)?):
            let pattern = try bind(value, asPatternOf: operation)
            if operation == .search {
                try configuration.map(Self.requireName)
                let search = ConditionTerm.FullTextSearch(
                    text: subject, isVector: isVector, configuration: configuration, pattern: pattern)
                return ResolvedTerm(term: .search(search), isTwoValued: !isNullable)
            }
            let symbol: ConditionTerm.Comparison.Symbol =
                operation == .matches
                ? (ignoresCase ? .matchesIgnoringCase : .matches) : (ignoresCase ? .likeIgnoringCase : .like)
            return ResolvedTerm(
                term: .comparison(
                    subject, ConditionTerm.Comparison(symbol, of: operators), .parameter(pattern)),
                isTwoValued: !isNullable)
        case .scalar(let scalar):
            let part = try text(scalar, operation)
            let place = try Self.place(operation, scalar.label)
            let term: ConditionTerm =
                isFolded
                ? .text(.function("lower", subject), place, .function("lower", part)) : .text(subject, place, part)
            return ResolvedTerm(term: term, isTwoValued: !isNullable && !scalar.mayBeNull)
        case .value(let value?):
            throw KindredError(
                .wrongType, "\(operation.rawValue) needs a text on its right; \(value.kindName) was given")
        default: throw KindredError(.wrongType, "\(operation.rawValue) needs texts on both sides")
        }
    }

    /// Checks the name of a text search configuration.
    ///
    /// The name becomes part of the statement, so only letters, digits and underscores are allowed, and one dot after a schema.
    private static func requireName(_ name: String) throws {
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
    }

    /// The place of a text from a column in the other.
    private static func place(
        _ operation: ConditionComparison.Operator, _ label: String
    ) throws -> ConditionTerm.TextPlace {
        switch operation {
        case .beginsWith: .beginning
        case .endsWith: .end
        case .contains: .anywhere
        default:
            throw KindredError(
                .invalidCondition,
                "The pattern of \(operation.rawValue) must be a value, not the key \(label)",
                key: label
            )
        }
    }

    /// A value as text.
    ///
    /// Throws for a value that is not a text.
    private func text(_ scalar: Scalar, _ operation: ConditionComparison.Operator) throws -> ValueTerm {
        switch scalar.type.family {
        case .text: return scalar.type.type == .char ? .cast(scalar.value, to: "text") : scalar.value
        case .enumeration: return .cast(scalar.value, to: "text")
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
                throw KindredError(.invalidCondition, "The regular expression's parentheses are not balanced").ofInput
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
            ).ofInput
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
