/// A unique constraint or index that the server checks row by row, so that the order of writes matters.
package struct UniqueCheck: Hashable, Sendable {
    package var columns: [String]
    /// Whether rows with NULL in one of the columns never conflict; false for `NULLS NOT DISTINCT`.
    package var areNullsDistinct = true
    /// The rows in a partial index; nil for all.
    package var predicate: RowPredicate?

    package init(columns: [String], areNullsDistinct: Bool = true, predicate: RowPredicate? = nil) {
        self.columns = columns
        self.areNullsDistinct = areNullsDistinct
        self.predicate = predicate
    }
}

/// The key columns of a partial unique index.
package struct PartialKey: Sendable {
    package let columns: [String]
    /// The condition of the index, as `pg_get_expr` writes it.
    package let predicate: String

    package init(columns: [String], predicate: String) {
        self.columns = columns
        self.predicate = predicate
    }
}

extension PartialKey: Equatable {
    /// Compares conditions as far as they can be evaluated in memory: their texts depend on the search path of the reading session.
    package static func == (left: PartialKey, right: PartialKey) -> Bool {
        left.columns == right.columns && RowPredicate(left.predicate) == RowPredicate(right.predicate)
    }
}

/// A UNIQUE or EXCLUDE constraint that is checked after each statement, unless `SET CONSTRAINTS` defers it by name.
package struct DeferrableConstraint: Hashable, Sendable {
    package let name: QualifiedName
    /// Empty if the constraint has expressions.
    package let columns: [String]
}

/// The condition of a partial index, as far as it can be evaluated in memory.
package struct RowPredicate: Hashable, Sendable {
    package enum Test: Hashable, Sendable {
        case isNull
        case isNotNull
        case isTrue
        case isFalse
        /// The text of a constant.
        case equals(String)
    }

    package struct Term: Hashable, Sendable {
        package let column: String
        package let test: Test

        package init(column: String, test: Test) {
            self.column = column
            self.test = test
        }
    }

    /// The terms that every row of the index satisfies; nil if the condition has anything else.
    package let terms: [Term]?

    /// Parses a condition as `pg_get_expr` writes it: comparisons of columns with NULL or a constant, and booleans, joined
    /// by AND.
    package init(_ text: String) {
        var reader = Reader(rest: text.unicodeScalars[...])
        terms = reader.terms()
    }

    private struct Reader {
        var rest: Substring.UnicodeScalarView

        mutating func terms() -> [Term]? {
            var terms: [Term] = []
            repeat {
                guard let term = term() else { return nil }
                terms.append(term)
            } while acceptWord("AND")
            skip()
            return rest.isEmpty ? terms : nil
        }

        private mutating func term() -> Term? {
            if acceptWord("NOT") {
                guard rest.drop(while: { $0 == " " }).first != "(" else { return nil }
                return name().map { Term(column: $0, test: .isFalse) }
            }
            guard let column = name() else { return nil }
            if acceptWord("IS") {
                let isNot = acceptWord("NOT")
                return acceptWord("NULL") ? Term(column: column, test: isNot ? .isNotNull : .isNull) : nil
            }
            skipCast()
            guard accept("=") else { return Term(column: column, test: .isTrue) }
            guard let constant = constant() else { return nil }
            skipCast()
            return Term(column: column, test: .equals(constant))
        }

        /// Parentheses have no effect between terms and ANDs.
        private mutating func skip() {
            rest = rest.drop { $0 == " " || $0 == "(" || $0 == ")" }
        }

        private mutating func accept(_ scalar: Unicode.Scalar) -> Bool {
            skip()
            guard rest.first == scalar else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func acceptWord(_ word: String) -> Bool {
            skip()
            guard rest.starts(with: word.unicodeScalars) else { return false }
            let behind = rest.dropFirst(word.unicodeScalars.count)
            if let next = behind.first, next.isPartOfName { return false }
            rest = behind
            return true
        }

        /// `::text`, `::"Order State"`, `::character varying`, `::pg_catalog.bpchar`.
        private mutating func skipCast() {
            skip()
            while rest.starts(with: "::".unicodeScalars) {
                rest = rest.dropFirst(2)
                repeat {
                    _ = name()
                    while rest.starts(with: " varying".unicodeScalars) || rest.starts(with: " precision".unicodeScalars)
                    {
                        rest = rest.dropFirst().drop(while: \.isPartOfName)
                    }
                } while rest.first == "." && rest.popFirst() != nil
                skip()
            }
        }

        private mutating func name() -> String? {
            skip()
            if rest.first == "\"" { return quoted("\"") }
            guard rest.first.map({ $0.isPartOfName && !("0"..."9").contains($0) }) == true else { return nil }
            let name = rest.prefix(while: \.isPartOfName)
            rest = rest[name.endIndex...]
            // Functions and keywords fail later: the text after them is not part of a term.
            return rest.first == "(" ? nil : String(name)
        }

        private mutating func constant() -> String? {
            skip()
            if rest.first == "'" { return quoted("'") }
            let number = rest.prefix { $0 == "-" || ("0"..."9").contains($0) }
            rest = rest[number.endIndex...]
            return number.isEmpty || rest.first == "." ? nil : String(number)
        }

        private mutating func quoted(_ quote: Unicode.Scalar) -> String? {
            rest.removeFirst()
            var text = String.UnicodeScalarView()
            while let next = rest.popFirst() {
                guard next == quote else {
                    text.append(next)
                    continue
                }
                guard rest.first == quote else { return String(text) }
                rest.removeFirst()
                text.append(quote)
            }
            return nil
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isPartOfName: Bool {
        properties.isAlphabetic || self == "_" || self == "$" || ("0"..."9").contains(self)
    }
}
