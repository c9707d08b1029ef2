import KindredPostgres

extension ChangeLog {
    /// An event and its time.
    struct Entry {
        let event: Event
        /// Later than each question that was sent before the context learnt of the event.
        let at: ContextTime
        /// The time of the query that has shown the change; nil for a change of `at`.
        let askedAt: ContextTime?
        /// The transaction that has made the change, or has read it: after its rollback the entry does not count.
        let scope: TransactionScope?
        /// Whether another client has committed the change.
        let isByOthers: Bool
        /// Whether no row has the key that the change has taken from a row.
        var isFormerKeyFree = true

        /// Whether the entry has not been rolled back.
        var counts: Bool { scope?.isUndone != true }

        /// Answers asked before this time lack the change.
        var countsFrom: ContextTime { isByOthers ? at : askedAt ?? at }

        /// Whether no row has a key any more.
        func isDeletion(of key: ObjectKey) -> Bool {
            guard case .row(let change, _) = event else { return false }
            return change.after == nil || change.formerKey != nil && change.key != key
        }
    }

    /// A change of rows.
    enum Event {
        /// A row came, changed or went; `at` is the owner that it has joined or left by this.
        case row(RowChange, at: OwnerKeys?)
        case pair(PairEnds)
        case gap(RowGap)

        /// The entity whose rows store the change.
        var entity: EntityRuntime {
            switch self {
            case .row(let change, _): change.entity
            case .pair(let pair): pair.relationship.linkRows
            case .gap(let gap): gap.entity
            }
        }

        /// Whether it may make an answer stale, instead of correcting it.
        var mayMakeStale: Bool {
            switch self {
            case .gap: true
            case .row(let change, _): change.entity.changesMayMakeStale
            case .pair(let pair):
                [pair.relationship, pair.relationship.inverse].contains { $0.filter?.isExact == false }
            }
        }
    }

    /// The keys by which members of a relationship refer to an owner.
    struct OwnerKeys {
        let relationship: RelationshipRuntime
        let keys: [ObjectKey]
    }

    /// The ends of a pair of a many-to-many relationship that came or went.
    struct PairEnds {
        struct End {
            /// The keys by which the other end's set finds the row.
            let keys: [ObjectKey]
            /// The key of the row.
            let key: ObjectKey
            /// The row, as far as it is known.
            var row: Row?
        }

        let relationship: RelationshipRuntime
        let source: End
        let destination: End
        /// Whether the pair exists.
        let isPaired: Bool
    }
}
