import CLibPQ

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A connection of libpq.
///
/// Safe while it is open and one thread at a time calls it: the connecting thread first, then the holder of the mutex around
/// the `ConnectionDriver`. Its owner calls `finish` last, as it takes the handle out of the driver first. Memory lent by
/// libpq is copied before it returns, and texts that go in are copied by libpq.
@safe
struct ConnectionHandle: Sendable {
    nonisolated(unsafe) let pointer: OpaquePointer

    /// Takes a connection that nothing else uses.
    @unsafe
    init(_ pointer: OpaquePointer) {
        unsafe self.pointer = unsafe pointer
    }

    // MARK: Beginning and end

    /// Begins to connect; nil if out of memory.
    ///
    /// The texts, passwords among them, are overwritten in the memory that is given to libpq, which keeps copies.
    static func start(_ parameters: [(keyword: String, value: String)]) -> ConnectionHandle? {
        let keywords = unsafe parameters.map { unsafe strdup($0.keyword) } + [nil]
        let values = unsafe parameters.map { unsafe strdup($0.value) } + [nil]
        defer {
            unsafe (keywords + values).forEach { unsafe wipe($0) }
        }
        return unsafe PQconnectStartParams(
            keywords.map { unsafe UnsafePointer($0) }, values.map { unsafe UnsafePointer($0) }, 0
        ).map { unsafe ConnectionHandle($0) }
    }

    /// Overwrites and frees a text.
    private static func wipe(_ text: UnsafeMutablePointer<CChar>?) {
        guard let text = unsafe text else { return }
        #if canImport(Darwin)
            _ = unsafe memset_s(text, strlen(text), 0, strlen(text))
        #else
            unsafe explicit_bzero(text, strlen(text))
        #endif
        unsafe free(text)
    }

    /// Goes on connecting, when the socket is ready.
    func connectFurther() -> PostgresPollingStatusType { unsafe PQconnectPoll(pointer) }

    /// Closes and frees the connection; the handle is not used afterwards.
    func finish() { unsafe PQfinish(pointer) }

    /// Whether errors tell their SQLSTATE and the place in the server's sources.
    func setVerboseErrors(_ areVerbose: Bool) {
        _ = unsafe PQsetErrorVerbosity(pointer, areVerbose ? PQERRORS_VERBOSE : PQERRORS_DEFAULT)
    }

    func stopBlocking() -> Bool { unsafe PQsetnonblocking(pointer, 1) == 0 }
    func enterPipelineMode() -> Bool { unsafe PQenterPipelineMode(pointer) == 1 }
    func exitPipelineMode() -> Bool { unsafe PQexitPipelineMode(pointer) == 1 }

    // MARK: State

    var socket: Int32 { unsafe PQsocket(pointer) }
    var processID: Int32 { unsafe PQbackendPID(pointer) }
    var status: ConnStatusType { unsafe PQstatus(pointer) }
    var isAlive: Bool { status == CONNECTION_OK }
    var transactionStatus: PGTransactionStatusType { unsafe PQtransactionStatus(pointer) }

    /// Whether a transaction is open or failed; nil while a statement is in flight.
    var isInTransaction: Bool? {
        switch transactionStatus {
        case PQTRANS_IDLE: false
        case PQTRANS_INTRANS, PQTRANS_INERROR: true
        default: nil
        }
    }

    /// libpq's last message about the connection.
    var message: String { unsafe PQerrorMessage(pointer).map { unsafe ResultHandle.beginning($0) } ?? "" }

    /// The error of a connection that has ended.
    var lost: PostgresError { LibPQ.connectionLost(message) }

    private static let utf8 = unsafe pg_char_to_encoding("UTF8")
    var usesUTF8: Bool { unsafe PQclientEncoding(pointer) == Self.utf8 }

    /// A setting that the server reports; nil if it does not.
    func parameter(_ name: String) -> String? {
        unsafe PQparameterStatus(pointer, name).map { unsafe String(cString: $0) }
    }

    /// A reported setting that is not the known one; compared before it is copied.
    func parameter(_ name: String, unless known: String?) -> String? {
        guard let value = unsafe PQparameterStatus(pointer, name) else { return nil }
        if let known, unsafe known.withCString({ unsafe strcmp($0, value) }) == 0 { return nil }
        return unsafe String(cString: value)
    }

    /// Whether a reported setting that is on or off is on.
    func isOn(_ name: String) -> Bool? {
        guard let value = unsafe PQparameterStatus(pointer, name) else { return nil }
        return unsafe strcmp(value, "on") == 0
    }

    /// The TLS session that can be looked into; nil if there is none.
    var tls: TLSSession? {
        guard let functions = TLSFunctions.installed, let session = unsafe PQsslStruct(pointer, "OpenSSL") else {
            return nil
        }
        return unsafe TLSSession(OpaquePointer(session), functions)
    }

    var isEncrypted: Bool { unsafe PQsslInUse(pointer) == 1 }
    var isEncryptedByGSS: Bool { unsafe PQgssEncInUse(pointer) == 1 }

    // MARK: Answers

    /// Reads the server's bytes; false if the connection has ended.
    func consumeInput() -> Bool { unsafe PQconsumeInput(pointer) == 1 }

    /// Whether the next result is incomplete; takes in notices and notifications on the way.
    var isBusy: Bool { unsafe PQisBusy(pointer) != 0 }

    /// The next result, which the caller clears or gives to a `QueryResult`; nil between the answers of two statements.
    func nextResult() -> ResultHandle? { unsafe PQgetResult(pointer).map { unsafe ResultHandle($0) } }

    /// Has a sink receive the notices; it has to outlive the connection.
    func setNoticeSink(_ sink: NoticeSink) {
        _ = unsafe PQsetNoticeReceiver(
            pointer,
            { argument, result in
                guard let argument = unsafe argument, let result = unsafe result else { return }
                unsafe Unmanaged<NoticeSink>.fromOpaque(argument).takeUnretainedValue().receive(ResultHandle(result))
            },
            Unmanaged.passUnretained(sink).toOpaque())
    }

    /// A notification as libpq has it.
    struct ArrivedNotification {
        /// The bytes of its texts.
        let size: Int
        let processID: Int32
        /// The texts, if both are short enough and valid; an invalid payload is empty, as repairing it would alter it.
        let texts: (channel: String, payload: String)?
    }

    /// The next notification, taken out of libpq's memory.
    func nextNotification(maximumTextSize: Int) -> ArrivedNotification? {
        guard let notification = unsafe PQnotifies(pointer) else { return nil }
        defer { unsafe PQfreemem(notification) }
        let (name, extra) = unsafe (notification.pointee.relname, notification.pointee.extra)
        let sizes = unsafe [name, extra].compactMap { unsafe $0.map { unsafe strlen($0) } }
        var texts: (String, String)?
        if let name = unsafe name, sizes.allSatisfy({ $0 <= maximumTextSize }),
            let channel = unsafe String(validatingCString: name)
        {
            texts = (channel, unsafe extra.flatMap { unsafe String(validatingCString: $0) } ?? "")
        }
        return unsafe ArrivedNotification(
            size: sizes.reduce(0, +), processID: notification.pointee.be_pid, texts: texts)
    }
}
