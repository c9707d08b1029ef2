import HarmlessText
import Logging
import Synchronization

/// A weakness of a client's sessions that causes no failure; logged once.
package enum SecurityRisk: Sendable, Hashable {
    /// libpq has known vulnerabilities; with its version and the first fixed one.
    case oldLibrary(Int32, fixedIn: Int32)
    /// The role is a superuser.
    case superuser
    /// The role bypasses row security.
    case bypassesRowSecurity
    /// Every role may create objects in these schemas of the search path.
    case openSchemas([String])
    /// `pg_catalog` is not the first schema that is searched.
    case lateCatalog

    var message: String {
        switch self {
        case .oldLibrary(let version, let fix):
            """
            libpq \(Self.name(version)) has security holes that are known; update it to \(Self.name(fix)) or later
            """
        case .superuser:
            "connected as a superuser, which bypasses privileges and row security; use a role of the program's own"
        case .bypassesRowSecurity:
            "connected as a role with BYPASSRLS, which bypasses row security"
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

    /// The printed form of a libpq version.
    private static func name(_ version: Int32) -> String { "\(version / 10_000).\(version % 10_000)" }

    /// The first versions in which a hostile server cannot harm the client, as of May 2026 (CVE-2026-6477).
    private static let fixedVersions: [Int32] = [140_023, 150_018, 160_014, 170_010, 180_004]

    /// The risk of a version of libpq, such as 150018.
    init?(ofLibrary version: Int32) {
        let (major, newest) = (version / 10_000, Self.fixedVersions.last ?? 0)
        guard major <= newest / 10_000 else { return nil }
        let fix = Self.fixedVersions.first { $0 / 10_000 >= major } ?? newest
        guard version < fix else { return nil }
        self = .oldLibrary(version, fixedIn: fix)
    }

    /// The risk in a session's reported settings.
    init?(of session: ConnectionHandle) {
        guard session.isOn("is_superuser") == true else { return nil }
        self = .superuser
    }
}

/// The risks that were logged already.
final class SecurityWarnings: Sendable {
    /// For risks of the whole process.
    static let process = SecurityWarnings()

    private let known = RankedMutex<Set<SecurityRisk>>([], .leaf)

    func log(_ risk: SecurityRisk, _ logger: Logger?) {
        guard let logger, known.withLock({ $0.insert(risk).inserted }) else { return }
        logger.warning("\(risk.message.harmless)")
    }
}

extension ConnectionContext {
    /// Logs the risks of a new session, each once.
    func warn(of opened: Connector.Opened) {
        guard logger != nil else { return }
        if let risk = SecurityRisk(ofLibrary: LibPQ.version) { SecurityWarnings.process.log(risk, logger) }
        if let risk = SecurityRisk(of: opened.handle) { warnings.log(risk, logger) }
    }
}
