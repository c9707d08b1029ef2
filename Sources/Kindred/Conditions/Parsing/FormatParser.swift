import KindredPostgres

/// Builds a condition from the tokens of a format string, by recursive descent.
struct FormatParser {
    /// The maximum nesting depth, so that no format can exhaust the stack.
    static let maximumDepth = 256
    /// The maximum number of calculations.
    static let maximumCalculations = ConditionExpression.maximumCalculations

    private let tokens: [FormatToken]
    private let arguments: [ConditionArgument]
    private var index = 0
    private var usedArguments = 0
    private var depth = 0
    /// The variables of the enclosing SUBQUERYs, the innermost last.
    var variables: [(name: String, scope: ColumnScope)] = []
    private var calculations = 0

    init(tokens: [FormatToken], arguments: [ConditionArgument]) {
        self.tokens = tokens
        self.arguments = arguments
    }

    /// Returns the whole format as a condition.
    ///
    /// Throws unless all tokens and all arguments are used.
    mutating func format() throws -> ConditionNode {
        let phrase = try phrase(.or)
        let node = try condition(phrase)
        guard current.kind == .end else { throw expected("AND, OR or the end") }
        try requireNoMoreArguments()
        return node
    }

    /// Returns the whole format as a value calculated from keys.
    ///
    /// Throws unless all tokens and all arguments are used.
    mutating func formula() throws -> ConditionExpression {
        let formula = try expression(.sum)
        guard current.kind == .end else { throw expected("+, -, *, / or the end") }
        try requireNoMoreArguments()
        return formula
    }

    private func requireNoMoreArguments() throws {
        guard usedArguments == arguments.count else {
            throw KindredError(
                .invalidCondition,
                "The condition has \(usedArguments) placeholder\(usedArguments == 1 ? "" : "s"), "
                    + "but \(arguments.count) argument\(arguments.count == 1 ? " was" : "s were") given"
            )
        }
    }
}

extension FormatParser {
    var current: FormatToken { tokens[index] }

    /// The token after the current one.
    var following: FormatToken { tokens[min(index + 1, tokens.count - 1)] }

    /// The previous token's word for a value, such as NO, or for SELF, if it is the whole operand.
    func valueWord(at start: Int) -> String? {
        guard index > 0, tokens[index - 1].position == start, case .word(let word) = tokens[index - 1].kind,
            tokens[index - 1].keyword?.isValue ?? false
        else { return nil }
        return word
    }

    /// The place of the argument whose placeholder is the previous token, if that is the whole operand.
    func argument(at start: Int) -> Int? {
        guard index > 0, tokens[index - 1].position == start, case .placeholder(let kind) = tokens[index - 1].kind,
            kind != .keyPath
        else { return nil }
        return usedArguments - 1
    }

    mutating func advance() {
        if index < tokens.count - 1 { index += 1 }
    }

    func isAt(_ symbol: FormatToken.Symbol) -> Bool {
        current.kind == .symbol(symbol)
    }

    mutating func accept(_ symbol: FormatToken.Symbol) -> Bool {
        guard isAt(symbol) else { return false }
        advance()
        return true
    }

    mutating func require(_ symbol: FormatToken.Symbol) throws {
        guard accept(symbol) else { throw expected("\"\(symbol.rawValue)\"") }
    }

    /// Enters a nesting level, until `leave`.
    mutating func enter() throws {
        guard depth < Self.maximumDepth else {
            throw KindredError.invalidFormat(
                "the condition is nested more than \(Self.maximumDepth) deep", at: current.position)
        }
        depth += 1
    }

    mutating func leave() {
        depth -= 1
    }

    mutating func countCalculation() throws {
        calculations += 1
        guard calculations <= Self.maximumCalculations else {
            throw KindredError.invalidFormat(
                "a condition has at most \(Self.maximumCalculations) calculations",
                at: current.position
            )
        }
    }

    func expected(_ what: String) -> KindredError {
        var advice = ""
        // `not = 1`: the word is a prefix, not a key.
        if index > 0, case .word(let word) = tokens[index - 1].kind, tokens[index - 1].keyword?.isPrefix ?? false {
            advice = "; write \"#\(word)\" for a key of this name"
        }
        // Words of SQL for which the language has other words.
        if case .word(let word) = current.kind {
            switch word.uppercased() {
            case "ILIKE": advice = "; LIKE[c] ignores case"
            case "IS": advice = "; == nil is true for NULL, != nil for all else"
            default: break
            }
        }
        return .invalidFormat("\(what) is expected, not \(current)\(advice)", at: current.position)
    }

    /// Consumes the placeholder at the current token, and returns its argument.
    mutating func takeArgument() throws -> ConditionArgument {
        guard usedArguments < arguments.count else {
            throw KindredError.invalidFormat("there is no argument for this placeholder", at: current.position)
        }
        advance()
        usedArguments += 1
        return arguments[usedArguments - 1]
    }

    /// The error for the last argument, which has the wrong type for its placeholder.
    func unfitArgument(_ what: String, at position: Int) -> KindredError {
        .invalidFormat("argument \(usedArguments) must be \(what)", at: position)
    }
}
