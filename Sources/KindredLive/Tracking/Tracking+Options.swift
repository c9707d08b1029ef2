public import Kindred
public import KindredPostgres

extension Tracking.Options {
    /// Options with a way to be woken; by default the server notifies over the database's own address.
    ///
    /// ```swift
    /// // Statements go through a pooler, over which nothing can be listened to; a direct connection listens.
    /// let database = try await Database.connect(
    ///     "postgres://app@pooler.example.org:6432/shop?pooler=transaction",
    ///     tracking: Tracking.Options(wakeUp: .notify(uri: "postgres://app@db.example.org/shop")))
    /// ```
    public init(
        wakeUp: WakeUp = .notify, consumerOwner: String? = nil, owner: String? = nil,
        lockTimeout: Duration = .milliseconds(100), questionTimeout: Duration = .seconds(1)
    ) {
        self.init()
        choices = LiveChoices(
            wakeUp: wakeUp, consumerOwner: consumerOwner, owner: owner,
            limits: QuestionLimits(lock: lockTimeout, timeout: questionTimeout))
    }

    private var chosen: LiveChoices {
        get { choices as? LiveChoices ?? LiveChoices() }
        set { choices = newValue }
    }

    /// How the reader learns that there is something to read.
    public var wakeUp: WakeUp {
        get { chosen.wakeUp }
        set { chosen.wakeUp = newValue }
    }

    /// The role that owns the consumers made by the program; nil for the role that it is connected as.
    ///
    /// Only members of the role may go on with them, change how long records wait for them, or drop them. Where
    /// passwords are renewed by taking turns with two roles, name a role of which both are members.
    public var consumerOwner: String? {
        get { chosen.consumerOwner }
        set { chosen.consumerOwner = newValue }
    }

    /// The role that has installed change tracking, where it is neither the program's own nor a superuser.
    ///
    /// Functions in the schema `kindred` run with the program's rights, and any role that may create schemas could have
    /// made that schema first. So an installation of another role is refused (`KindredError` `.accessDenied`) unless
    /// the role is named here.
    public var owner: String? {
        get { chosen.owner }
        set { chosen.owner = newValue }
    }

    /// How long a question of a live request or a context waits for a lock, such as that of a migration, before it is asked
    /// again; 100 milliseconds.
    ///
    /// Keep it well below the server's `deadlock_timeout`: then no reader costs a migration its transaction.
    public var lockTimeout: Duration {
        get { chosen.limits.lock }
        set { chosen.limits.lock = newValue }
    }

    /// How long a question of a live request or a context takes in a common step; one second.
    ///
    /// In a step all questions are asked in one transaction, one after the other. A question that takes longer is asked alone
    /// from then on, in a transaction of its own, as long as it takes so long: no other question waits for it, and its own
    /// updates come later, still exact and in order. `slowQuestions` of ``Tracking/metrics`` names it.
    public var questionTimeout: Duration {
        get { chosen.limits.timeout }
        set { chosen.limits.timeout = newValue }
    }

    /// How the reader learns that there is something to read.
    ///
    /// Whatever is chosen, the reader looks from time to time by itself: a wake-up that does not come delays changes by a second
    /// at most, and loses none.
    public struct WakeUp: Sendable {
        enum Way: Sendable {
            case poll
            case notify
            /// Over an address of its own; an error if that is invalid.
            case notifyOver(Result<PostgresConfiguration, any Error>)
        }

        let way: Way

        /// The server notifies over a connection to the database's own address; behind a pooler of transactions the reader polls.
        ///
        /// One connection of the process listens, outside of the pool, while something follows changes.
        public static let notify = WakeUp(way: .notify)

        /// The reader looks by itself, up to four times a second while nothing changes, and never opens a connection that listens.
        ///
        /// For poolers of transactions, where the listening connection of ``notify`` would be tried in vain each minute, and for
        /// servers without LISTEN.
        public static let poll = WakeUp(way: .poll)

        /// The server notifies over a connection to another address, such as the server's own behind a pooler.
        ///
        /// It has to lead to the same database, which each new connection is asked for: notifications of another
        /// database would never come. Where it leads elsewhere, or cannot be reached, the reader polls, and a warning
        /// is logged once.
        ///
        /// - Parameter uri: a connection URI in the form of `PostgresConfiguration.init(uri:)`; for an invalid URI
        ///   `Database.connect` throws `PostgresError` `.invalidConfiguration`. Its pool is not used.
        public static func notify(uri: String) -> WakeUp {
            WakeUp(way: .notifyOver(Result { try PostgresConfiguration(uri: uri) }))
        }

        /// The server notifies over a connection to another address, as ``notify(uri:)``.
        public static func notify(over configuration: PostgresConfiguration) -> WakeUp {
            WakeUp(way: .notifyOver(.success(configuration)))
        }

        /// Throws `PostgresError` `.invalidConfiguration` for an invalid address.
        func validate() throws {
            guard case .notifyOver(let address) = way else { return }
            do {
                try address.get().validate()
            } catch let error as PostgresError {
                throw PostgresError(.invalidConfiguration, "For the listener of changes: \(error.message)")
            }
        }
    }
}

/// The choices that `Tracking.Options` hold.
struct LiveChoices: Sendable {
    var wakeUp = Tracking.Options.WakeUp.notify
    var consumerOwner: String?
    var owner: String?
    var limits = QuestionLimits()
}

/// The times that a question of a common step may take.
struct QuestionLimits: Sendable {
    /// The longest wait for a lock.
    var lock = Duration.milliseconds(100)
    /// The longest time altogether.
    var timeout = Duration.seconds(1)

    /// Throws `PostgresError` `.invalidConfiguration` for times that no statement could take.
    func validate() throws {
        guard min(lock, timeout) >= .milliseconds(1) else {
            throw PostgresError(
                .invalidConfiguration, "lockTimeout and questionTimeout of Tracking.Options are at least a millisecond")
        }
    }
}

/// Where a database's notifications are listened to.
enum ChangeListening: Sendable {
    /// Nowhere.
    case never
    /// Over the client's listening connection.
    case byClient
    /// Over a listening connection to an address of its own.
    case over(PostgresListener)

    /// Whether to listen at all.
    var isWanted: Bool { if case .never = self { false } else { true } }

    /// Ends a listening connection of its own.
    func close() {
        if case .over(let listener) = self { listener.close() }
    }
}
