package import KindredPostgres

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
        self.init(tokens: SQLScanner.tokens(of: text)[...])
    }

    package init(tokens: ArraySlice<SQLToken>) {
        var parser = Parser(tokens: tokens)
        let condition = parser.disjunction(0)
        self = parser.tokens.isEmpty ? condition : .unknown
    }

    /// The columns that are not NULL in any row which passes the condition as a check; a check whose result is NULL is passed.
    package var requiredColumns: Set<ServerText> {
        switch self {
        case .isNotNull(let operands): Set(texts: operands.map(\.column))
        case .not(.isNull(let operands)) where operands.count == 1: [ServerText(operands[0].column)]
        case .and(let conditions): conditions.reduce(into: []) { $0.formUnion($1.requiredColumns) }
        case .or(let conditions):
            conditions.dropFirst().reduce(conditions.first?.requiredColumns ?? []) {
                $0.intersection($1.requiredColumns)
            }
        case .always, .isNull, .isTrue, .equals, .not, .unknown: []
        }
    }

    private struct Parser {
        var tokens: ArraySlice<SQLToken>

        /// Conditions that are nested deeper say nothing: they come from a server and can be of any depth.
        private static let deepest = 64

        mutating func disjunction(_ depth: Int) -> ExpressionCondition {
            guard depth < Self.deepest else { return giveUp() }
            var conditions = [conjunction(depth)]
            while takeWord("or") { conditions.append(conjunction(depth)) }
            return conditions.count == 1 ? conditions[0] : .or(conditions)
        }

        private mutating func conjunction(_ depth: Int) -> ExpressionCondition {
            var conditions = [negation(depth)]
            while takeWord("and") { conditions.append(negation(depth)) }
            return conditions.count == 1 ? conditions[0] : .and(conditions)
        }

        private mutating func negation(_ depth: Int) -> ExpressionCondition {
            guard takeWord("not") else { return term(depth) }
            guard depth < Self.deepest else { return giveUp() }
            return .not(negation(depth + 1))
        }

        private mutating func term(_ depth: Int) -> ExpressionCondition {
            if takeWord("true") { return endsTerm ? .always : skipTerm() }
            let start = tokens
            if let test = test(depth), endsTerm { return test }
            tokens = start
            if takeSign("(") {
                let condition = disjunction(depth + 1)
                if takeSign(")"), endsTerm { return condition }
                tokens = start
            }
            return skipTerm()
        }

        private mutating func test(_ depth: Int) -> ExpressionCondition? {
            if takeWord("row") {
                guard let operands = row(depth), takeWord("is") else { return nil }
                return nullTest(operands)
            }
            guard let operand = operand(depth) else { return nil }
            if takeWord("is") { return nullTest([operand]) }
            guard takeSign("=") else { return .isTrue(operand) }
            return constant(depth).map { .equals(operand, $0) }
        }

        private mutating func nullTest(_ operands: [Operand]) -> ExpressionCondition? {
            let isNegated = takeWord("not")
            guard takeWord("null") else { return nil }
            return isNegated ? .isNotNull(operands) : .isNull(operands)
        }

        private mutating func row(_ depth: Int) -> [Operand]? {
            guard takeSign("(") else { return nil }
            var operands: [Operand] = []
            repeat {
                guard let operand = operand(depth) else { return nil }
                operands.append(operand)
            } while takeSign(",")
            return takeSign(")") ? operands : nil
        }

        /// A column with its casts: `a`, `(a)::text`.
        private mutating func operand(_ depth: Int) -> Operand? {
            guard depth < Self.deepest else { return nil }
            var operand: Operand
            if takeSign("(") {
                guard let inner = self.operand(depth + 1), takeSign(")") else { return nil }
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
            guard let first = tokens.first else { return nil }
            switch first.kind {
            case .name: break
            case .word where !["not", "null", "row", "true", "false"].contains(first.text) && !first.isNumber:
                break
            default: return nil
            }
            tokens.removeFirst()
            return first.text
        }

        /// The text of a constant, whatever type it is cast to: `'open'::text`, `1`, `(1)::smallint`.
        private mutating func constant(_ depth: Int) -> String? {
            guard depth < Self.deepest else { return nil }
            let text: String
            if takeSign("(") {
                guard let inner = constant(depth + 1), takeSign(")") else { return nil }
                text = inner
            } else {
                let sign = takeSign("-") ? "-" : ""
                guard let token = tokens.popFirst() else { return nil }
                switch token.kind {
                case .text where sign.isEmpty: text = token.text
                case .word where token.isNumber: text = sign + token.text
                default: return nil
                }
            }
            return casts() == nil ? nil : text
        }

        /// The types of the casts that follow, such as `text` and `character varying`; nil for one with a modifier.
        private mutating func casts() -> [String]? {
            var types: [String] = []
            while takeSign(":") {
                guard takeSign(":") else { return nil }
                guard var type = typeName() else { return nil }
                while takeSign(".") {
                    guard let name = typeName() else { return nil }
                    type = name
                }
                if takeWord("varying") { type += " varying" }
                if takeWord("precision") { type += " precision" }
                types.append(type)
            }
            return types
        }

        private mutating func typeName() -> String? {
            guard let token = tokens.popFirst(), token.kind == .word || token.kind == .name else { return nil }
            return token.text
        }

        /// Whether a term ends here, so that nothing was read for more than it is.
        private var endsTerm: Bool {
            guard let next = tokens.first else { return true }
            return next.isSign(")") || next.isWord("and") || next.isWord("or")
        }

        /// Leaves out a part that is not understood, up to the AND, OR or parenthesis that ends it.
        private mutating func skipTerm() -> ExpressionCondition {
            var depth = 0
            while let next = tokens.first {
                if depth == 0, endsTerm { break }
                if next.isSign("(") { depth += 1 }
                if next.isSign(")") { depth -= 1 }
                tokens.removeFirst()
            }
            return .unknown
        }

        private mutating func giveUp() -> ExpressionCondition {
            tokens = []
            return .unknown
        }

        private mutating func takeWord(_ word: String) -> Bool { take { $0.isWord(word) } }
        private mutating func takeSign(_ sign: String) -> Bool { take { $0.isSign(sign) } }

        private mutating func take(_ isTaken: (SQLToken) -> Bool) -> Bool {
            guard let first = tokens.first, isTaken(first) else { return false }
            tokens.removeFirst()
            return true
        }
    }
}
