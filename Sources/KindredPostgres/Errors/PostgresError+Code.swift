extension PostgresError {
    /// The kind of failure, stable across releases; compare with `==`.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        /// The code's name, such as `poolTimeout`.
        public let description: String

        private init(_ description: String) {
            self.description = description
        }

        /// The server refused the statement; `sqlState` says why.
        public static let server = Code("server")
        /// No connection could be made.
        public static let connectionFailed = Code("connectionFailed")
        /// No connection could be made: the process is out of file descriptors.
        public static let tooManyOpenFiles = Code("tooManyOpenFiles")
        /// The configuration's password provider failed, or returned no usable password in time.
        public static let passwordUnavailable = Code("passwordUnavailable")
        /// The connection ended while the statement ran; unless it only read, it may have taken effect, as the error's
        /// `mayHaveTakenEffect` says.
        public static let connectionLost = Code("connectionLost")
        /// The statement timed out; if the server has not confirmed that it stopped, the error's `mayHaveTakenEffect` is set.
        public static let timeout = Code("timeout")
        /// No connection of the pool became free in time.
        public static let poolTimeout = Code("poolTimeout")
        /// Too many tasks wait for a connection.
        public static let poolOverloaded = Code("poolOverloaded")
        /// Two servers of a database with replicas take writes on the same timeline: nothing is written to either until one of them
        /// is stopped; the statement was not sent.
        public static let twoPrimaries = Code("twoPrimaries")
        /// The client or the connection was closed.
        public static let closed = Code("closed")
        /// The configuration is invalid or contradictory.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// A parameter or identifier is invalid; nothing was sent.
        public static let invalidParameter = Code("invalidParameter")
        /// A value cannot be decoded as the requested type.
        public static let decodingFailed = Code("decodingFailed")
        /// The transaction or lease has ended.
        public static let transactionEnded = Code("transactionEnded")
        /// The transaction was rolled back because a statement in it failed.
        public static let transactionAborted = Code("transactionAborted")
        /// A statement inside the transaction ended it, as a procedure's COMMIT may: earlier writes may be stored or
        /// not.
        public static let transactionBroken = Code("transactionBroken")
        /// The transaction runs with the settings of another context; nothing was sent.
        public static let settingsDiffer = Code("settingsDiffer")
        /// A setting or the role of a context cannot be made, as its name is wrong or the server refused it; nothing took effect.
        ///
        /// A role that may not make it is `.server`, as for every other statement.
        public static let settingsRefused = Code("settingsRefused")
        /// It needs a session of its own, and a pooler lends sessions by transaction; nothing was sent.
        public static let sessionNeeded = Code("sessionNeeded")
        /// The server, or a pooler before it, lacks a feature that the call needs, or the role may not use it; the
        /// message says what to do, and ``PostgresClient/capabilities`` names all missing features.
        public static let unsupported = Code("unsupported")
        /// The answer to COMMIT was lost: the transaction may or may not have taken effect.
        ///
        /// Or the server's wait for a synchronous standby was cancelled, also after a single statement: it took effect, but
        /// standbys may not have it.
        public static let commitUnknown = Code("commitUnknown")
        /// The task was cancelled, and it is not known whether the statement took effect: the server has not confirmed in time that
        /// it stopped, so that it may do so yet, or it may have committed a part of its work before it stopped.
        ///
        /// Every other cancelled call throws `CancellationError`, and has stored nothing.
        public static let outcomeUnknown = Code("outcomeUnknown")
        /// A task that holds a connection asked for another connection, and none was free.
        public static let nestedAcquire = Code("nestedAcquire")
        /// A COPY occupies the connection.
        public static let copyInProgress = Code("copyInProgress")
        /// The block exceeded its limit of statements; the statement was not sent.
        public static let statementLimitExceeded = Code("statementLimitExceeded")
        /// A result exceeds the configuration's memory limit; the statement was cancelled, or had finished.
        public static let resultTooLarge = Code("resultTooLarge")
        /// The server's answer breaks the protocol.
        public static let protocolViolation = Code("protocolViolation")

        /// Whether an error with this code may follow an effect, unless its maker knows better.
        var leavesDoubt: Bool {
            [.commitUnknown, .outcomeUnknown, .transactionBroken, .decodingFailed, .protocolViolation].contains(self)
        }
    }
}
