import KindredPostgres
import KindredSchema

/// A condition in a statement, whose names, types and values are resolved: rendering it looks nothing up.
///
/// As SQL it is TRUE if the condition is true, and else FALSE or NULL: WHERE, AND and OR treat both alike, and a
/// negation is resolved so that it does too.
enum ConditionTerm: Sendable {
    case always
    case never
    case all([ConditionTerm])
    case any([ConditionTerm])
    /// The complement of a term that is never NULL.
    indirect case not(ConditionTerm)
    /// The complement of a term that may be NULL.
    indirect case isNotTrue(ConditionTerm)
    indirect case comparison(ValueTerm, Comparison, ValueTerm)
    indirect case isNull(ValueTerm, isRow: Bool)
    indirect case isNotNull(ValueTerm, isRow: Bool)
    /// Whether a value is neither before one nor after another; the comparisons are by which it is not.
    indirect case between(ValueTerm, from: ValueTerm, Comparison, to: ValueTerm, Comparison)
    /// Whether a value is an element of an array.
    indirect case element(ValueTerm, Comparison, of: ValueTerm)
    /// Whether two values are the same or both missing, of a type without a comparison that says so.
    indirect case sameOrMissing(ValueTerm, Comparison, ValueTerm)
    /// Whether two values are equal by a foreign key, as it compares their columns.
    indirect case foreign(KeyComparison, referenced: ValueTerm, holder: ValueTerm)
    /// Whether the columns of two keys are equal, or both rows are missing.
    indirect case sameRow([ConditionTerm], orMissing: [ConditionTerm])
    /// Whether columns together have one of the values in arrays, position by position.
    indirect case row([(ValueTerm, Comparison)], among: [ValueTerm])
    /// Whether there is a member.
    indirect case exists(MemberRows)
    /// Whether a condition is true for any element of an array.
    indirect case anyElement(ArrayRows, ConditionTerm)
    indirect case text(ValueTerm, TextPlace, ValueTerm)
    indirect case search(FullTextSearch)
    /// Whether a row comes after another: by this sort key, or by the next sort keys where both rows have the same
    /// value.
    indirect case after(beyond: [ConditionTerm], same: ConditionTerm, next: ConditionTerm)

    /// A comparison, by an operator of `pg_catalog` or by one of a type's own, which is written with its schema.
    ///
    /// Types give it, so that none forgets its operators.
    struct Comparison: Sendable {
        enum Symbol: String, Sendable {
            case equal = "="
            case notEqual = "<>"
            case less = "<"
            case lessOrEqual = "<="
            case greater = ">"
            case greaterOrEqual = ">="
            case isDistinct = "IS DISTINCT FROM"
            case isNotDistinct = "IS NOT DISTINCT FROM"
            case same = "~="
            case contains = "@>"
            case like = "LIKE"
            case likeIgnoringCase = "ILIKE"
            case matches = "~"
            case matchesIgnoringCase = "~*"

            /// The symbol among the operators of types; nil for a phrase, and for operators that only built-in types
            /// have.
            fileprivate var ofTypes: TypeOperators.Symbol? {
                switch self {
                case .like: .like
                case .likeIgnoringCase: .likeIgnoringCase
                default: TypeOperators.Symbol(rawValue: rawValue)
                }
            }
        }

        let symbol: Symbol
        /// As SQL writes it.
        let text: String

        /// - Parameter operators: the operators of the values' type; nil for a built-in type.
        init(_ symbol: Symbol, of operators: TypeOperators?) {
            self.symbol = symbol
            text = operators.flatMap { operators in symbol.ofTypes.flatMap { operators[$0] } } ?? symbol.rawValue
        }

        /// Whether the operator is one of `pg_catalog`.
        var isBuiltIn: Bool { text == symbol.rawValue }
    }

    /// The place of a text in another.
    enum TextPlace: Sendable {
        case beginning, end, anywhere
    }

    /// The elements of an array as rows.
    struct ArrayRows: Sendable {
        let array: ValueTerm
        let alias: Int
        /// Whether elements may be rows, which a function in FROM would expand to their fields.
        let mayHoldRows: Bool
    }

    struct FullTextSearch: Sendable {
        let text: ValueTerm
        /// Whether the text is a stored vector.
        let isVector: Bool
        /// The name of the configuration; nil for the server's default.
        let configuration: String?
        let pattern: Parameter
    }
}

/// A resolved condition, with the facts that its negation needs.
struct ResolvedTerm: Sendable {
    var term: ConditionTerm
    /// Whether it is never NULL.
    var isTwoValued = false

    static let always = ResolvedTerm(term: .always, isTwoValued: true)
    static let never = ResolvedTerm(term: .never, isTwoValued: true)

    /// The conjunction.
    static func all(_ terms: [ResolvedTerm]) -> ResolvedTerm {
        guard let first = terms.first else { return .always }
        if terms.count == 1 { return first }
        return ResolvedTerm(term: .all(terms.map(\.term)), isTwoValued: terms.allSatisfy(\.isTwoValued))
    }

    /// The exact complement.
    var negation: ResolvedTerm {
        ResolvedTerm(term: isTwoValued ? .not(term) : .isNotTrue(term), isTwoValued: true)
    }
}
