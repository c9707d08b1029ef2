extension PostgresConfiguration {
    /// How a dead connection is detected that was never closed; has no effect on unix sockets.
    ///
    /// By default within ten seconds, with TCP keep-alives while idle and a user timeout while sending. Times are whole
    /// seconds, except `userTimeout`. `keepalives` and its like in a URI override these settings.
    public struct KeepAlive: Sendable, Hashable {
        /// The idle time before the first probe; nil sends none.
        public var idle: Duration? = .seconds(4)
        /// The time between two probes.
        public var interval: Duration = .seconds(2)
        /// The connection is dead after this many unanswered probes.
        public var count = 3
        /// The longest time that sent data may stay unacknowledged (TCP_USER_TIMEOUT); nil is the system's choice.
        public var userTimeout: Duration? = .seconds(10)

        /// The defaults.
        public init() {}
    }

    /// The keep-alives as libpq's parameters.
    var keepAliveParameters: [String: String] {
        func seconds(_ duration: Duration) -> String {
            let (seconds, rest) = duration.components
            return String(min(Int64(Int32.max), max(1, rest > 0 ? seconds + 1 : seconds)))
        }
        var parameters = ["keepalives": keepAlive.idle == nil ? "0" : "1"]
        if let idle = keepAlive.idle {
            parameters["keepalives_idle"] = seconds(idle)
            parameters["keepalives_interval"] = seconds(keepAlive.interval)
            parameters["keepalives_count"] = String(keepAlive.count)
        }
        if let timeout = keepAlive.userTimeout {
            let milliseconds = timeout / .milliseconds(1)
            parameters["tcp_user_timeout"] = String(Int32(min(Double(Int32.max), max(1, milliseconds.rounded(.up)))))
        }
        return parameters
    }
}
