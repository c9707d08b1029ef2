/// The SQL of change tracking, embedded in the library.
package enum TrackingScript {
    /// The files that install the helper schema, in their order.
    package static var install: String {
        [
            PackageResources.versions_sql, PackageResources.tables_sql, PackageResources.shapes_sql,
            PackageResources.triggers_sql, PackageResources.enabling_sql, PackageResources.ddl_sql,
            PackageResources.reading_sql, PackageResources.retention_sql, PackageResources.consumers_sql,
            PackageResources.locks_sql, PackageResources.status_sql, PackageResources.rights_sql,
        ].map { String(decoding: $0, as: UTF8.self) }.joined(separator: "\n")
    }

    /// Takes all of it away.
    package static var uninstall: String { String(decoding: PackageResources.uninstall_sql, as: UTF8.self) }

    /// Makes the event triggers alone, over the installation of an ordinary role.
    package static var installEvents: String { String(decoding: PackageResources.events_sql, as: UTF8.self) }

    /// Takes these away.
    package static var uninstallEvents: String {
        String(decoding: PackageResources.events_uninstall_sql, as: UTF8.self)
    }
}
