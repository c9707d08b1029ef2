import Logging

/// State shared by a client's connections.
final class ConnectionContext: Sendable {
    let configuration: PostgresConfiguration
    let types: TypeRegistry
    let logger: Logger?
    let notices = StreamObservers<ServerMessage>()
    let warnings = SecurityWarnings()
    let startupRequirements = Connector.StartupRequirements()
    let parameterChanges = StreamObservers<ServerParameterChange>()
    init(configuration: PostgresConfiguration, types: TypeRegistry, logger: Logger?) {
        self.configuration = configuration
        self.types = types
        self.logger = logger
    }
}
