public import Kindred
public import KindredPostgres
import KindredSchema
import KindredTrackingScript
import Synchronization

extension Tracking {
    /// Uses a client of the database, which may be without a model.
    ///
    /// Functions in the schema `kindred` run with the rights of the caller. So every call refuses (`.accessDenied`) a
    /// schema or object there that belongs neither to the caller nor to a superuser nor to the named role, before
    /// anything there is used. A superuser uses only objects that superusers have made.
    ///
    /// - Parameters:
    ///   - client: the database's client.
    ///   - owner: the role that has installed change tracking, if it is another role that the caller trusts.
    public init(_ client: PostgresClient, owner: String? = nil) {
        self.init(client: client, database: nil, owner: owner)
    }

    /// The script of ``install(readers:retention:longestHold:)``, for people to read.
    ///
    /// The rights of readers and the retention are set by calls behind it.
    public static var installationScript: String { TrackingScript.install }

    /// The statements of ``uninstall()``.
    public static var uninstallationScript: String { TrackingScript.uninstall }

    // MARK: Installing

    /// Installs the helper schema, or upgrades an older version in place; does nothing if it is there already.
    ///
    /// One transaction. An upgrade keeps tracked tables, records, cursors and consumers, and waits for no writer. The
    /// role has to own the schema `kindred`, or be allowed to create it. A superuser gets event triggers too, so that
    /// new partitions and tables that are made anew are tracked at once. A superuser that names an ordinary role as the
    /// owner makes only event triggers, in a schema of its own, which readers look at every ten seconds.
    ///
    /// - Parameters:
    ///   - readers: roles that may read changes, besides the installing role; of each table only the changes that their
    ///     own privileges and policies allow.
    ///   - retention: how long a change can be read after its commit; an hour unless it was set before.
    ///   - longestHold: how long any consumer may have records wait for it; 30 days unless it was set before. Consumers that have
    ///     asked for longer are named by ``Tracking/Status/cutConsumers``.
    /// - Throws: `KindredError` `.trackingVersion` if a newer version is installed, which changes nothing;
    ///   `.unsupported` if the server lacks a feature that it needs, such as advisory locks; `.invalidRequest` for a
    ///   retention of less than a second; `PostgresError`.
    public func install(
        readers: [String] = [], retention: Duration? = nil, longestHold: Duration? = nil
    ) async throws {
        if let retention, retention < .seconds(1) {
            throw KindredError(.invalidRequest, "The retention is a second at least")
        }
        if let longestHold, longestHold < .seconds(1) {
            throw KindredError(.invalidRequest, "The longest hold is a second at least")
        }
        if let owner, try await isSuperuser() {
            return try await change(ownSchema: false) { try await run(TrackingScript.installEvents, owner: owner) }
        }
        try await change {
            try await run(TrackingScript.install, owner: owner)
            if let retention {
                try await client.query(TrackingStatements.setRetention(seconds: retention / .seconds(1)))
            }
            if let longestHold {
                try await client.query(TrackingStatements.setLongestHold(seconds: longestHold / .seconds(1)))
            }
            for role in readers { try await client.query(TrackingStatements.grant(role)) }
        }
    }

    /// Takes the helper schema, its triggers and all records away, in one transaction; the history of migrations stays.
    ///
    /// Does nothing if it is not installed.
    ///
    /// - Throws: `PostgresError`, as where a table is in use for longer than five seconds.
    public func uninstall() async throws {
        if owner != nil, try await isSuperuser() {
            return try await change(ownSchema: false) { try await run(TrackingScript.uninstallEvents) }
        }
        try await change { try await run(TrackingScript.uninstall) }
    }

    /// Empties the outbox, as before a dump: readers that go on later are told that they have missed changes.
    ///
    /// - Throws: `KindredError` `.trackingNotInstalled`, `.trackingVersion`; `PostgresError`.
    public func prune() async throws {
        try await change {
            try await check()
            try await client.query(TrackingStatements.prune)
        }
    }

    // MARK: Tables

    /// Records changes of tables from now on, with their partitions and with the tables that inherit from them.
    ///
    /// One transaction, which locks out writers of these tables for a moment, and gives up after five seconds of
    /// waiting for them. Triggers that are in place already stay.
    ///
    /// - Parameter names: names of entities, such as `person` or `public.person`.
    /// - Throws: `KindredError` `.untrackable` with the reason, such as a foreign table; `.unsupported` if the server has no
    ///   statement triggers with transition tables, and for a table that Citus distributes; `.unknownEntity`,
    ///   `.trackingNotInstalled`, `.trackingVersion`; `PostgresError`.
    public func enable(_ names: String...) async throws {
        try await enable(names)
    }

    /// Records changes of tables from now on.
    public func enable(_ names: [String]) async throws {
        try await change(names, by: TrackingStatements.enable) { try $0.requireRecordable() }
    }

    /// Ends the recording of changes of tables; a table that was dropped is forgotten by the name that it had.
    ///
    /// One transaction.
    ///
    /// - Throws: `KindredError` `.unknownEntity`, `.trackingNotInstalled`, `.trackingVersion`; `PostgresError`.
    public func disable(_ names: String...) async throws {
        try await disable(names)
    }

    /// Ends the recording of changes of tables.
    public func disable(_ names: [String]) async throws {
        let schema = try await SchemaReader.readDiagnosed(from: client).schema
        let dropped = try await status()?.tables.filter { $0.fault == "dropped" }.map(\.name) ?? []
        let statements = try names.flatMap { name in
            let meant = schema.interpretations(of: name).first { schema[$0] != nil || dropped.contains($0) }
            guard let meant, dropped.contains(meant) else {
                return [TrackingStatements.disable(try schema.table(named: name).name)]
            }
            // Another table may have the name by now.
            let present = schema[meant] == nil ? [] : [TrackingStatements.disable(meant)]
            return [TrackingStatements.forget(meant)] + present
        }
        try await change {
            try await check()
            for statement in statements { try await client.query(statement) }
        }
    }

    /// The statements that ``enable(_:)-([String])`` would run; none where all is in place.
    ///
    /// Changes nothing. Does not check whether a table can be tracked, for which `enable` throws.
    ///
    /// - Throws: `KindredError` `.unknownEntity`, `.trackingNotInstalled`, `.trackingVersion`; `PostgresError`.
    public func statements(toEnable names: [String]) async throws -> [String] {
        try await statements(for: names, TrackingStatements.statements(toEnable:))
    }

    /// The statements that ``disable(_:)-([String])`` would run; none where nothing is recorded.
    ///
    /// Changes nothing.
    ///
    /// - Throws: `KindredError` `.unknownEntity`, `.trackingNotInstalled`, `.trackingVersion`; `PostgresError`.
    public func statements(toDisable names: [String]) async throws -> [String] {
        try await statements(for: names, TrackingStatements.statements(toDisable:))
    }

    private func statements(for names: [String], _ question: (QualifiedName) -> SQL) async throws -> [String] {
        let tables = try await tables(named: names)
        try await requireOwn()
        try await check()
        var statements: [String] = []
        for table in tables {
            for row in try await client.query(question(table)) {
                if let text = try row.decode(0, as: String.self), !statements.contains(text) { statements.append(text) }
            }
        }
        return statements
    }

    // MARK: Status

    /// The installed version and the tracked tables that the role may know of; nil if nothing is installed.
    ///
    /// Four statements. Older versions have a status, too, and so do newer versions that this library can use.
    ///
    /// - Throws: `KindredError` `.accessDenied`, `.trackingVersion`; `PostgresError`.
    public func status() async throws -> Tracking.Status? {
        guard try await isInstalled() else { return nil }
        try await requireOwn()
        return try await KindredError.tracking(client) {
            let rows = try await client.query(TrackingStatements.status)
            guard let row = rows.first else { return nil }
            let tables = try await client.query(TrackingStatements.tables).map { try Tracking.Status.Table($0) }
            return try Tracking.Status(row, tables: tables)
        }
    }

    // MARK: Consumers

    /// Forgets a consumer and its cursor: records wait for it no longer; false if there is no such consumer.
    ///
    /// Two statements. Throws `KindredError` `.trackingNotInstalled`, `.accessDenied` for a consumer of another role
    /// unless the caller has the installer's rights; `PostgresError`.
    @discardableResult
    public func dropConsumer(_ name: String) async throws -> Bool {
        try await requireOwn()
        return try await KindredError.tracking(client) {
            try await client.query(TrackingStatements.forget(consumer: name)).first?.decode(0, as: Bool.self) ?? false
        }
    }

    /// Hands a consumer to another role, whose members may go on with it from then on; false if there is no such consumer.
    ///
    /// Two statements, for the role that installed change tracking. Throws `KindredError` `.trackingNotInstalled`,
    /// `.accessDenied`; `PostgresError`, as for a role that is not there.
    @discardableResult
    public func giveConsumer(_ name: String, to role: String) async throws -> Bool {
        try await requireOwn()
        return try await KindredError.tracking(client) {
            try await client.query(TrackingStatements.give(consumer: name, to: role)).first?.decode(0, as: Bool.self)
                ?? false
        }
    }

    /// Counters of the followers of changes in this process; all are 0 for a client without a model.
    public var metrics: Tracking.Metrics { database?.trackingMetrics ?? Tracking.Metrics() }

    // MARK: Parts

    static var notInstalled: String {
        "Change tracking is not installed: run `kindred install`, or call database.tracking.install()"
    }

    private func isInstalled() async throws -> Bool {
        try await client.query(TrackingStatements.isInstalled).first?.decode(0, as: Bool.self) ?? false
    }

    private func isSuperuser() async throws -> Bool {
        try await client.query(TrackingStatements.isSuperuser).first?.decode(0, as: Bool.self) ?? false
    }

    private func requireOwn() async throws { try await Self.requireOwn(client, owner) }

    /// Throws unless everything in the helper schema belongs to the caller, a superuser or the named role.
    static func requireOwn(_ client: PostgresClient, _ owner: String?) async throws {
        let question = HelperSchema.foreignObject(in: "kindred", like: #"tracking\_%"#, owner: owner)
        guard let problem = try await client.query(question).first?.decode(0, as: String.self) else { return }
        throw KindredError(.accessDenied, "\(problem). \(HelperSchema.remedy)")
    }

    /// Throws unless this library and the installed version understand each other.
    private func check() async throws {
        guard try await isInstalled() else {
            throw KindredError(.trackingNotInstalled, Self.notInstalled)
        }
        guard let row = try await client.query(TrackingStatements.version).first else { return }
        try Self.requireCompatible(row, at: 0)
    }

    private func tables(
        named names: [String], _ check: (Entity) throws -> Void = { _ in }
    ) async throws -> [QualifiedName] {
        let schema = try await SchemaReader.readDiagnosed(from: client).schema
        return try names.map { name in
            let entity = try schema.table(named: name)
            try check(entity)
            return entity.name
        }
    }

    /// Runs a statement for each of some tables, in one transaction.
    ///
    /// - Parameter check: throws for a table that cannot be changed, before anything is sent.
    private func change(
        _ names: [String], by statement: (QualifiedName) -> SQL, _ check: (Entity) throws -> Void = { _ in }
    ) async throws {
        let tables = try await tables(named: names, check)
        try await change {
            try await self.check()
            for table in tables { try await client.query(statement(table)) }
        }
    }

    /// - Parameter owner: a role that is named behind the first statement, which makes the settings of the others.
    private func run(_ script: String, owner: String? = nil) async throws {
        for (index, statement) in SQLScanner.statements(in: script).enumerated() {
            try await client.execute(
                Statement(text: StatementText(oneTime: statement.text, effect: .lasting), resultFormat: .text))
            if index == 0, let owner { try await client.query(TrackingStatements.setOwner(owner)) }
        }
    }

    /// Runs a change of the schema in a transaction, again if a writer of its tables ends it by a deadlock, and names its refusals.
    ///
    /// Of READ COMMITTED, whatever the server's default is, so that it sees objects that another session has made while
    /// it waited.
    ///
    /// - Parameter ownSchema: whether `body` uses the helper schema; then the caller's right to use it is checked.
    private func change(ownSchema: Bool = true, _ body: () async throws -> Void) async throws {
        do {
            try await client.withTransaction(isolation: .readCommitted, retry: .attempts(4)) { _ in
                try await client.query(TrackingStatements.lockTimeout)
                if ownSchema { try await requireOwn() }
                try await body()
            }
        } catch let error as PostgresError {
            switch error.sqlState?.rawValue {
            case "KT001":
                throw KindredError(.trackingVersion, error.server?.message ?? error.message, underlying: error)
            case "KT005":
                throw KindredError(.accessDenied, error.server?.message ?? error.message, underlying: error)
            case "KT002":
                throw KindredError(.untrackable, error.server?.message ?? error.message, underlying: error)
            default: throw KindredError(trackingNeeds: error) ?? error
            }
        }
    }
}

extension DatabaseSchema {
    /// The entity of a name; throws `KindredError` `.unknownEntity`.
    fileprivate func table(named name: String) throws -> Entity {
        do {
            return try entity(named: name)
        } catch let error as SchemaError {
            throw KindredError(.unknownEntity, error.message, entity: name)
        }
    }
}

extension Database {
    /// Change tracking: installing it, and choosing the tables whose changes are recorded.
    public var tracking: Tracking { Tracking(client: client, database: self, owner: live.owner) }
}

extension Database {
    /// Throws `KindredError` `.accessDenied` unless the program may use the helper schema; asks once.
    func requireHelperSchema() async throws {
        if live.isHelperKnown.withLock({ $0 }) { return }
        try await Tracking.requireOwn(client, live.owner)
        live.isHelperKnown.withLock { $0 = true }
    }
}
