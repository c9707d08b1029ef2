public import Hummingbird
public import Kindred
import KindredService

/// The server: its routes over a database, which is closed when the server has shut down.
///
/// - Parameters:
///   - database: a database of ``connectTracker(_:logger:)``.
///   - tokens: the number of the organization for which each token speaks.
///   - jobs: work that is done later, beside the requests.
///   - configuration: the server's address.
public func makeTracker(
    database: Database, tokens: [String: Int], jobs: JobQueue? = nil,
    configuration: ApplicationConfiguration = ApplicationConfiguration()
) -> some ApplicationProtocol {
    let router = Router(context: TrackerRequestContext.self)
    HealthRoutes(database: database).add(to: router)
    let routes = router.group()
        .add(middleware: LogRequestsMiddleware(.debug))
        .add(middleware: ErrorMiddleware())
        .add(middleware: TenantMiddleware(database: database, tokens: tokens))
    ProjectRoutes().add(to: routes.group("projects"))
    TicketRoutes().add(to: routes.group("tickets"))
    DocumentRoutes().add(to: routes.group("documents"))
    ReportRoutes().add(to: routes.group("report"))

    var application = Application(router: router, configuration: configuration)
    // Services shut down from the last to the first: requests that are still answered find the database open.
    application.addServices(DatabaseService(database))
    if let jobs { application.addServices(DatabaseService(jobs.database), jobs) }
    return application
}
