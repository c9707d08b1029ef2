import Kindred
import KindredPostgres
import Synchronization

/// The readers and followers of a database's changes, and the choices of the program for them.
final class LiveCompanion: DatabaseCompanion {
    /// Follow changes for live requests while there are any: one for all contexts with equal settings.
    let liveHubs = RankedMutex(WeakReferences<SessionSettings>(), .leaf)
    /// Reads changes while something follows them; holds the database meanwhile.
    let changeReaderReference = RankedMutex(WeakReference(), .leaf)
    /// Bring changes to contexts while some follow them: one for all contexts with equal settings.
    let contextFollowers = RankedMutex(WeakReferences<SessionSettings>(), .leaf)
    /// The questions about tables that tasks ask at the same time.
    let tableQuestions = RankedMutex(WeakReference(), .leaf)
    /// The records that tasks read at the same time for clients that come back, one after the other.
    let readings = RankedMutex(WeakReference(), .leaf)
    let readingGate = AsyncGate()
    let trackingMetrics = RankedMutex(Tracking.Metrics(), .leaf)
    /// Where notifications of changes are listened to.
    let listening: ChangeListening
    /// The role to which new consumers belong; nil for the role that makes them.
    let consumerOwner: String?
    /// The role whose installation of change tracking is used, besides installations of the program's role and of
    /// superusers.
    let owner: String?
    /// The times that a question of a common step of live requests and contexts may take.
    let questionLimits: QuestionLimits
    /// Whether a check has found that the helper schema may be used.
    let isHelperKnown = RankedMutex(false, .leaf)
    /// Tells other processes of row locks; made at the first announcement.
    let lockAnnouncer = RankedMutex<(any LockConnection)?>(nil, .leaf)

    init(
        listening: ChangeListening = .byClient, consumerOwner: String? = nil, owner: String? = nil,
        questionLimits: QuestionLimits = QuestionLimits()
    ) {
        (self.listening, self.consumerOwner, self.owner) = (listening, consumerOwner, owner)
        self.questionLimits = questionLimits
    }

    func close() async {
        await lockAnnouncer.withLock { $0 }?.close()
        listening.close()
    }

    var metrics: Tracking.Metrics { trackingMetrics.withLock { $0 } }
}

/// The connection over which locks are announced.
protocol LockConnection: AnyObject, Sendable {
    /// Closes it; no other is opened after that.
    func close() async
}

extension Database {
    /// The readers and followers of the database's changes; made when they are first needed, unless the program has made choices.
    var live: LiveCompanion {
        companion.withLock { companion in
            if let known = companion as? LiveCompanion { return known }
            let made = LiveCompanion()
            companion = made
            return made
        }
    }
}
