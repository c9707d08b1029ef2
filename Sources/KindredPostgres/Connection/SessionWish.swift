/// What a session has to be set to, because its client was configured so.
struct SessionWish: Sendable {
    /// The path as the server is told it.
    let searchPath: String?
    /// The settings of the user, in the order of their names.
    let settings: [(name: String, value: String)]

    init(_ configuration: PostgresConfiguration) {
        searchPath = configuration.searchPathSetting
        // Options may say something else of a setting, and come later.
        let options = configuration.options?.lowercased() ?? ""
        settings = configuration.settings.sorted { $0.key < $1.key }.filter { !options.contains($0.key.lowercased()) }
            .map { ($0.key, $0.value) }
    }
}
