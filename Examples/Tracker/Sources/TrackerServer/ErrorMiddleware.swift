import Hummingbird
import Kindred

/// Makes answers of the library's errors: their class says the status, their problems the fields of a form to mark.
struct ErrorMiddleware: RouterMiddleware {
    func handle(
        _ request: Request, context: TrackerRequestContext,
        next: (Request, TrackerRequestContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let error as any CategorizedError {
            context.logger.log(level: error.category.httpStatus == 500 ? .error : .debug, "\(error)")
            var response = try context.responseEncoder.encode(Problems(error), from: request, context: context)
            response.status = HTTPResponse.Status(code: error.category.httpStatus)
            return response
        }
    }
}

/// The body of an error; what the program itself did wrong is for the log only.
struct Problems: Encodable {
    struct Problem: Encodable {
        let key: String?
        let message: String
    }

    let message: String
    let problems: [Problem]

    init(_ error: any CategorizedError) {
        let error = error.category.httpStatus == 500 ? nil : error as? KindredError
        message = error?.message ?? "The request failed"
        problems = error?.problems.map { Problem(key: $0.key, message: $0.message) } ?? []
    }
}

extension ObjectView: @retroactive ResponseGenerator, @retroactive ResponseEncodable {}
