import HarmlessText
public import KindredPostgres

/// A failure of the object layer: a wrong key, a wrong type, a row that is gone, a constraint that refused a change.
///
/// `description` names entities, keys and constraints but never a row's values, so it is safe to log.
/// `debugDescription` adds the server's message.
public struct KindredError: Error, Sendable {
    /// The kind of failure, stable across releases; match it with `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's stable name, such as `unknownKey`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// No entity has the given name.
        public static let unknownEntity = Code("unknownEntity")
        /// The entity has no attribute or relationship of the given name.
        public static let unknownKey = Code("unknownKey")
        /// The attribute was omitted by the request that read the object, or is lazy, and its value is not loaded.
        public static let notLoaded = Code("notLoaded")
        /// The value does not fit the attribute's or relationship's type.
        public static let wrongType = Code("wrongType")
        /// The condition cannot be parsed or does not fit the entity.
        public static let invalidCondition = Code("invalidCondition")
        /// The request is impossible, such as a negative limit.
        public static let invalidRequest = Code("invalidRequest")
        /// The text is no page cursor, or the cursor belongs to a request for another entity or in another order.
        public static let invalidCursor = Code("invalidCursor")
        /// The text is no JSON object, or is beyond a limit of patches; the message has the reason and the byte.
        public static let invalidPatch = Code("invalidPatch")
        /// The index is outside an ordered set.
        public static let indexOutOfRange = Code("indexOutOfRange")
        /// Exactly one object was requested, and none matches.
        public static let notFound = Code("notFound")
        /// Exactly one object was requested, and several match.
        public static let notUnique = Code("notUnique")
        /// The row was deleted, by this context or in another transaction.
        public static let objectDeleted = Code("objectDeleted")
        /// The object was new and never stored: a rollback has discarded it, or the release of its context.
        public static let objectDiscarded = Code("objectDiscarded")
        /// A change was staged while the program did not hold the object's context.
        public static let contextReleased = Code("contextReleased")
        /// Another transaction has changed the row since it was read; `conflicts` has the object and both versions.
        public static let staleObject = Code("staleObject")
        /// Several problems prevent objects from being saved; `problems` has all of them.
        public static let validationFailed = Code("validationFailed")
        /// The value exceeds the attribute's length or precision.
        public static let valueTooLarge = Code("valueTooLarge")
        /// The value is no label of the attribute's enum.
        public static let unknownLabel = Code("unknownLabel")
        /// A to-many relationship would have too few or too many objects at the end of the transaction.
        public static let countOutOfRange = Code("countOutOfRange")
        /// The program's own validation refused the object.
        public static let refused = Code("refused")
        /// The object is new and must be saved first.
        public static let notStored = Code("notStored")
        /// The object belongs to another context or another database.
        public static let foreignContext = Code("foreignContext")
        /// The row belongs to another tenant than the context's, or is gone.
        public static let otherTenant = Code("otherTenant")
        /// The entity has no key, or the role may not write it.
        public static let readOnly = Code("readOnly")
        /// Leaving the relationship would set a required column to NULL.
        public static let requiredRelationship = Code("requiredRelationship")
        /// A value that the entity requires is missing.
        public static let missingValue = Code("missingValue")
        /// A constraint of the database refused the change, or a view's CHECK OPTION, or a trigger by RAISE.
        public static let constraintViolation = Code("constraintViolation")
        /// Remaining objects, or the database on their behalf, forbid the deletion.
        public static let deletionDenied = Code("deletionDenied")
        /// The database no longer has a table or column of the model; `underlying` has the server's error.
        public static let schemaChanged = Code("schemaChanged")
        /// The role lacks a privilege, or a row-level security policy refused a row.
        public static let accessDenied = Code("accessDenied")
        /// The server failed by itself on a statement for the entity; `underlying` has its error with the statement.
        public static let serverFailed = Code("serverFailed")
        /// The server lacks a feature that the call needs, or the role may not use it; the message says what to do, and
        /// `database.capabilities` names all missing features.
        public static let unsupported = Code("unsupported")
        /// A class does not match the database: columns are missing or have other types, or it is not registered.
        public static let classMismatch = Code("classMismatch")
        /// Keys of relationships lead elsewhere than the file of names says; the message names all of them.
        public static let keysChanged = Code("keysChanged")
        /// Another task's transaction has held the context for longer than the pool's acquire timeout.
        public static let contextBusy = Code("contextBusy")
        /// The context lacks settings that the database requires of every context.
        public static let missingSettings = Code("missingSettings")
        /// The relationship is not loaded, and the context forbids loading.
        public static let loadingForbidden = Code("loadingForbidden")
        /// The helper schema of change tracking is not installed.
        public static let trackingNotInstalled = Code("trackingNotInstalled")
        /// The library and the installed helper schema of change tracking are too far apart.
        public static let trackingVersion = Code("trackingVersion")
        /// Changes of tables are not recorded; the message names all of these tables.
        public static let trackingNotEnabled = Code("trackingNotEnabled")
        /// The server is a standby, where changes cannot be read.
        public static let trackingOnStandby = Code("trackingOnStandby")
        /// Another process has acknowledged changes of the consumer meanwhile.
        public static let consumerMoved = Code("consumerMoved")
        /// Changes of the table cannot be recorded; the message has the reason.
        public static let untrackable = Code("untrackable")
        /// A replica failed, or cancelled a query, when a stream had given its first rows.
        public static let replicaConflict = Code("replicaConflict")
        /// A write was refused: the server is a replica or set to be read-only, or the transaction only reads.
        public static let readOnlyTransaction = Code("readOnlyTransaction")
        /// The text is not the URI of an object in this database.
        public static let invalidObjectID = Code("invalidObjectID")
    }

    /// The kind of failure.
    public let code: Code
    /// One sentence with the failure and the remedy; without row values.
    public let message: String
    /// The entity concerned, such as `public.person`.
    public let entity: String?
    /// The attribute or relationship concerned.
    public let key: String?
    /// The constraint that refused a change.
    public let constraint: String?
    /// The server's error, if there was one.
    public let underlying: PostgresError?

    /// The part about single objects; nil for other errors.
    let details: (any KindredErrorDetails)?
    /// Whether a client's names or numbers are wrong, and not the program's own.
    private(set) var isInput = false

    package init(
        _ code: Code,
        _ message: String,
        entity: String? = nil,
        key: String? = nil,
        constraint: String? = nil,
        underlying: PostgresError? = nil,
        details: (any KindredErrorDetails)? = nil
    ) {
        self.details = details
        self.code = code
        // It contains names from the database and from callers.
        self.message = TenantSchema.unmarked(message).harmless
        self.entity = entity
        self.key = key
        self.constraint = constraint
        self.underlying = underlying
    }

    /// The error for a client's input.
    package var ofInput: KindredError {
        var error = self
        error.isInput = true
        return error
    }
}

extension KindredError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The message and the code on one line without control characters; safe to log.
    public var description: String {
        "\(message) [\(code)]"
    }

    /// Everything except parameters' values: all problems and conflicts, errors thrown by the program's own validation,
    /// and the server's error.
    public var debugDescription: String {
        var facts = [description]
        if let details { facts += details.facts }
        if let underlying { facts.append(String(reflecting: underlying)) }
        return facts.joined(separator: "; ")
    }
}

/// The part of an error about single objects, which only the rooms above the model know.
package protocol KindredErrorDetails: Sendable {
    /// For `debugDescription`.
    var facts: [String] { get }
    /// The class of several problems.
    var category: ErrorCategory { get }
}
