import HTTPTypes
public import Hummingbird
public import Kindred

/// Gives each request a unit of work of its own, which sees what the client's former requests have written and seen.
///
/// ```swift
/// let router = Router(context: ShopRequestContext.self)
/// router.add(middleware: DatabaseMiddleware(database))
/// ```
///
/// The client's token says how far the database had come in its last request: the context is made `after` it, and the response
/// has the context's position as the next token, unless nothing was written or read. So requests are read on replicas, and no
/// client misses its own writes or goes back in time. A token is a client's text: one that is malformed is ignored, and no other
/// fails a request. What is left unsaved at the end of the request is taken back.
///
/// Sends nothing itself: the position is asked for behind writes, in their round trip.
///
/// Add it in front of middleware that makes responses of errors: a request may fail after it has written.
public struct DatabaseMiddleware<Context: DatabaseRequestContext>: RouterMiddleware {
    /// Makes the context of a request, given the position of the client's token.
    public typealias ContextMaker =
        @Sendable (Request, Context, _ position: DatabasePosition?) async throws -> DatabaseContext

    private let carrier: PositionCarrier
    private let makeContext: ContextMaker

    /// Contexts without settings.
    ///
    /// - Parameters:
    ///   - database: the database.
    ///   - reading: the servers that answer the reads of requests.
    ///   - carrier: where the client keeps the token.
    public init(_ database: Database, reading: DatabaseContext.Reading = .automatic, carrier: PositionCarrier = .cookie)
    {
        self.init(carrier: carrier) { _, _, position in database.makeContext(reading: reading, after: position) }
    }

    /// Contexts that the program makes, with the settings, the role or the tenant of who sends the request.
    ///
    /// ```swift
    /// DatabaseMiddleware { request, context, position in
    ///     try database.makeContext(
    ///         settings: ["shop.store": try context.store], reading: .automatic, after: position)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - carrier: where the client keeps the token.
    ///   - makeContext: makes the context of a request `after` the position. What it throws is thrown to the client.
    public init(carrier: PositionCarrier = .cookie, makeContext: @escaping ContextMaker) {
        self.carrier = carrier
        self.makeContext = makeContext
    }

    /// Runs the request with its unit of work.
    ///
    /// - Parameters:
    ///   - request: the request, perhaps with a token.
    ///   - context: the request's context, which gets the unit of work.
    ///   - next: the middleware and the handler inside.
    /// - Returns: the response, with the next token if there is one.
    /// - Throws: what making the context throws, and what `next` throws, with the next token if it is a response.
    public func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let known = carrier.position(in: request)
        let unitOfWork = try await makeContext(request, context, known)
        defer { unitOfWork.rollback() }
        var context = context
        context.unitOfWork = unitOfWork
        do {
            var response = try await next(request, context)
            if let field = nextToken(of: unitOfWork, after: known) { response.headers.append(field) }
            return response
        } catch let error as any HTTPResponseError {
            guard let field = nextToken(of: unitOfWork, after: known) else { throw error }
            throw PositionedError(error: error, field: field)
        }
    }

    private func nextToken(of unitOfWork: DatabaseContext, after known: DatabasePosition?) -> HTTPField? {
        guard let position = unitOfWork.position, position != known else { return nil }
        return carrier.field(for: position)
    }
}

/// An error whose response has the token too, as the request may have written before it failed.
struct PositionedError: HTTPResponseError {
    let error: any HTTPResponseError
    let field: HTTPField

    var status: HTTPResponse.Status { error.status }

    func response(from request: Request, context: some RequestContext) throws -> Response {
        var response = try error.response(from: request, context: context)
        response.headers.append(field)
        return response
    }
}
