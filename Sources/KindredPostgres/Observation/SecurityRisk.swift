import CLibPQ
import HarmlessText
import Logging
import Synchronization

/// What makes a client's sessions less safe than they could be, though nothing fails: said once in the log.
package enum SecurityRisk: Sendable, Hashable {
    /// libpq is of a version whose holes are known, given as its number and the first version without them.
    case oldLibrary(Int32, fixedIn: Int32)
    /// The role may do everything.
    case superuser
    /// Policies of row security do not hold for the role.
    case bypassesRowSecurity
    /// Everybody may create functions, operators and types in schemas of the search path.
    case openSchemas([String])
    /// PostgreSQL's own functions and operators are not the first that are found.
    case lateCatalog

    var message: String {
        switch self {
        case .oldLibrary(let version, let fix):
            """
            libpq \(Self.name(version)) has security holes that are known; update it to \(Self.name(fix)) or later
            """
        case .superuser:
            "connected as a superuser, for whom neither privileges nor row security hold; use a role of the program's own"
        case .bypassesRowSecurity:
            "connected as a role with BYPASSRLS, for which row security does not hold"
        case .openSchemas(let names):
            """
            everybody may create functions and operators in schemas of the search path that can take the place of \
            PostgreSQL's own (\(names.joined(separator: ", "))): REVOKE CREATE ON SCHEMA … FROM PUBLIC, or configure \
            searchPath without them
            """
        case .lateCatalog:
            """
            pg_catalog is not the first schema of the search path, so that functions and operators of others take the place of \
            PostgreSQL's own: leave it out of search_path, or configure searchPath
            """
        }
    }

    /// A version of libpq as people write it.
    private static func name(_ version: Int32) -> String { "\(version / 10_000).\(version % 10_000)" }

    /// The first versions in which a hostile server can no longer harm the client, as of May 2026 (CVE-2026-6477).
    private static let fixedVersions: [Int32] = [140_023, 150_018, 160_014, 170_010, 180_004]

    /// The risk of a version of libpq, such as 150018.
    init?(ofLibrary version: Int32) {
        let (major, newest) = (version / 10_000, Self.fixedVersions.last ?? 0)
        guard major <= newest / 10_000 else { return nil }
        let fix = Self.fixedVersions.first { $0 / 10_000 >= major } ?? newest
        guard version < fix else { return nil }
        self = .oldLibrary(version, fixedIn: fix)
    }

    /// What the server says about a session without being asked.
    init?(of session: OpaquePointer) {
        guard let isSuperuser = PQparameterStatus(session, "is_superuser"), String(cString: isSuperuser) == "on"
        else { return nil }
        self = .superuser
    }
}

/// The risks that were spoken of already.
final class SecurityWarnings: Sendable {
    /// For what concerns the whole process.
    static let process = SecurityWarnings()

    private let known = Mutex<Set<SecurityRisk>>([])

    func log(_ risk: SecurityRisk, _ logger: Logger?) {
        guard let logger, known.withLock({ $0.insert(risk).inserted }) else { return }
        logger.warning("\(risk.message.harmless)")
    }
}

extension ConnectionContext {
    /// Speaks of the risks of a new session, of each once.
    func warn(of opened: Connector.Opened) {
        guard logger != nil else { return }
        if let risk = SecurityRisk(ofLibrary: LibPQ.version) { SecurityWarnings.process.log(risk, logger) }
        if let risk = SecurityRisk(of: opened.handle) { warnings.log(risk, logger) }
    }
}

extension PostgresClient {
    /// Speaks of a risk that was found, once.
    package func warn(of risk: SecurityRisk) {
        pool.context.warnings.log(risk, logger)
    }
}
