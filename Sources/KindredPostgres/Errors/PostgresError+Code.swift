extension PostgresError {
    /// What went wrong, stable across releases; match it with `==`.
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
        /// No connection could be made because the process has no file descriptor left.
        public static let tooManyOpenFiles = Code("tooManyOpenFiles")
        /// The password provider of the configuration failed, or gave no password that can be used in the time allowed.
        public static let passwordUnavailable = Code("passwordUnavailable")
        /// The connection ended while the statement ran; whether it took effect is not known unless it only read.
        public static let connectionLost = Code("connectionLost")
        /// The statement took longer than allowed and was cancelled.
        public static let timeout = Code("timeout")
        /// No connection of the pool became free in the time allowed.
        public static let poolTimeout = Code("poolTimeout")
        /// Too many tasks wait for a connection already.
        public static let poolOverloaded = Code("poolOverloaded")
        /// The client or the connection was closed.
        public static let closed = Code("closed")
        /// The connection's settings are wrong or contradict each other.
        public static let invalidConfiguration = Code("invalidConfiguration")
        /// A parameter or an identifier cannot be sent; nothing was.
        public static let invalidParameter = Code("invalidParameter")
        /// A value that the server sent cannot be read as the type asked for.
        public static let decodingFailed = Code("decodingFailed")
        /// The transaction or lease that this belongs to has ended.
        public static let transactionEnded = Code("transactionEnded")
        /// The transaction was rolled back because a statement in it had failed.
        public static let transactionAborted = Code("transactionAborted")
        /// A statement inside the transaction has ended it, as a procedure's COMMIT may: what was written before it may be
        /// stored, or not.
        public static let transactionBroken = Code("transactionBroken")
        /// The answer to COMMIT was lost: the transaction may or may not have taken effect.
        public static let commitUnknown = Code("commitUnknown")
        /// A task that holds a connection asked for another one while none was left.
        public static let nestedAcquire = Code("nestedAcquire")
        /// A COPY has the connection to itself.
        public static let copyInProgress = Code("copyInProgress")
        /// The block sends more statements than it may; this one was not sent.
        public static let statementLimitExceeded = Code("statementLimitExceeded")
        /// A result takes up more memory than the configuration allows; the server was stopped, or had finished already.
        public static let resultTooLarge = Code("resultTooLarge")
        /// The server's answer breaks the protocol.
        public static let protocolViolation = Code("protocolViolation")
    }
}
