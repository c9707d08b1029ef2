public import Hummingbird
public import Kindred

/// A request context that carries the request's unit of work.
///
/// ```swift
/// struct ShopRequestContext: DatabaseRequestContext {
///     var coreContext: CoreRequestContextStorage
///     var unitOfWork: DatabaseContext?
///
///     init(source: ApplicationRequestContextSource) {
///         coreContext = CoreRequestContextStorage(source: source)
///     }
/// }
/// ```
public protocol DatabaseRequestContext: RequestContext, SendableMetatype {
    /// The request's unit of work, which ``DatabaseMiddleware`` sets; nil outside of it.
    var unitOfWork: DatabaseContext? { get set }
}

extension DatabaseRequestContext {
    /// The request's unit of work.
    ///
    /// Throws `HTTPError` `.internalServerError` for a route outside of ``DatabaseMiddleware``.
    public var database: DatabaseContext {
        get throws {
            guard let unitOfWork else {
                throw HTTPError(.internalServerError, message: "The route stands outside of DatabaseMiddleware")
            }
            return unitOfWork
        }
    }
}
