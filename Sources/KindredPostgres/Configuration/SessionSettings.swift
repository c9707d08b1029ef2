/// The settings and the role that some statements run with, such as a tenant's.
///
/// They are made by `set_config(…, true)`, which ends with its transaction: nothing of their values stays in the session. A
/// statement outside of transactions has them in front of it, under the same Sync and so in the same round trip; a
/// transaction makes them behind its BEGIN, and again where the rollback of a savepoint has taken them back.
///
/// Citus does not pass such settings on to its workers. With Citus a second statement makes them by SET LOCAL, between
/// BEGIN and COMMIT even for a single statement.
///
/// They are no statements of the program: neither observers nor limits of statements see them.
package final class SessionSettings: Sendable {
    /// The values by setting, the role among them; names of settings ignore case.
    private let values: [ServerText: ServerText]
    /// Makes the settings, a tenant's search path among them; nil if there are none.
    let statement: Statement?
    /// Passes them on to the workers of Citus, behind ``statement``; nil elsewhere.
    let passing: Statement?
    /// Makes the settings without a tenant's search path; nil if there are none.
    private let statementWithoutPath: Statement?
    /// The tenant whose tables the statements name; nil if they name them as they are.
    package let schema: TenantSchema?
    /// The reason why nothing may be sent; nil if there is none.
    let refusal: (any Error)?

    /// No settings, and the role of the connection.
    package static let none = SessionSettings(values: [:], statement: nil, refusal: nil)

    private init(
        values: [ServerText: ServerText], statement: Statement?, refusal: (any Error)?, schema: TenantSchema? = nil,
        withoutPath: Statement? = nil, passing: Statement? = nil
    ) {
        self.values = values
        self.passing = passing
        self.statement = statement
        self.refusal = refusal
        self.schema = schema
        statementWithoutPath = schema == nil ? statement : withoutPath
    }

    /// The settings of a context that may send nothing, with the reason.
    package static func refused(_ reason: any Error) -> SessionSettings {
        SessionSettings(values: [:], statement: nil, refusal: reason)
    }

    /// Checks the names and values of settings.
    ///
    /// Throws `PostgresError` `.settingsRefused` for names of settings and a role that PostgreSQL could not take, and for settings
    /// on which the decoding of values, the names in statements or transactions rest: the program wrote them. Throws
    /// `.invalidParameter` for a value, which may come from a client.
    ///
    /// - Parameter isDistributed: whether Citus distributes tables of the database, so that its workers need the settings.
    package convenience init(_ settings: [ServerText: String], role: String? = nil, isDistributed: Bool = false) throws
    {
        var values: [ServerText: ServerText] = [:]
        for (setting, value) in settings {
            let name = setting.text
            try Self.check(name, value)
            if isDistributed { try Self.checkPassing(name) }
            guard values.updateValue(ServerText(value), forKey: name.foldedName) == nil else {
                throw Self.invalid("The setting \(name) is given twice: names ignore case")
            }
        }
        if let role {
            try Self.check(role: role)
            values[Self.role] = ServerText(role)
        }
        let isPassedOn = isDistributed && !settings.isEmpty
        self.init(
            values: values, statement: try Self.statement(values, isPassedOn: isPassedOn), refusal: nil,
            passing: isPassedOn ? Self.passing : nil)
    }

    /// The same settings for a tenant with a schema of its own.
    ///
    /// Transactions run with the schema in front of the search path. A statement outside of transactions has the schema
    /// in front only if it needs it.
    package func of(_ schema: TenantSchema) throws -> SessionSettings {
        var values = values
        values[Self.path] = ServerText(schema.path)
        return SessionSettings(
            values: values, statement: try Self.statement(values, isPassedOn: passing != nil), refusal: refusal,
            schema: schema, withoutPath: statement, passing: passing)
    }

    /// Make the settings; none if there are none.
    var statements: [Statement] {
        guard let statement else { return [] }
        return passing.map { [statement, $0] } ?? [statement]
    }

    /// Make the settings for statements outside of transactions; none if they need none.
    func statements(for others: [Statement]) -> [Statement] {
        if schema?.needsPath(others) != false { return statements }
        guard let statementWithoutPath else { return [] }
        return passing.map { [statementWithoutPath, $0] } ?? [statementWithoutPath]
    }

    /// Whether statements run like the program's own SQL.
    package var isEmpty: Bool { statement == nil && refusal == nil }

    /// The names and values, in an order that is always the same; `role` stands for the role.
    package var sortedValues: [(name: String, value: String)] {
        values.sorted { $0.key < $1.key }.map { ($0.key.text, $0.value.text) }
    }

    /// The names among some that are not set; `role` stands for the role.
    package func missing(among names: [String]) -> [String] {
        names.filter { values[$0.foldedName] == nil }
    }

    /// The statement for some settings: the role comes last, as it may have no right to the others.
    private static func statement(_ values: [ServerText: ServerText], isPassedOn: Bool = false) throws -> Statement? {
        guard !values.isEmpty else { return nil }
        var values = values
        if isPassedOn {
            // The path stays here: the workers get statements with the schemas of their tables.
            let names = values.keys.map(\.text).filter { $0 != role && $0 != path }
            values[passedOn] = ServerText(names.sorted().joined(separator: ","))
            values["citus.propagate_set_commands"] = "local"
        }
        var bindings = Bindings()
        let isRole = { (name: ServerText) in name.text == role ? 1 : 0 }
        for (name, value) in values.sorted(by: { (isRole($0.key), $0.key) < (isRole($1.key), $1.key) }) {
            try bindings.append(text: name.text)
            try bindings.append(text: value.text)
        }
        let text = values.count <= texts.count ? texts[values.count - 1] : text(for: values.count)
        return Statement(text: text, bindings: bindings, resultFormat: .binary)
    }

    /// The texts for up to four settings, shared so that a connection finds its prepared statement by comparing pointers.
    private static let texts = (1...4).map { text(for: $0) }

    private static func text(for count: Int) -> StatementText {
        let calls = (0..<count).map { "pg_catalog.set_config($\(2 * $0 + 1), $\(2 * $0 + 2), true)" }
        return StatementText("SELECT \(calls.joined(separator: ", "))")
    }
}

extension SessionSettings: Hashable {
    /// Equal settings may share a transaction; refused settings are equal to none.
    package static func == (left: SessionSettings, right: SessionSettings) -> Bool {
        left === right || left.refusal == nil && right.refusal == nil && left.values == right.values
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension SessionSettings: CustomStringConvertible {
    /// The names, without values.
    package var description: String { values.keys.sorted().texts.joined(separator: ", ") }
}

// The settings that may be set.
extension SessionSettings {
    private static let role = "role"
    private static let path = "search_path"

    /// Settings that have to stay as they are: by them values are decoded and encoded, names are found, and transactions run.
    private static let kept = Set<ServerText>(
        texts: PostgresConfiguration.fixedSettings.keys.map(\.foldedName) + [
            path, "client_encoding", "array_nulls", "transform_null_equals", "lc_monetary", "xmlbinary",
            "xmloption", "transaction_isolation", "transaction_read_only", "transaction_deferrable",
        ])

    /// The settings by which the server may end the session of a transaction, even while it runs questions with other
    /// settings.
    private static let fatal = ["idle_in_transaction_session_timeout", "transaction_timeout"]

    /// The names of its settings that may end a session in which questions with other settings are asked.
    package var fatalOnes: [String] { Self.fatal.filter { (name: String) in values[name] != nil }.sorted() }

    private static func check(_ name: String, _ value: String) throws {
        guard isName(name) else {
            throw invalid(
                "\(name) is no name of a setting: letters, digits, _ and $ in parts between points, as app.organization"
            )
        }
        guard !kept.contains(name.foldedName) else {
            throw invalid(
                """
                The setting \(name) cannot be that of a context: values, names or transactions of the library rest on it. \
                Set it in the configuration, for all sessions
                """)
        }
        guard ![role, "session_authorization"].contains(name.foldedName) else {
            throw invalid("\(name) is no setting of a context: give `role`")
        }
        guard !value.utf8.contains(0) else {
            throw PostgresError(.invalidParameter, "The value of the setting \(name) has a NUL character")
        }
    }

    private static func check(role name: String) throws {
        do {
            _ = try SQLIdentifier.quote(name)
        } catch {
            throw invalid("The role of a context has no valid name: it is empty, has a NUL, or is longer than 63 bytes")
        }
        // The word by which SET ROLE goes back to the role of the connection.
        guard name != "none" else {
            throw invalid("\"none\" is no role; leave the role out for that of the connection")
        }
    }

    /// Whether PostgreSQL takes a text for a setting's name.
    private static func isName(_ name: String) -> Bool {
        name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
            guard let first = part.utf8.first, isLetter(first) else { return false }
            return part.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "$") }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || (0x41...0x5a).contains(byte & ~0x20) || byte >= 0x80
    }

    static func invalid(_ message: String) -> PostgresError { PostgresError(.settingsRefused, message) }
}

extension PostgresError {
    /// The error of a statement with settings in a transaction with other settings.
    static var settingsDiffer: PostgresError {
        PostgresError(
            .settingsDiffer,
            """
            The transaction runs with the settings and the role of another context or of the program, so that it takes no \
            statement of this context: use one context in it, or a transaction for each
            """)
    }

    /// Whether it is that of the statement that makes the settings of a context.
    package var isOfSettings: Bool { statement?.hasPrefix("SELECT pg_catalog.set_config($1") == true }

    /// The error of a statement whose settings the server cannot make, which says nothing about the statement itself.
    ///
    /// nil for other reasons than the names and values of settings: their SQLSTATE counts as the statement's own.
    static func refusal(ofSettings error: PostgresError) -> PostgresError? {
        guard error.code == .server, let state = error.sqlState,
            state.class == .dataException || settingStates.contains(state)
        else { return nil }
        return PostgresError(
            .settingsRefused,
            """
            The server cannot make a setting or the role of the context (SQLSTATE \(state)); the statement was not executed: \
            look at the names and values that makeContext was given
            """,
            underlying: [error.description], mayHaveTakenEffect: false)
    }

    /// An unknown setting, an invalid name, and a setting that cannot be changed now.
    private static let settingStates: [SQLState] = [
        .undefinedObject, SQLState(rawValue: "42602"), SQLState(rawValue: "55P02"),
    ]
}
