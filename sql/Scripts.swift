/// The SQL scripts embedded in the tool.
package enum Scripts {
    /// The demo database, `sql/demo.sql`.
    package static var demo: String { String(decoding: PackageResources.demo_sql, as: UTF8.self) }
}
