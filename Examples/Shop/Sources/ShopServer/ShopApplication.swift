public import Hummingbird
public import Kindred
import KindredService

/// The server: its routes over a database, which is closed when the server has shut down.
public func makeShop(
    database: Database, configuration: ApplicationConfiguration = ApplicationConfiguration()
) -> some ApplicationProtocol {
    let router = Router(context: ShopRequestContext.self)
    router.add(middleware: LogRequestsMiddleware(.debug))
    OperationsRoutes(database: database).add(to: router)

    let answers = router.group().add(middleware: ErrorMiddleware())
    let routes = answers.group().add(middleware: DatabaseMiddleware(database: database))
    BookRoutes().add(to: routes.group("books"))
    CategoryRoutes().add(to: routes.group("categories"))
    PersonRoutes().add(to: routes.group("people"))
    ExportRoutes(database: database).add(to: routes.group("export"))
    LiveRoutes(database: database).add(to: routes.group("live"))
    let clerks = answers.group("stores/:store").add(middleware: ClerkMiddleware(database: database))
    PurchaseRoutes().add(to: clerks.group("purchases"))

    var application = Application(router: router, configuration: configuration)
    // Services shut down from the last to the first: requests that are still answered find the database open.
    application.addServices(DatabaseService(database))
    return application
}
