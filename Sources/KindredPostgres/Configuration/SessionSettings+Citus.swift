// Settings that reach the workers of Citus.
extension SessionSettings {
    /// The setting that lists the names of the settings to pass on.
    static let passedOn = "kindred.settings"

    /// Makes the settings once more by SET LOCAL, which Citus passes on, and which takes no parameters: the server puts its own
    /// values between quotes.
    static let passing = Statement(
        text: StatementText(
            """
            DO $$ DECLARE setting pg_catalog.text; BEGIN \
            FOREACH setting IN ARRAY pg_catalog.string_to_array(pg_catalog.current_setting('\(passedOn)'), ',') LOOP \
            EXECUTE pg_catalog.format('SET LOCAL %I TO %L', setting, pg_catalog.current_setting(setting)); \
            END LOOP; END $$
            """), resultFormat: .binary)

    /// Settings that Citus keeps from its workers, and settings with a list of names, which SET takes for one name.
    private static let keptFromWorkers = [
        "citus.propagate_set_commands", "exit_on_error", "max_stack_depth", "temp_tablespaces",
        "local_preload_libraries", "session_preload_libraries", passedOn,
    ]

    static func checkPassing(_ name: String) throws {
        guard keptFromWorkers.contains(name.foldedName) else { return }
        throw invalid(
            """
            The setting \(name) cannot be that of a context, since Citus does not pass it on to its workers: set it on each \
            of the servers, by ALTER ROLE … SET or in their configuration
            """)
    }
}
