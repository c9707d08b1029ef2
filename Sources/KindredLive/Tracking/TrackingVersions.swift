public import Kindred
import KindredPostgres

/// Versions of the library and of the installed helper schema that are not the same.
///
/// An older schema is refused until it was upgraded. A newer one says from which version of the library on it can be used.
extension Tracking {
    /// The version of the helper schema that this library installs.
    public static let version = 3

    /// Throws unless this library can use the installed version.
    ///
    /// - Parameter column: the first of two columns of `row`: the version, and the oldest library for it.
    static func requireCompatible(_ row: Row, at column: Int) throws {
        guard let installed = try row.decode(column, as: Int32.self),
            let oldest = try row.decode(column + 1, as: Int32.self)
        else { return }
        if installed < version {
            throw KindredError(
                .trackingVersion,
                """
                The database has version \(installed) of change tracking, and this library needs version \(version): run \
                `kindred install`, or call database.tracking.install()
                """)
        }
        if oldest > version {
            throw KindredError(
                .trackingVersion,
                """
                The database has version \(installed) of change tracking, for libraries of version \(oldest) and later, and \
                this library has version \(version): use a newer library
                """)
        }
    }

    /// The error of a call as an error about versions, where another version is installed whose functions differ.
    ///
    /// Asks one more statement, after an error that may come from that. Nothing can be asked in a transaction that has failed.
    static func explained(_ error: any Error, _ client: PostgresClient) async -> any Error {
        let server = error as? PostgresError ?? (error as? KindredError)?.underlying
        guard let state = server?.sqlState, differences.contains(state), !client.isInTransaction,
            let row = try? await client.query(TrackingStatements.version).first
        else { return error }
        do {
            try requireCompatible(row, at: 0)
            return error
        } catch let refusal {
            return refusal
        }
    }

    private static let differences: Set<SQLState> = [
        .undefinedFunction, .undefinedTable, .undefinedColumn, .undefinedObject, .datatypeMismatch,
        .featureNotSupported,
    ]
}

extension KindredError {
    /// Runs `body`, which calls functions of the helper schema, and translates their errors.
    static func tracking<T>(_ client: PostgresClient, _ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw await Tracking.explained(KindredError(tracking: error) ?? error, client)
        }
    }
}
