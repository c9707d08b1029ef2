/// SQL text whose interpolated values are bound as parameters, never spliced into the text.
///
/// ```swift
/// let rows = try await client.query("SELECT name FROM person WHERE id = \(id)")
/// // SELECT name FROM person WHERE id = $1
/// ```
///
/// `\(identifier: name)` quotes a name; `\(sql)` inserts another `SQL` with its parameters. Literals are compile-time
/// text; text made at run time needs `\(unsafeRaw: text)`.
///
/// An array is one parameter: `WHERE id = ANY(\(ids))`. Strings are untyped, and the server infers the type; where it
/// cannot, write `\(name)::text`. A value inside quotes, or a `$1` beside interpolations, is an error before anything
/// is sent.
public struct SQL: Sendable {
    enum Piece: Sendable {
        case text(String)
        case parameter(PostgresValue?)
    }

    fileprivate var pieces: [Piece]
    /// The first invalid interpolation; thrown before the statement is sent.
    fileprivate var failure: PostgresError?

    /// SQL text made at run time, without parameters.
    ///
    /// Never pass text from outside.
    public init(unsafeRaw text: String) {
        pieces = [.text(text)]
    }

    /// Concatenates two pieces of SQL and renumbers their parameters.
    public static func + (left: SQL, right: SQL) -> SQL {
        var sum = left
        sum.pieces += right.pieces
        sum.failure = left.failure ?? right.failure
        return sum
    }

    /// The text with `$1`, `$2`, … for the parameters.
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
    /// Throws for an invalid interpolation.
    ///
    /// - Parameter isProgrammed: whether the program wrote it, and not this library.
    package func statement(types: TypeRegistry? = nil, isProgrammed: Bool = true) throws -> Statement {
        if let failure { throw failure }
        var bindings = Bindings()
        for case .parameter(let value) in pieces { try bindings.append(value, types: types) }
        try checkPlaces(of: bindings.count)
        return Statement(text: StatementText(text, mayChangeSession: isProgrammed), bindings: bindings)
    }

    /// Throws if a parameter is inside quotes or a comment, or beside a hand-numbered one.
    private func checkPlaces(of parameterCount: Int) throws {
        var scanner = SQLScanner()
        var hasNumbered = false
        for piece in pieces {
            guard case .text(let part) = piece else {
                guard let reason = scanner.reasonAgainstParameter else { continue }
                throw PostgresError(.invalidParameter, reason, statement: text)
            }
            guard part.withBytes({ $0.firstIndex(of: 0, from: 0) }) == nil else {
                throw PostgresError(.invalidParameter, "A statement cannot hold a NUL character")
            }
            if scanner.scan(part) { hasNumbered = true }
        }
        if hasNumbered && parameterCount > 0 { throw Self.numberedParameter.of(statement: text) }
    }

    private static let numberedParameter = PostgresError(
        .invalidParameter,
        "A statement mixes a numbered parameter with interpolated ones; interpolate its value too"
    )
}

extension SQL: ExpressibleByStringInterpolation {
    /// SQL without parameters.
    public init(stringLiteral text: StaticString) {
        pieces = [.text(text.description)]
    }

    /// SQL with its interpolated values bound.
    public init(stringInterpolation: StringInterpolation) {
        pieces = stringInterpolation.pieces
        failure = stringInterpolation.failure
    }

    /// Collects text and values.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var pieces: [Piece] = []
        fileprivate var failure: PostgresError?

        /// Begins empty.
        public init(literalCapacity: Int, interpolationCount: Int) {
            pieces.reserveCapacity(2 * interpolationCount + 1)
        }

        /// Appends a literal.
        public mutating func appendLiteral(_ literal: StaticString) {
            pieces.append(.text(literal.description))
        }

        /// Binds a value.
        public mutating func appendInterpolation(_ value: some PostgresEncodable) {
            append { .parameter(try value.postgresValue) }
        }

        /// Binds a value, or NULL.
        public mutating func appendInterpolation(_ value: (some PostgresEncodable)?) {
            append { .parameter(try value?.postgresValue) }
        }

        /// Inserts other SQL with its parameters.
        public mutating func appendInterpolation(_ sql: SQL) {
            pieces += sql.pieces
            failure = failure ?? sql.failure
        }

        /// Quotes a name: `\(identifier: "person")` is `"person"`.
        public mutating func appendInterpolation(identifier name: String) {
            append { .text(try SQLIdentifier.quote(name)) }
        }

        /// Inserts text unchanged.
        ///
        /// Never pass text from outside.
        public mutating func appendInterpolation(unsafeRaw text: String) {
            pieces.append(.text(text))
        }

        private mutating func append(_ piece: () throws -> Piece) {
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
    /// The text without the values.
    public var description: String { text }

    /// The text without the values.
    public var debugDescription: String { text }

    /// Shows the text only.
    public var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
