/// A condition as the server writes it (`pg_get_expr`), as far as it is made of tests of columns.
///
/// Everything else counts as ``unknown``: a reader of the condition may then conclude nothing from that part.
package indirect enum ExpressionCondition {
    /// A column that is tested, and the types that it is cast to before, from the innermost.
    package struct Operand {
        package let column: String
        package var casts: [String] = []
    }

    case always
    case unknown
    case isTrue(Operand)
    /// A column, or all columns of a ROW.
    case isNull([Operand])
    case isNotNull([Operand])
    /// A column and the text of a constant.
    case equals(Operand, String)
    case not(ExpressionCondition)
    case and([ExpressionCondition])
    case or([ExpressionCondition])

    package init(_ text: String) {
        var parser = Parser(tokens: ExpressionToken.all(in: text).map(\.kind)[...])
        let condition = parser.disjunction(0)
        self = parser.tokens.isEmpty ? condition : .unknown
    }

    private struct Parser {
        var tokens: ArraySlice<ExpressionToken.Kind>

        /// Conditions that are nested deeper say nothing: they come from a server and can be of any depth.
        private static let deepest = 64

        mutating func disjunction(_ depth: Int) -> ExpressionCondition {
            guard depth < Self.deepest else { return giveUp() }
            var conditions = [conjunction(depth)]
            while take(.word("OR")) { conditions.append(conjunction(depth)) }
            return conditions.count == 1 ? conditions[0] : .or(conditions)
        }

        private mutating func conjunction(_ depth: Int) -> ExpressionCondition {
            var conditions = [negation(depth)]
            while take(.word("AND")) { conditions.append(negation(depth)) }
            return conditions.count == 1 ? conditions[0] : .and(conditions)
        }

        private mutating func negation(_ depth: Int) -> ExpressionCondition {
            guard take(.word("NOT")) else { return term(depth) }
            guard depth < Self.deepest else { return giveUp() }
            return .not(negation(depth + 1))
        }

        private mutating func term(_ depth: Int) -> ExpressionCondition {
            if take(.word("true")) { return endsTerm ? .always : skipTerm() }
            let start = tokens
            if let test = test(depth), endsTerm { return test }
            tokens = start
            if take(.symbol("(")) {
                let condition = disjunction(depth + 1)
                if take(.symbol(")")), endsTerm { return condition }
                tokens = start
            }
            return skipTerm()
        }

        private mutating func test(_ depth: Int) -> ExpressionCondition? {
            if take(.word("ROW")) {
                guard let operands = row(depth), take(.word("IS")) else { return nil }
                return nullTest(operands)
            }
            guard let operand = operand(depth) else { return nil }
            if take(.word("IS")) { return nullTest([operand]) }
            guard take(.symbol("=")) else { return .isTrue(operand) }
            return constant(depth).map { .equals(operand, $0) }
        }

        private mutating func nullTest(_ operands: [Operand]) -> ExpressionCondition? {
            let isNegated = take(.word("NOT"))
            guard take(.word("NULL")) else { return nil }
            return isNegated ? .isNotNull(operands) : .isNull(operands)
        }

        private mutating func row(_ depth: Int) -> [Operand]? {
            guard take(.symbol("(")) else { return nil }
            var operands: [Operand] = []
            repeat {
                guard let operand = operand(depth) else { return nil }
                operands.append(operand)
            } while take(.symbol(","))
            return take(.symbol(")")) ? operands : nil
        }

        /// A column with its casts: `a`, `(a)::text`.
        private mutating func operand(_ depth: Int) -> Operand? {
            guard depth < Self.deepest else { return nil }
            var operand: Operand
            if take(.symbol("(")) {
                guard let inner = self.operand(depth + 1), take(.symbol(")")) else { return nil }
                operand = inner
            } else {
                guard let name = columnName() else { return nil }
                operand = Operand(column: name)
            }
            guard let casts = casts() else { return nil }
            operand.casts += casts
            return operand
        }

        private mutating func columnName() -> String? {
            let name: String
            switch tokens.first {
            case .quotedName(let quoted): name = quoted
            case .word(let word):
                if ["NOT", "NULL", "ROW", "true", "false"].contains(word) || word.isNumber { return nil }
                name = word
            default: return nil
            }
            tokens.removeFirst()
            return name
        }

        /// The text of a constant, whatever type it is cast to: `'open'::text`, `1`, `(1)::smallint`.
        private mutating func constant(_ depth: Int) -> String? {
            guard depth < Self.deepest else { return nil }
            let text: String
            if take(.symbol("(")) {
                guard let inner = constant(depth + 1), take(.symbol(")")) else { return nil }
                text = inner
            } else {
                let sign = take(.symbol("-")) ? "-" : ""
                switch tokens.popFirst() {
                case .literal(let literal) where sign.isEmpty: text = literal
                case .word(let digits) where digits.isNumber: text = sign + digits
                default: return nil
                }
            }
            return casts() == nil ? nil : text
        }

        /// The types of the casts that follow, such as `text` and `character varying`; nil for one with a modifier.
        private mutating func casts() -> [String]? {
            var types: [String] = []
            while take(.symbol("::")) {
                guard var type = typeName() else { return nil }
                while take(.symbol(".")) {
                    guard let name = typeName() else { return nil }
                    type = name
                }
                if take(.word("varying")) { type += " varying" }
                if take(.word("precision")) { type += " precision" }
                types.append(type)
            }
            return types
        }

        private mutating func typeName() -> String? {
            switch tokens.popFirst() {
            case .word(let name), .quotedName(let name): name
            default: nil
            }
        }

        /// Whether a term ends here, so that nothing was read for more than it is.
        private var endsTerm: Bool {
            switch tokens.first {
            case nil, .symbol(")"), .word("AND"), .word("OR"): true
            default: false
            }
        }

        /// Leaves out what is not understood, up to the AND, OR or parenthesis that ends it.
        private mutating func skipTerm() -> ExpressionCondition {
            var depth = 0
            while let next = tokens.first {
                if depth == 0, endsTerm { break }
                if next == .symbol("(") { depth += 1 }
                if next == .symbol(")") { depth -= 1 }
                tokens.removeFirst()
            }
            return .unknown
        }

        private mutating func giveUp() -> ExpressionCondition {
            tokens = []
            return .unknown
        }

        private mutating func take(_ token: ExpressionToken.Kind) -> Bool {
            guard tokens.first == token else { return false }
            tokens.removeFirst()
            return true
        }
    }
}

extension String {
    fileprivate var isNumber: Bool { !isEmpty && utf8.allSatisfy { (0x30...0x39).contains($0) } }
}
