public import KindredPostgres
import Synchronization

// Contexts whose statements run with settings of their own, such as a tenant's, and with a role.
extension Database {
    /// Makes a unit of work whose statements run with settings, and with a role; cheap, and sends nothing.
    ///
    /// ```swift
    /// let context = try database.makeContext(settings: ["app.organization": organization])
    /// let tasks = try await context.fetch("task").all()   // a policy compares with current_setting('app.organization')
    /// ```
    ///
    /// A single statement has `SELECT set_config($1, $2, true)` in front of it, in the same round trip and in the same implicit
    /// transaction; a transaction has it behind its BEGIN. It counts neither as a statement nor towards
    /// `withStatementLimit`, and observers do not see it. With the statement or the transaction its values are gone, behind a
    /// transaction pooler too. PostgreSQL then leaves a custom setting in the session as an empty text, so that policies have to
    /// say `nullif(current_setting('app.organization', true), '')`.
    ///
    /// Where Citus distributes tables, the settings are made by SET LOCAL too, which it passes on to its workers, and a single
    /// statement stands between BEGIN and COMMIT, in the same round trip: see <doc:OtherEngines>.
    ///
    /// Nothing is shared with contexts that have other settings, or another role. One transaction has the settings of
    /// one context: a statement of a context with other settings throws `PostgresError` `.settingsDiffer` before it is
    /// sent. The program's own SQL in such a transaction runs with the settings.
    ///
    /// Live requests and contexts that follow changes are asked with the settings, too: they show the rows that the
    /// role and the policies let them see, and share nothing with requests and contexts that have other settings. Each
    /// step of the one reader of changes has a savepoint for each distinct set of settings that asks anything in it:
    /// one round trip more, for its end. Every ten seconds each set of live requests asks one statement, to look for
    /// changed policies. `changes(of:)` throws `KindredError` `.invalidRequest`: it has the keys of all rows, which no
    /// policy hides.
    ///
    /// - Parameters:
    ///   - settings: the values by name: custom settings, such as `app.organization`, and settings of PostgreSQL that the
    ///     role may set, such as `statement_timeout`. A value becomes text as the server prints it.
    ///   - role: the role as which the statements run; the connection's has to be a member of it. nil is the connection's.
    ///   - loading: the effect of the first access to a relationship.
    ///   - tracking: whether the context follows committed changes; see ``DatabaseContext/Tracking``.
    ///   - reading: the servers that answer its reads; see ``DatabaseContext/Reading``.
    ///   - position: the least position of its reads: the ``DatabaseContext/position`` of an earlier request.
    /// - Throws: `PostgresError` `.invalidParameter` for NULL and for a NUL character in a value; `.settingsRefused`,
    ///   as a mistake in the program, for names and a role that PostgreSQL does not take, and for settings on which
    ///   values, names or transactions depend: `search_path`, `DateStyle`, `IntervalStyle`, `TimeZone`, `bytea_output`,
    ///   `extra_float_digits`, `client_encoding`, `standard_conforming_strings`, `array_nulls`,
    ///   `transform_null_equals`, `lc_monetary`, `xmlbinary`, `xmloption`, `transaction_isolation`,
    ///   `transaction_read_only`, `transaction_deferrable`; `KindredError` `.missingSettings` if the database requires
    ///   more, `.invalidRequest` for a context that tracks with `transaction_timeout` or
    ///   `idle_in_transaction_session_timeout`. A role or setting that the server does not know is `.settingsRefused`
    ///   with the first statement.
    public func makeContext(
        settings: [String: any PostgresEncodable], role: String? = nil, loading: RelationshipLoading = .batch,
        tracking: DatabaseContext.Tracking = .none, reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil
    ) throws -> DatabaseContext {
        try makeContext(
            try checked(try texts(of: settings), role: role), try model.withLock { $0 }.model(for: role),
            loading: loading, tracking: tracking, reading: reading, after: position)
    }

    /// Makes a context with settings for the duration of `body`, and discards unsaved changes at the end, also if `body` throws.
    ///
    /// ```swift
    /// try await database.withContext(settings: ["app.organization": organization]) { context in
    ///     let tasks = try await context.fetch("task").all()
    /// }
    /// ```
    ///
    /// As ``makeContext(settings:role:loading:tracking:reading:after:)``, and as ``withContext(loading:tracking:reading:after:_:)`` at its end. Sends nothing
    /// itself.
    public func withContext<T>(
        settings: [String: any PostgresEncodable], role: String? = nil, loading: RelationshipLoading = .batch,
        tracking: DatabaseContext.Tracking = .none, reading: DatabaseContext.Reading = .primary,
        after position: DatabasePosition? = nil, _ body: (DatabaseContext) async throws -> T
    ) async throws -> T {
        let context = try makeContext(
            settings: settings, role: role, loading: loading, tracking: tracking, reading: reading, after: position)
        defer { context.core.rollback() }
        return try await body(context)
    }

    /// Makes a context whose statements run with checked settings.
    ///
    /// - Parameter tenant: the tenant whose rows alone it reads and writes; nil if rows have none for it.
    func makeContext(
        _ session: SessionSettings, _ model: SchemaRuntime, of tenant: ContextTenant? = nil,
        loading: RelationshipLoading, tracking: DatabaseContext.Tracking, reading: DatabaseContext.Reading,
        after position: DatabasePosition?
    ) throws -> DatabaseContext {
        let own: SessionSettings = session.isEmpty ? .none : session
        if tracking != .none { try own.requireFollowable() }
        let reads = route(reading, after: position)
        return ContextCore(
            database: self, model: model, client: contextClient(with: own, reads, of: tenant), reads: reads,
            tenant: tenant, loading: loading,
            following: tracking.feed.map { ChangeFollowing($0(self, own)) }
        ).context
    }

    /// The values of settings as the server prints them.
    func texts(of settings: [String: any PostgresEncodable]) throws -> [ServerText: String] {
        let texts = try settings.map { name, value in
            guard let value = try value.postgresValue else {
                throw PostgresError(.invalidParameter, "The setting \(name) of a context has no value")
            }
            return (ServerText(name), value.description)
        }
        return Dictionary(uniqueKeysWithValues: texts)
    }

    /// Checks the settings of a context, and that none is missing that the database requires.
    func checked(_ texts: [ServerText: String], role: String?) throws -> SessionSettings {
        let session = try SessionSettings(texts, role: role, isDistributed: runtime.isDistributed)
        let missing = session.missing(among: requiredSettings)
        guard missing.isEmpty else { throw KindredError(missingSettings: missing) }
        return session
    }
}

extension ContextCore {
    /// Throws for a context with settings: changes have the keys of all rows, which no policy hides.
    package func requireNoSettings(for what: String) throws {
        try client.requireSettings()
        guard client.hasSettings else { return }
        throw KindredError(
            .invalidRequest,
            """
            A context with settings or a role has no \(what), which tells the keys of rows that it may not see: make one without \
            them, or follow requests by live()
            """)
    }

    /// The settings that its statements run with.
    package var settings: SessionSettings { client.settings ?? .none }
}

extension SessionSettings {
    /// Throws for settings that may end the session in which the questions of all contexts are asked.
    package func requireFollowable() throws {
        let names = fatalOnes
        if names.isEmpty { return }
        throw KindredError(
            .invalidRequest,
            "A context with \(names.joined(separator: ", ")) follows no changes: its questions share a session with others'"
        )
    }
}
