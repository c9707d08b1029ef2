/// The SQL of change tracking, embedded in the library.
package enum TrackingScript {
    /// The files that install the helper schema, in their order.
    package static var install: String {
        [
            PackageResources.versions_sql, PackageResources.tables_sql, PackageResources.shapes_sql,
            PackageResources.triggers_sql, PackageResources.enabling_sql, PackageResources.concerned_sql,
            PackageResources.ddl_sql,
            PackageResources.reading_sql, PackageResources.retention_sql, PackageResources.consumers_sql,
            PackageResources.locks_sql, PackageResources.status_sql, PackageResources.rights_sql,
        ].text
    }

    /// Takes all of it away.
    package static var uninstall: String { [PackageResources.uninstall_sql].text }

    /// Makes the event triggers alone, over the installation of an ordinary role.
    ///
    /// They are in a schema of their own, with the same function that says which tables are concerned.
    package static var installEvents: String {
        let concerned = [PackageResources.concerned_sql].text
        return [PackageResources.events_schema_sql].text + "\n"
            + concerned.replacing("kindred.tracking_concerned", with: "kindred_ddl.tracking_concerned") + "\n"
            + [PackageResources.events_sql].text
    }

    /// Takes these away.
    package static var uninstallEvents: String { [PackageResources.events_uninstall_sql].text }
}

extension [[UInt8]] {
    /// The files as one script.
    fileprivate var text: String { map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n") }
}
