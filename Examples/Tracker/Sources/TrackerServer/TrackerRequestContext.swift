import Hummingbird
import Kindred

/// What a request carries: Hummingbird's own storage, its organization, and a unit of work that sees no other.
struct TrackerRequestContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    private var tenant: (organization: Int, database: DatabaseContext)?

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }

    /// The request's unit of work; throws where a route stands outside `TenantMiddleware`.
    var database: DatabaseContext {
        get throws {
            guard let tenant else { throw HTTPError(.internalServerError) }
            return tenant.database
        }
    }

    /// The number of the request's organization: the first part of each key.
    var organization: Int {
        get throws {
            guard let tenant else { throw HTTPError(.internalServerError) }
            return tenant.organization
        }
    }

    /// The same request with its organization and a unit of work.
    func with(_ database: DatabaseContext, of organization: Int) -> TrackerRequestContext {
        var context = self
        context.tenant = (organization, database)
        return context
    }

    /// A number in the path, such as that of a ticket.
    func number(_ name: String) throws -> Int {
        guard let number = parameters.get(name, as: Int.self) else {
            throw HTTPError(.notFound, message: "\(name) is not a number")
        }
        return number
    }
}
