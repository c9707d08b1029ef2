/// What a session has to be set to, because its client was configured so.
struct SessionWish: Sendable {
    /// The path as the server is told it.
    let searchPath: String?
    /// The settings of the user, in the order of their names.
    let settings: [(name: String, value: String)]

    /// Whether the session began without options, because a pooler refuses them.
    var hasNoOptions = false

    /// What poolers that lend sessions by transaction carry from one session to the next, as the server reports it: only that
    /// can be set by a statement, and stays so.
    private static let carried = ["DateStyle", "TimeZone", "standard_conforming_strings"]

    /// What is to be set by a statement when the session has begun, and again after DISCARD ALL.
    var pins: [(name: String, value: String)] {
        guard hasNoOptions else { return [] }
        return Self.carried.compactMap { name in
            let own = settings.last { $0.name.lowercased() == name.lowercased() }
            return (own?.value ?? PostgresConfiguration.pinnedSettings[name]).map { (name, $0) }
        }
    }

    /// What the server has to have by itself where it cannot be set, and the values that do.
    ///
    /// All digits of a floating-point number are written from 1 on.
    var needs: [(name: String, values: [String])] {
        guard hasNoOptions else { return [] }
        return [("IntervalStyle", ["postgres"]), ("bytea_output", ["hex"]), ("extra_float_digits", ["1", "2", "3"])]
            .filter { need in !settings.contains { $0.name.lowercased() == need.0.lowercased() } }
    }

    init(_ configuration: PostgresConfiguration) {
        searchPath = configuration.searchPathSetting
        // Options may say something else of a setting, and come later.
        let options = configuration.options?.lowercased() ?? ""
        settings = configuration.settings.sorted { $0.key < $1.key }.filter { !options.contains($0.key.lowercased()) }
            .map { ($0.key, $0.value) }
    }
}
