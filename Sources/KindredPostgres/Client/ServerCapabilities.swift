/// The features of a server, as they were found by trying; see ``PostgresClient/capabilities``.
public struct ServerCapabilities: Sendable, Hashable {
    /// Whether a feature works.
    public enum Answer: Sendable, Hashable {
        /// It was tried, and works.
        case yes
        /// It was tried, and does not work, or not for the role; the reason is the server's message.
        case no(reason: String)
        /// It could not be tried, as where a server takes no writes; the reason is the server's message.
        case unknown(reason: String)

        /// The reason; nil for `yes`.
        public var reason: String? {
            switch self {
            case .yes: nil
            case .no(let reason), .unknown(let reason): reason
            }
        }

        /// Its name: yes, no or unknown.
        package var name: String {
            switch self {
            case .yes: "yes"
            case .no: "no"
            case .unknown: "unknown"
            }
        }
    }

    private let answers: [ServerCapability: Answer]

    init(_ answers: [ServerCapability: Answer]) {
        self.answers = answers
    }

    /// Whether a feature works.
    public subscript(capability: ServerCapability) -> Answer {
        answers[capability] ?? .unknown(reason: "It was not asked for")
    }
}
