/// Settings of ``Doctor``: which tables it looks at, and which findings it leaves out.
public struct DoctorOptions: Sendable {
    /// Whether rules about the speed of statements look at tables of fewer than 1,000 rows, too.
    public var includesSmallTables = false
    /// Findings to leave out, in addition to the findings that annotations leave out.
    public var ignored = DoctorIgnoreList()
    /// The generated classes that have to fit the database; nil for none.
    public var generated: GeneratedClasses?
    /// The column by which the rows of tables are a tenant's, for the rules about tenants; nil for none.
    public var tenantColumn: String?
    /// How long the statements together may take.
    public var timeout: Duration = .seconds(30)
    /// The version that repairs are written for, such as 150004; nil for the server's own.
    ///
    /// A copy on another server stands in for a database.
    package var targetVersion: Int?

    /// Creates the usual options: large tables only, nothing ignored but by annotations, half a minute.
    public init() {}

    /// Tables with fewer rows are small.
    static let smallTable = 1_000
}
