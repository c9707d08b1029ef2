import KindredPostgres

/// The attributes common to all reports of a client: the server and database of its statements.
struct DatabasePlace: Sendable {
    let namespace: String?
    let address: String?
    /// nil for the default port.
    let port: UInt16?

    init(_ configuration: PostgresConfiguration) {
        namespace = configuration.database
        switch configuration.endpoints.first {
        case .tcp(let host, let port, _)?:
            address = host
            self.port = port == 5432 ? nil : port
        case .socket(let folder, let port)?:
            address = folder
            self.port = port == 5432 ? nil : port
        case nil:
            address = nil
            port = nil
        }
    }

    /// The name of the client's pool.
    var poolName: String { "\(address ?? "")\(port.map { ":\($0)" } ?? "")/\(namespace ?? "")" }

    /// The attributes as dimensions of metrics.
    var dimensions: [(String, String)] {
        var dimensions = [("db.system.name", "postgresql")]
        if let namespace { dimensions.append(("db.namespace", namespace)) }
        if let address { dimensions.append(("server.address", address)) }
        if let port { dimensions.append(("server.port", "\(port)")) }
        return dimensions
    }
}
