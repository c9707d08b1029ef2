/// The session settings that the client's configuration requires.
struct SessionWish: Sendable {
    /// The search path as sent to the server.
    let searchPath: String?
    /// The user's settings, sorted by name.
    let settings: [(name: String, value: String)]

    /// Whether the server is asked for its timeline.
    let choosesPrimary: Bool

    private let applicationName: String

    /// Whether the session began without startup options, because a pooler refuses them.
    var hasNoOptions = false

    /// The parameters that transaction poolers carry from one session to the next: only these can be set by a
    /// statement.
    private static let carried = ["client_encoding", "DateStyle", "TimeZone", "standard_conforming_strings"]

    /// The settings to make by statement at the session's beginning, and again when it is put back.
    var startupSettings: [(name: String, value: String)] {
        guard hasNoOptions else { return [] }
        return [("application_name", applicationName)]
            + Self.carried.compactMap { name in
                let own = settings.last { $0.name.foldedName == name.foldedName }
                return (own?.value ?? PostgresConfiguration.fixedSettings[name]).map { (name, $0) }
            }
    }

    /// The settings that the server must have already, as no statement can make them last, with the accepted values.
    ///
    /// `extra_float_digits` from 1 on gives floating-point numbers in full.
    var needs: [(name: String, values: [String])] {
        guard hasNoOptions else { return [] }
        return [("IntervalStyle", ["postgres"]), ("bytea_output", ["hex"]), ("extra_float_digits", ["1", "2", "3"])]
            .filter { need in !settings.contains { $0.name.foldedName == need.0.foldedName } }
    }

    init(_ configuration: PostgresConfiguration) {
        searchPath = configuration.searchPathSetting
        applicationName = configuration.applicationName
        choosesPrimary = configuration.choosesPrimary
        // Options override settings.
        let options = configuration.options?.lowercased() ?? ""
        settings = configuration.settings.sorted { $0.key < $1.key }.filter { !options.contains($0.key.lowercased()) }
            .map { ($0.key, $0.value) }
    }
}
