extension PostgresConfiguration {
    /// How a line is found out that is dead without a word; has no effect on unix sockets.
    ///
    /// By default within ten seconds, whether the client waits for the server or the server's system for an answer. Times
    /// are whole seconds, except `userTimeout`. `keepalives` and its like in a URI count more than these.
    public struct KeepAlive: Sendable, Hashable {
        /// After so long without a word the other side is asked for a sign of life; nil never asks.
        public var idle: Duration? = .seconds(4)
        /// The time between two questions.
        public var interval: Duration = .seconds(2)
        /// After so many unanswered questions the connection has ended.
        public var count = 3
        /// How long something that was sent may stay unacknowledged by the other side's system; nil is the system's choice.
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
