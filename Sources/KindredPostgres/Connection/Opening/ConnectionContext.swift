import Logging
import Synchronization

/// State shared by a client's connections.
final class ConnectionContext: Sendable {
    let configuration: PostgresConfiguration
    let types: TypeRegistry
    let logger: Logger?
    let notices = StreamObservers<ServerMessage>()
    let warnings = SecurityWarnings()
    let startupRequirements: Connector.StartupRequirements
    let parameterChanges = StreamObservers<ServerParameterChange>()
    /// Statements that were refused because their transaction only reads; several count as one until they are read.
    let readOnlyRefusals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Whether the program wants a server that takes writes.
    let seeksWrites: Bool
    private let hasTold = Atomic(false)

    init(
        configuration: PostgresConfiguration, types: TypeRegistry, logger: Logger?,
        primary: PrimaryRecord = PrimaryRecord(), isForReads: Bool = false
    ) {
        seeksWrites = !isForReads && !configuration.isReadOnly
        startupRequirements = Connector.StartupRequirements(primary: primary)
        self.configuration = configuration
        self.types = types
        self.logger = logger
    }

    /// The pooler before the server, as configured or found so far; never `.automatic`.
    var pooler: PostgresConfiguration.Pooler {
        guard configuration.pooler == .automatic else { return configuration.pooler }
        return startupRequirements.hasPooler ? .transaction : .none
    }

    /// The primary, as far as it is known.
    var primary: PrimaryRecord { startupRequirements.primary }

    /// Logs, once, that a pooler was found.
    func tellOfPooler() {
        guard configuration.pooler == .automatic, pooler == .transaction, !hasTold.exchange(true, ordering: .relaxed)
        else { return }
        logger?.notice(
            """
            a pooler stands before the server; it is taken for one that lends sessions by transaction: nothing is prepared \
            by name, and what needs a session is refused. Set `pooler` to transaction, or to session if it lends whole ones
            """)
    }
}
