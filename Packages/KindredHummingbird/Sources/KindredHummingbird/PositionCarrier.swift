public import HTTPTypes
import Hummingbird
import Kindred

/// Where a client keeps the position of its last request in the database.
public struct PositionCarrier: Sendable {
    private enum Place {
        case cookie(name: String, path: String, isSecure: Bool)
        /// nil for a name that no header can have.
        case header(HTTPField.Name?)
    }

    private let place: Place

    /// The time for which a client keeps a cookie, in seconds: no replica is read that lags by so much.
    private static let cookieLifetime = 600

    /// The cookie `database-position`, for all paths of the server.
    public static let cookie = PositionCarrier(
        place: .cookie(name: "database-position", path: "/", isSecure: false))

    /// The header `Database-Position` of requests and responses, for clients that keep it themselves.
    public static let header = PositionCarrier(place: .header(HTTPField.Name("Database-Position")))

    /// A cookie, which scripts of a page cannot read, and which other sites' forms do not send.
    ///
    /// - Parameters:
    ///   - name: its name, other than that of any other cookie of the server.
    ///   - path: the path of the requests that it is sent with.
    ///   - isSecure: whether clients send it over TLS only; the token holds no secret.
    /// - Throws: `Cookie.ValidationError` for a name that no cookie can have.
    public static func cookie(
        named name: String, path: String = "/", isSecure: Bool = false
    ) throws -> PositionCarrier {
        _ = try Cookie.validated(name: name, value: "")
        return PositionCarrier(place: .cookie(name: name, path: path, isSecure: isSecure))
    }

    /// A header of requests and responses.
    ///
    /// - Parameter name: its name.
    public static func header(named name: HTTPField.Name) -> PositionCarrier {
        PositionCarrier(place: .header(name))
    }

    /// The position that a request came with; nil where there is none, or a text that is none.
    func position(in request: Request) -> DatabasePosition? {
        let text =
            switch place {
            case .cookie(let name, _, _): request.cookies[name]?.value
            case .header(let name): name.flatMap { request.headers[$0] }
            }
        return text.flatMap { DatabasePosition($0) }
    }

    /// The field of a response that tells the client a position.
    func field(for position: DatabasePosition) -> HTTPField? {
        switch place {
        case .header(let name): return name.map { HTTPField(name: $0, value: position.description) }
        case .cookie(let name, let path, let isSecure):
            let cookie = Cookie(
                name: name, value: position.description, maxAge: Self.cookieLifetime, path: path, secure: isSecure,
                sameSite: .lax)
            return HTTPField(name: .setCookie, value: cookie.description)
        }
    }
}
