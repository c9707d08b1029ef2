/// A feature of PostgreSQL that other servers and poolers with its protocol may lack, or that a role may not use.
///
/// Its `rawValue` is stable.
public enum ServerCapability: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// LISTEN and NOTIFY, which a session hears.
    case listen
    /// Triggers for whole statements that see the changed rows (`REFERENCING NEW TABLE`).
    case statementTriggers
    /// Triggers on changes of the schema.
    case eventTriggers
    /// Foreign keys and unique constraints that are checked at COMMIT.
    case deferrableKeys
    /// `SAVEPOINT` and `ROLLBACK TO SAVEPOINT`.
    case savepoints
    /// Row locks that pass over rows which other transactions have locked (`SKIP LOCKED`).
    case skipLocked
    /// The system column `xmin`, which changes with the row.
    case xmin
    /// Advisory locks of a session and of a transaction.
    case advisoryLocks
    /// `COPY` in binary format.
    case binaryCopy
    /// Statements that are sent before earlier statements are answered.
    case pipelines
    /// Positions in the write-ahead log, such as `pg_current_wal_flush_lsn()`.
    case positions

    /// Its name in words, such as `LISTEN and NOTIFY`.
    public var description: String {
        switch self {
        case .listen: "LISTEN and NOTIFY"
        case .statementTriggers: "statement triggers with transition tables"
        case .eventTriggers: "event triggers"
        case .deferrableKeys: "deferrable keys"
        case .savepoints: "savepoints"
        case .skipLocked: "SKIP LOCKED"
        case .xmin: "the system column xmin"
        case .advisoryLocks: "advisory locks"
        case .binaryCopy: "binary COPY"
        case .pipelines: "pipelines"
        case .positions: "positions in the write-ahead log"
        }
    }

    /// The way around it, as a sentence: which calls need it, and what to do instead.
    package var advice: String {
        switch self {
        case .listen:
            "Notifications need it: connect to a server that has it, or ask from time to time, as live requests do without it"
        case .statementTriggers:
            "Change tracking and live requests need them: fetch again instead, or track on a server that has them"
        case .eventTriggers:
            "Install change tracking as a role that is no superuser: new tables are then found by reading the catalog"
        case .deferrableKeys:
            "Save rows that take over each other's unique values, or refer to each other, one after the other"
        case .savepoints: "Do not nest transactions: run the work in the outer one, or behind it"
        case .skipLocked: "Lock with .wait or .noWait, and let each worker take rows of its own"
        case .xmin: "Choose a column for versions by its annotation {\"version\": true}"
        case .advisoryLocks:
            "Migrations need them: grant the role EXECUTE on their functions, or use a session of the server"
        case .binaryCopy: "Copy with FORMAT csv or text"
        case .pipelines: "Every statement of the library needs them: connect to the server itself"
        case .positions:
            "Grant the role EXECUTE on their functions, or run the transaction without tracksCommit"
        }
    }
}

extension ServerCapability {
    /// The SQLSTATEs by which a server says that it does not have it, or not for the role.
    fileprivate var refusals: Set<SQLState> {
        switch self {
        // Functions, which may be missing or revoked.
        case .advisoryLocks, .positions: [.featureNotSupported, .undefinedFunction, .insufficientPrivilege]
        case .xmin: [.featureNotSupported, .undefinedColumn]
        // Words of their own in statements of the library.
        case .listen, .savepoints, .skipLocked: [.featureNotSupported, .syntaxError]
        // The role may lack a right on the table, and the program may have written the syntax.
        default: [.featureNotSupported]
        }
    }
}

extension PostgresError {
    /// The error of a call that needs a capability, if the server refuses the call for want of it; else the error itself.
    package func lacking(_ capability: ServerCapability) -> PostgresError {
        // A prepared statement that no longer fits its table has the same state.
        guard code == .server, let sqlState, capability.refusals.contains(sqlState),
            server?.routine != "RevalidateCachedQuery"
        else { return self }
        return PostgresError(
            .unsupported, "The server refuses \(capability): \(message). \(capability.advice)", sqlState: sqlState,
            server: server, statement: statement, underlying: underlying, transactionID: transactionID,
            mayHaveTakenEffect: mayHaveTakenEffect)
    }
}
