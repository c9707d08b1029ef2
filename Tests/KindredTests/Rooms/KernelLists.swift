/// The lists of `KernelCountTests`, a line each.
enum KernelLists {
    /// The functions through which rows come in.
    static let doors = """
        Graph/Rows/ContextCore+LoadedObjects.swift: ContextCore.object(_:of:_:askedAt:)
        Graph/Rows/ContextCore+LoadedObjects.swift: ContextCore.objects(_:of:isFresh:)
        Graph/Rows/ContextCore+Objects.swift: ContextCore.take(_:of:askedAt:)
        Graph/Rows/ContextCore+Objects.swift: ContextCore.take(_:row:of:askedAt:)
        Graph/Rows/ContextCore+Snapshot.swift: ContextCore.take(_:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:for:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:of:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:of:object:at:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(storedRowOf:isNew:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(written:of:)
        Graph/Rows/ContextCore+TakeStored.swift: ContextCore.take(_:)
        """

    /// The stored times.
    static let times = """
        Graph/Answers/FetchGroup.swift: FetchGroup.Slot.staleSince
        Graph/Answers/FetchGroup.swift: FetchGroup.askedAt
        Graph/Answers/Answer.swift: Answer.askedAt
        Graph/Answers/LoadedMembers.swift: LoadedMembers.seenAt
        Graph/Changes/ChangeLog+Entry.swift: ChangeLog.Entry.askedAt
        Graph/Changes/ChangeLog+Entry.swift: ChangeLog.Entry.at
        Graph/Changes/ChangeLog.swift: ChangeLog.Table.staleRows
        Graph/Changes/ChangeLog.swift: ChangeLog.appendedAt
        Graph/Changes/ChangeLog.swift: ChangeLog.viewsStaleSince
        Graph/Changes/LoadedParts.swift: LoadedParts.Part.knownSince
        Graph/Changes/LoadedParts.swift: LoadedParts.Part.owners
        Graph/Changes/LoadedParts.swift: LoadedParts.Part.staleSince
        Graph/Changes/LoadedParts.swift: LoadedParts.takenAt
        Graph/Changes/MemberChanges.swift: MemberChanges.Entry.changedAt
        Graph/Changes/MemberChanges.swift: MemberChanges.Owner.staleSince
        Graph/Changes/MemberChanges.swift: MemberChanges.leftAt
        Graph/Changes/MemberChanges.swift: MemberChanges.moved
        Graph/Changes/MemberChanges.swift: MemberChanges.staleSince
        Graph/Changes/MemberChanges.swift: MemberChanges.takenAt
        Graph/Changes/RowChanges.swift: RowChanges.forgottenAt
        Graph/Rows/ContextCore+Take.swift: SentQuery.askedAt
        Graph/State/ChangeFollowing.swift: ChangeFollowing.Count.askedAt
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.doubtful
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.leftOut
        Graph/State/ChangeFollowing.swift: ChangeFollowing.ownChangedAt
        Graph/State/ContextCore.swift: ContextCore.changedAt
        Graph/Times/ScopedTime.swift: ScopedTime.pending
        Graph/Times/ScopedTime.swift: ScopedTime.settled
        Graph/Times/TransactionTimes.swift: TransactionTimes.Span.began
        Graph/Times/TransactionTimes.swift: TransactionTimes.Span.ended
        Graph/Times/TransactionTimes.swift: TransactionTimes.forgottenBegan
        Graph/Times/TransactionTimes.swift: TransactionTimes.forgottenEnded
        Live/Contexts/ContextFollower.swift: ContextFollower.Entry.preparedAt
        Live/Contexts/ContextPlan.swift: ContextPlan.askedAt
        Reading/Loading/Loader+Prefetch.swift: KnownEnds.time
        Reading/Requests/ObjectStream.swift: ObjectStream.AsyncIterator.askedAt
        """

    /// The files that compare times, and so decide whether an answer is valid.
    static let decidingFiles = """
        Graph/Log/ContextCore+Validity.swift
        Graph/Answers/FetchGroup.swift
        Graph/Changes/ChangeLog.swift
        Graph/Changes/LoadedParts.swift
        Graph/Changes/MemberChanges.swift
        Graph/Changes/RowChanges.swift
        Graph/Relationships/ContextCore+Showing.swift
        Graph/Rows/ContextCore+LoadedObjects.swift
        Graph/Rows/ContextCore+Take.swift
        Graph/Rows/ContextCore+TakeCommitted.swift
        Graph/Rows/ContextCore+TakeRead.swift
        Graph/State/ChangeFollowing.swift
        Graph/State/ContextCore.swift
        Graph/Times/TransactionTimes.swift
        Live/Contexts/ContextPlan+Commit.swift
        Reading/Loading/Asker.swift
        Reading/Loading/MemberCounter.swift
        Reading/Loading/PartLoader.swift
        """

    /// The functions that note.
    static let notes = """
        Graph/Answers/FetchGroup.swift: FetchGroup.forget(_:before:)
        Graph/Log/ContextCore+Append.swift: ContextCore.append(_:by:in:to:)
        Graph/Log/ContextCore+Append.swift: ContextCore.atNewTime(_:)
        Graph/Log/ContextCore+Append.swift: ContextCore.becomeStale()
        Graph/Log/ContextCore+Append.swift: ContextCore.wrote(_:_:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.follow(_:of:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:by:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.becameStale(at:)
        Graph/Rows/ContextCore+Objects.swift: ContextCore.arrived(_:of:askedAt:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:_:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:_:of:at:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.takeUnheld(_:_:at:)
        Graph/Rows/ContextCore+TakeRead.swift: ContextCore.bringUpToDate(_:_:askedAt:in:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.doubt(_:_:at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.dropCounts()
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.keep(_:of:_:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.arrived(_:of:at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.changed(at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.wrote(_:_:at:)
        Graph/State/ContextCore.swift: ContextCore.begin(_:)
        Graph/Times/ScopedTime.swift: ScopedTime.advance(to:in:)
        Graph/Times/ScopedTime.swift: ScopedTime.settle()
        Graph/Times/TransactionTimes.swift: TransactionTimes.begin(_:at:)
        Graph/Times/TransactionTimes.swift: TransactionTimes.end(_:at:)
        Live/Contexts/ContextFollower.swift: ContextCore.readAgain(_:)
        Live/Contexts/ContextFollower.swift: ContextFollower.ask(_:after:fitting:)
        Live/Contexts/ContextFollower.swift: ContextFollower.askAlone(_:)
        Live/Contexts/ContextFollower.swift: ContextFollower.evaluate(_:at:)
        Live/Contexts/ContextFollower.swift: ContextFollower.prepare()
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.apply()
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.changedMeanwhile()
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.commit()
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.finish(_:)
        Live/Contexts/ContextPlan.swift: ContextPlan.add(_:of:)
        """
}
