// Sessions on whose search path stand PostgreSQL's own schemas alone.
extension PostgresConfiguration {
    /// The search path of such sessions.
    package static let catalogPath = "pg_catalog, pg_temp"

    /// The configuration for sessions that begin with ``catalogPath``.
    ///
    /// - Parameter ownPath: the path of the program's own text, as the server writes it.
    package func catalogOnly(ownPath: String) -> PostgresConfiguration {
        var configuration = self
        configuration.ownPath = ownPath
        configuration.searchPath = nil
        configuration.settings = settings.filter { $0.key.foldedName != "search_path" }
        return configuration
    }
}
