/// The text of a statement, shared by its executions so that the look-up of a prepared statement compares pointers.
package final class StatementText: Sendable, Hashable {
    package let text: String
    /// The statement's side effects.
    package let effect: Effect
    /// Whether it is sent once only and not prepared; it would evict other statements from the cache.
    package let isOneTime: Bool
    /// Whether it is SQL of the program, which may change the session, or leaves something there by itself: the session is
    /// put back before another task uses it.
    package let mayChangeSession: Bool
    /// Whether the session may lack prepared statements afterwards, as far as the text tells; of SQL of the program only.
    let mayDeallocate: Bool
    private let precomputedHash: Int

    package init(_ text: String, mayChangeSession: Bool = false) {
        self.text = text
        precomputedHash = text.hashValue
        effect = Self.effect(of: text)
        isOneTime = false
        self.mayChangeSession = mayChangeSession
        mayDeallocate = mayChangeSession && Self.mayDeallocate(text, effect)
    }

    /// A text that is not sent again, or not on the same connection.
    package init(oneTime text: String, effect: Effect, mayChangeSession: Bool = false) {
        self.text = text
        precomputedHash = text.hashValue
        self.effect = effect
        isOneTime = true
        self.mayChangeSession = mayChangeSession
        mayDeallocate = mayChangeSession && Self.mayDeallocate(text, effect)
    }

    package static func == (left: StatementText, right: StatementText) -> Bool {
        left === right || left.precomputedHash == right.precomputedHash && left.text == right.text
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(precomputedHash)
    }
}

extension StatementText: CustomReflectable {
    /// Shows the text alone.
    package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}

extension StatementText {
    private static let operators: [Substring] = ["=", "<>", ">=", ">", "&", ">>", "!~~", "~~"]

    /// A statement about the catalog, independent of the search path.
    ///
    /// Operators between spaces are qualified with `pg_catalog`. Functions and types need their schema in the text, and
    /// phrases that stand for operators are to be avoided: IN, LIKE, BETWEEN, IS DISTINCT FROM, CASE with a value.
    package convenience init(catalog sql: String) {
        let words = sql.split(separator: " ", omittingEmptySubsequences: false).map { word in
            Self.operators.contains(word) ? "OPERATOR(pg_catalog.\(word))" : word
        }
        self.init(words.joined(separator: " "))
    }
}

/// A statement ready to send: text, bound parameters, and result format.
package struct Statement: Sendable {
    package var text: StatementText
    package var bindings: Bindings
    /// nil lets the connection choose once it knows the columns: binary, or text if a column's type has no codec.
    package var resultFormat: PostgresFormat?

    package init(text: StatementText, bindings: Bindings = Bindings(), resultFormat: PostgresFormat? = nil) {
        self.text = text
        self.bindings = bindings
        self.resultFormat = resultFormat
    }
}

extension Statement: CustomStringConvertible {
    /// The text without the parameters' values.
    package var description: String { text.text }
}

extension Bindings: CustomStringConvertible, CustomReflectable {
    /// The number and size of the parameters, without values.
    package var description: String { "\(count) parameters of \(totalBytes) bytes" }

    /// Shows the types only.
    package var customMirror: Mirror { Mirror(self, children: ["types": slots.map(\.type.description)]) }
}
