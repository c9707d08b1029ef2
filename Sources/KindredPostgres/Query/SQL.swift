/// Raw SQL whose interpolated values are bound as parameters, never spliced into the text.
///
/// ```swift
/// let rows = try await client.query("SELECT name FROM person WHERE id = \(id)")
/// // SELECT name FROM person WHERE id = $1
/// ```
///
/// `\(identifier: name)` quotes a name, and `\(sql)` takes over another `SQL` with its parameters. A literal is known when
/// the program is compiled: text that was made while it ran has to say so with `\(unsafeRaw: text)`.
///
/// An array is one parameter: `WHERE id = ANY(\(ids))`. Strings go without a type, so that the server infers it from
/// where they stand; `\(name)::text` says it where it cannot. A value inside quotes, and a `$1` of your own beside
/// interpolations, are errors before anything is sent.
public struct SQL: Sendable {
    enum Piece: Sendable {
        case text(String)
        case parameter(PostgresValue?)
    }

    fileprivate var pieces: [Piece]
    /// The first interpolation that could not be taken; thrown when the statement is used, before it is sent.
    fileprivate var failure: PostgresError?

    /// SQL that was made while the program ran, without parameters.
    ///
    /// Nothing that anybody else chose may come here.
    public init(unsafeRaw text: String) {
        pieces = [.text(text)]
    }

    /// Joins two pieces of SQL, their parameters numbered through.
    public static func + (left: SQL, right: SQL) -> SQL {
        var sum = left
        sum.pieces += right.pieces
        sum.failure = left.failure ?? right.failure
        return sum
    }

    /// The text with `$1`, `$2`, … in the parameters' places.
    public var text: String {
        var text = ""
        var count = 0
        for piece in pieces {
            switch piece {
            case .text(let part): text += part
            case .parameter:
                count += 1
                text += "$\(count)"
            }
        }
        return text
    }

    /// The statement to send.
    ///
    /// Throws what an interpolation could not take.
    package func statement(types: TypeRegistry? = nil) throws -> Statement {
        if let failure { throw failure }
        var bindings = Bindings()
        for case .parameter(let value) in pieces { try bindings.append(value, types: types) }
        try checkPlaces(of: bindings.count)
        return Statement(text: StatementText(text), bindings: bindings)
    }

    /// Throws if a parameter stands where the server does not see it, or beside one that is numbered by hand.
    private func checkPlaces(of parameterCount: Int) throws {
        var scanner = SQLScanner()
        var hasNumbered = false
        for piece in pieces {
            guard case .text(let part) = piece else {
                guard let reason = scanner.reasonAgainstParameter else { continue }
                throw PostgresError(.invalidParameter, reason, statement: text)
            }
            guard !part.utf8.contains(0) else {
                throw PostgresError(.invalidParameter, "A statement cannot hold a NUL character")
            }
            if scanner.scan(part) { hasNumbered = true }
        }
        if hasNumbered && parameterCount > 0 { throw Self.numberedParameter.of(statement: text) }
    }

    private static let numberedParameter = PostgresError(
        .invalidParameter,
        "The text of a statement holds a numbered parameter beside interpolated ones; interpolate its value too"
    )
}

extension SQL: ExpressibleByStringInterpolation {
    /// SQL without parameters.
    public init(stringLiteral text: StaticString) {
        pieces = [.text(text.description)]
    }

    /// SQL with the values of its interpolations bound.
    public init(stringInterpolation: StringInterpolation) {
        pieces = stringInterpolation.pieces
        failure = stringInterpolation.failure
    }

    /// Collects text and values.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var pieces: [Piece] = []
        fileprivate var failure: PostgresError?

        /// Begins with nothing.
        public init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(2 * interpolationCount + 1)
        }

        /// Takes over a piece of the text.
        public mutating func appendLiteral(_ literal: StaticString) {
            pieces.append(.text(literal.description))
        }

        /// Binds a value.
        public mutating func appendInterpolation(_ value: some PostgresEncodable) {
            take { .parameter(try value.postgresValue) }
        }

        /// Binds a value, or NULL.
        public mutating func appendInterpolation(_ value: (some PostgresEncodable)?) {
            take { .parameter(try value?.postgresValue) }
        }

        /// Takes over other SQL with its parameters.
        public mutating func appendInterpolation(_ sql: SQL) {
            pieces += sql.pieces
            failure = failure ?? sql.failure
        }

        /// Quotes a name: `\(identifier: "person")` is `"person"`.
        public mutating func appendInterpolation(identifier name: String) {
            take { .text(try SQLIdentifier.quote(name)) }
        }

        /// Takes text over as it is.
        ///
        /// Nothing that anybody else chose may come here.
        public mutating func appendInterpolation(unsafeRaw text: String) {
            pieces.append(.text(text))
        }

        private mutating func take(_ piece: () throws -> Piece) {
            do {
                pieces.append(try piece())
            } catch {
                failure =
                    failure ?? error as? PostgresError
                    ?? PostgresError(.invalidParameter, "A value in a statement could not be encoded")
            }
        }
    }
}

extension SQL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The text, without the values.
    public var description: String { text }

    /// The text, without the values.
    public var debugDescription: String { text }

    /// Shows the text only.
    public var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
