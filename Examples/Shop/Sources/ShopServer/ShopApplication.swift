public import Hummingbird
public import Kindred
import KindredHummingbird
import KindredService

/// The server: its routes over a database, which is closed when the server has shut down.
public func makeShop(
    database: Database, configuration: ApplicationConfiguration = ApplicationConfiguration()
) -> some ApplicationProtocol {
    let router = Router(context: ShopRequestContext.self)
    router.add(middleware: LogRequestsMiddleware(.debug))
    OperationsRoutes(database: database).add(to: router)

    // The errors' answers inside, so that they have the client's token too.
    let routes = router.group().add(middleware: DatabaseMiddleware(database)).add(middleware: ErrorMiddleware())
    BookRoutes().add(to: routes.group("books"))
    CategoryRoutes().add(to: routes.group("categories"))
    PersonRoutes().add(to: routes.group("people"))
    ExportRoutes(database: database).add(to: routes.group("export"))
    LiveRoutes(database: database).add(to: routes.group("live"))
    let clerks = router.group("stores/:store").add(middleware: DatabaseMiddleware.clerks(of: database))
        .add(middleware: ErrorMiddleware())
    PurchaseRoutes().add(to: clerks.group("purchases"))

    var application = Application(router: router, configuration: configuration)
    // Services shut down from the last to the first: requests that are still answered find the database open.
    application.addServices(DatabaseService(database))
    return application
}
