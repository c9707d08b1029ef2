public import KindredPostgres
public import KindredSchema
public import Logging

extension Database {
    /// Connects to the servers of a database, and reads the catalog from the primary in one round trip.
    ///
    /// ```swift
    /// let database = try await Database.connect(
    ///     primary: try PostgresConfiguration(uri: "postgres://app@db1/shop"),
    ///     replicas: [try PostgresConfiguration(uri: "postgres://app@db2/shop")])
    /// let context = database.makeContext(reading: .automatic)
    /// ```
    ///
    /// Each host of a configuration is a server, so that one URI may name them all. Roles are asked for: whichever server takes
    /// writes is the primary, also after a failover, and the others are read by contexts that allow it. Every 100 ms one statement
    /// asks each server for its role and its place in the log, over a connection of its own, until the database is closed. A server
    /// that does not answer is left out, and no request waits for it.
    ///
    /// - Parameters:
    ///   - primary: the server that takes writes, or all servers; its role, password and options are used for writing,
    ///     and its `replicaDelay` is the rule for reads where the engine tells no positions.
    ///   - replicas: further servers, each with the role and options for reading from it.
    ///   - classes: the typed classes of entities.
    ///   - overrides: annotations in code: names, keys, delete rules.
    ///   - names: the keys of relationships that the program knows; nil for no check.
    ///   - tracking: how changes of other processes are noticed, where a program follows them.
    ///   - requiredSettings: the settings that every context must be given; `role` stands for the role.
    ///   - tenants: how tenants with tables of their own are kept apart; nil without any.
    ///   - logger: receives statements at trace level, without values, at debug level where each read goes and why, and the changes
    ///     of roles.
    ///   - fileID: the file of the call, for errors and observers.
    ///   - line: the line of the call.
    /// - Throws: as `connect` with one configuration does; nothing for a replica that does not answer.
    public static func connect(
        primary: PostgresConfiguration,
        replicas: [PostgresConfiguration] = [],
        classes: [any TypedObject.Type] = [],
        overrides: [SchemaOverride] = [],
        names: RelationshipNames? = nil,
        tracking: Tracking.Options = Tracking.Options(),
        requiredSettings: [String] = [],
        tenants: Tenants? = nil,
        logger: Logger? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) async throws -> Database {
        let servers = ([primary] + replicas).flatMap(\.servers)
        return try await connect(
            primary.ofPrimary(among: replicas), servers: servers.count > 1 ? servers : [], classes: classes,
            overrides: overrides, names: names, tracking: tracking, requiredSettings: requiredSettings,
            tenants: tenants,
            logger: logger, at: SourcePlace(fileID: fileID, line: line))
    }

    /// Where the reads of contexts went that may read from replicas, since the database was connected; nil without replicas.
    public var readMetrics: ReadMetrics? { replicas?.metrics }

    /// The way of a context's reads; nil where they all go to the primary and no position is wanted.
    func route(_ reading: DatabaseContext.Reading, after position: DatabasePosition?) -> ReadRoute? {
        if replicas == nil, reading == .primary, position == nil { return nil }
        return ReadRoute(replicas, maximumLag: reading.maximumLag, after: position, delay: replicaDelay)
    }
}

extension DatabaseContext {
    /// The database's position after the context's last write and after its reads from replicas: the token for the next
    /// request, which then sees all of that.
    ///
    /// It is asked for behind each write, in the same round trip, where the database has replicas or the context was
    /// made with `reading` or `after`; else it is nil. It is nil, too, while nothing was written or read. If the server
    /// did not tell its position, the token is the time, and the next request begins on the primary.
    public var position: DatabasePosition? { core.reads?.positions.token }
}
