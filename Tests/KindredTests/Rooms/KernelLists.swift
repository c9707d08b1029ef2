/// The lists of `KernelCountTests`, a line each.
enum KernelLists {
    /// The functions through which rows come in.
    static let doors = """
        Graph/Rows/ContextCore+LoadedObjects.swift: ContextCore.object(_:of:_:askedAt:)
        Graph/Rows/ContextCore+LoadedObjects.swift: ContextCore.objects(_:of:isFresh:)
        Graph/Rows/ContextCore+Objects.swift: ContextCore.take(_:of:askedAt:)
        Graph/Rows/ContextCore+Objects.swift: ContextCore.take(_:row:of:askedAt:)
        Graph/Rows/ContextCore+Snapshot.swift: ContextCore.take(_:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:for:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:of:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:of:object:at:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(deletionOf:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(storedRowOf:isNew:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(written:of:)
        Graph/Rows/ContextCore+TakeRead.swift: ContextCore.take(_:of:)
        """

    /// The stored times.
    static let times = """
        Graph/Answers/FetchGroup.swift: FetchGroup.Slot.staleSince
        Graph/Answers/FetchGroup.swift: FetchGroup.askedAt
        Graph/Answers/LoadedBatch.swift: LoadedBatch.askedAt
        Graph/Answers/LoadedMembers.swift: LoadedMembers.seenAt
        Graph/Notes/LoadedParts.swift: LoadedParts.Part.owners
        Graph/Notes/LoadedParts.swift: LoadedParts.Part.staleSince
        Graph/Notes/NewerRow.swift: NewerRow.changedAt
        Graph/Notes/NewerRow.swift: ReleasedRow.changedAt
        Graph/Notes/RelationshipLog.swift: RelationshipLog.Entry.changedAt
        Graph/Notes/RelationshipLog.swift: RelationshipLog.Owner.staleSince
        Graph/Notes/RelationshipLog.swift: RelationshipLog.staleSince
        Graph/Notes/RowDeletion.swift: RowDeletion.deletedAt
        Graph/Notes/RowNotes+Staleness.swift: LostRows.lostAt
        Graph/Notes/RowNotes+Staleness.swift: LostRows.staleSince
        Graph/Notes/RowNotes.swift: RowNotes.Table.deletedAt
        Graph/Notes/RowNotes.swift: RowNotes.Table.leftAt
        Graph/Notes/RowNotes.swift: RowNotes.Table.moved
        Graph/Notes/RowNotes.swift: RowNotes.Table.movedAt
        Graph/Notes/RowNotes.swift: RowNotes.Table.staleRows
        Graph/Notes/RowNotes.swift: RowNotes.Table.staleSince
        Graph/Notes/RowNotes.swift: RowNotes.Table.unknownAt
        Graph/Notes/RowNotes.swift: RowNotes.viewsStaleSince
        Graph/State/ChangeFollowing.swift: ChangeFollowing.Count.askedAt
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.checkAt
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.doubtful
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.leftOut
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.preparedAt
        Graph/State/ChangeFollowing.swift: ChangeFollowing.ownNotedAt
        Graph/State/ContextCore.swift: ContextCore.notedAt
        Graph/State/TransactionJournal.swift: TransactionJournal.Entries.losses
        Graph/Times/TransactionTimes.swift: TransactionTimes.Span.began
        Graph/Times/TransactionTimes.swift: TransactionTimes.Span.ended
        Graph/Times/TransactionTimes.swift: TransactionTimes.forgottenBegan
        Graph/Times/TransactionTimes.swift: TransactionTimes.forgottenEnded
        Live/Contexts/ContextPlan.swift: ContextPlan.askedAt
        Reading/Loading/Loader+Prefetch.swift: KnownEnds.time
        Reading/Requests/ObjectStream.swift: ObjectStream.AsyncIterator.askedAt
        """

    /// The files that compare times, and so decide whether an answer is valid.
    static let decidingFiles = """
        Graph/Answers/FetchGroup.swift
        Graph/Notes/LoadedParts.swift
        Graph/Notes/RelationshipLog.swift
        Graph/Notes/RowDeletion.swift
        Graph/Notes/RowNotes+Staleness.swift
        Graph/Notes/RowNotes.swift
        Graph/Noting/ContextCore+Notes.swift
        Graph/Relationships/ContextCore+Showing.swift
        Graph/Rows/ContextCore+LoadedObjects.swift
        Graph/Rows/ContextCore+Take.swift
        Graph/Rows/ContextCore+TakeCommitted.swift
        Graph/State/ChangeFollowing.swift
        Graph/State/ContextCore.swift
        Graph/Times/TransactionTimes.swift
        Live/Contexts/ContextFollower.swift
        Live/Contexts/ContextPlan+Commit.swift
        Live/Contexts/ContextPlan.swift
        Reading/Loading/Loader+Query.swift
        Reading/Loading/Loader.swift
        Reading/Loading/MemberCounter.swift
        Reading/Loading/PartLoader.swift
        """

    /// The functions that note.
    static let notes = """
        Graph/Answers/FetchGroup.swift: FetchGroup.forget(_:before:)
        Graph/Notes/LoadedParts.swift: LoadedParts.Part.note(_:from:to:at:)
        Graph/Notes/LoadedParts.swift: LoadedParts.Part.noteAll(at:)
        Graph/Notes/LoadedParts.swift: LoadedParts.part(_:in:at:)
        Graph/Notes/RelationshipLog.swift: RelationshipLog.append(_:of:at:)
        Graph/Notes/RelationshipLog.swift: RelationshipLog.noteAllStale(at:)
        Graph/Notes/RelationshipLog.swift: RelationshipLog.noteStale(_:at:)
        Graph/Notes/RelationshipLog.swift: RelationshipLog.rename(_:to:)
        Graph/Notes/RowNotes+Staleness.swift: RowNotes.noteLostRows(_:at:areStale:)
        Graph/Notes/RowNotes+Staleness.swift: RowNotes.undoLostRows(_:at:_:)
        Graph/Notes/RowNotes.swift: RowNotes.countStale()
        Graph/Notes/RowNotes.swift: RowNotes.forgetNotes(of:at:)
        Graph/Notes/RowNotes.swift: RowNotes.keepReleasedRow(_:)
        Graph/Notes/RowNotes.swift: RowNotes.noteAllStale(_:at:)
        Graph/Notes/RowNotes.swift: RowNotes.noteCommitted(_:of:key:askedAt:at:)
        Graph/Notes/RowNotes.swift: RowNotes.noteDeleted(_:_:at:in:)
        Graph/Notes/RowNotes.swift: RowNotes.noteInLog(_:_:)
        Graph/Notes/RowNotes.swift: RowNotes.noteLeft(_:at:)
        Graph/Notes/RowNotes.swift: RowNotes.noteMoved(_:_:at:)
        Graph/Notes/RowNotes.swift: RowNotes.noteRead(_:of:key:askedAt:)
        Graph/Notes/RowNotes.swift: RowNotes.noteStale(_:_:at:)
        Graph/Notes/RowNotes.swift: RowNotes.noteStale(_:_:at:)
        Graph/Notes/RowNotes.swift: RowNotes.noteStored(_:_:in:)
        Graph/Notes/RowNotes.swift: RowNotes.noteUnknownRows(_:at:)
        Graph/Notes/RowNotes.swift: RowNotes.noteViewsStale(at:)
        Graph/Notes/RowNotes.swift: RowNotes.placeToNote(_:)
        Graph/Notes/RowNotes.swift: RowNotes.renameOwner(_:of:row:)
        Graph/Notes/RowNotes.swift: RowNotes.setDeleting(_:of:keys:)
        Graph/Notes/RowNotes.swift: RowNotes.setNewerRow(_:of:key:)
        Graph/Noting/ContextCore+Filters.swift: ContextCore.notePairsStale(with:)
        Graph/Noting/ContextCore+Filters.swift: ContextCore.noteShownOrHidden(of:)
        Graph/Noting/ContextCore+Notes.swift: ContextCore.noteLostRows(of:areStale:)
        Graph/Noting/ContextCore+Notes.swift: ContextCore.noteNow(_:)
        Graph/Noting/ContextCore+Notes.swift: ContextCore.noteWritten(_:_:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteAllStale(_:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteEntry(_:in:of:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteEntry(_:through:of:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteHelperRow(_:of:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteOwners(of:_:former:from:to:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.notePair(_:_:in:isPaired:formerly:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.notePair(in:of:isPaired:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.notePairs(besides:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteRow(_:of:_:isDeletion:isByOthers:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteStale(_:_:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteStale(_:of:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteUnheldPair(_:of:in:through:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteUnknownOwners(of:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteUnpaired(_:owner:member:)
        Graph/Noting/ContextCore+Noting.swift: ContextCore.noteWrittenThrough(_:)
        Graph/Noting/ContextCore+Parts.swift: ContextCore.loadedPart(_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.arrived(_:of:askedAt:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.keepUnheld(_:of:_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.placeStored(_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.rekey(_:from:to:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.staged(_:_:from:to:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.staged(_:formerly:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.staged(deletions:of:_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(_:_:isHeld:at:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(_:by:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(_:of:from:to:by:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(committed:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(committed:_:_:askedAt:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(committedDeletion:of:_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(deletion:of:by:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(deletions:of:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(moved:_:_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.taken(read:of:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenAgain(_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenAway(_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenBack(_:at:in:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenBack(_:of:_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenBack(_:of:at:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenByViews()
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenEverything(by:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenHelperRows(_:of:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.takenHelperRows(of:between:_:)
        Graph/Noting/ContextCore+Taken.swift: ContextCore.tellNotes(to:_:askedAt:_:)
        Graph/Relationships/ContextCore+Following.swift: ContextCore.loseEverything()
        Graph/Rows/ContextCore+ChangedKeys.swift: ContextCore.followKeys(of:from:)
        Graph/Rows/ContextCore+ChangedKeys.swift: ContextCore.followStaged(_:from:to:)
        Graph/Rows/ContextCore+Snapshot.swift: ContextCore.attach(_:_:askedAt:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.follow(_:of:to:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:_:by:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.take(_:_:of:at:)
        Graph/Rows/ContextCore+Take.swift: ContextCore.takeUnknownMembers(of:in:)
        Graph/Rows/ContextCore+TakeCommitted.swift: ContextCore.takeCommitted(_:to:of:besides:askedAt:)
        Graph/Rows/ContextCore+TakeCommitted.swift: ContextCore.takeCommitted(_:askedAt:)
        Graph/Rows/ContextCore+TakeCommitted.swift: ContextCore.takeCommitted(deletionOf:of:besides:askedAt:)
        Graph/Staging/ContextCore+Staging.swift: ContextCore.changeStaging(of:mayMove:_:)
        Graph/Staging/ContextCore+Staging.swift: ContextCore.rollback()
        Graph/Staging/ContextCore+Staging.swift: ContextCore.rollback(_:)
        Graph/Staging/ContextCore+Staging.swift: ContextCore.stage(_:payload:)
        Graph/Staging/ContextCore+Staging.swift: ContextCore.stageDeletion(of:)
        Graph/Staging/ContextCore+Staging.swift: ContextCore.takeBack(_:)
        Graph/Staging/ContextCore+Staging.swift: ContextCore.unstage(_:)
        Graph/Staging/ContextCore+Staging.swift: ContextCore.unstage(_:of:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.keep(_:forKey:setAt:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stage(_:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stage(_:at:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stage(_:at:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stage(_:at:setAt:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stage(_:forKey:setAt:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stage(property:forKey:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stageOrThrow(_:)
        Graph/Staging/DatabaseObject+Staging.swift: DatabaseObject.stageOrThrow(_:at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.doubt(_:_:at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.dropCounts()
        Graph/State/ChangeFollowing.swift: ChangeFollowing.State.keep(_:of:_:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.arrived(_:of:at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.mustCheck(at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.noted(at:)
        Graph/State/ChangeFollowing.swift: ChangeFollowing.wrote(_:_:at:)
        Graph/State/ContextCore.swift: ContextCore.begin(_:)
        Graph/State/ContextCore.swift: ContextCore.withMap(_:)
        Graph/State/TransactionJournal.swift: TransactionJournal.Entries.append(_:)
        Graph/State/TransactionJournal.swift: TransactionJournal.recordLostRows(_:_:at:in:)
        Graph/Times/TransactionTimes.swift: TransactionTimes.begin(_:at:)
        Graph/Times/TransactionTimes.swift: TransactionTimes.end(_:at:)
        Graph/Transactions/TransactionJournal+Undo.swift: ContextCore.enter(_:from:to:in:)
        Graph/Transactions/TransactionJournal+Undo.swift: ContextCore.noteUnknownWrite()
        Graph/Transactions/TransactionJournal+Undo.swift: TransactionJournal.putBack(_:)
        Graph/Transactions/TransactionJournal+Undo.swift: TransactionJournal.restore(isUnknown:)
        Graph/Transactions/TransactionJournal+Undo.swift: TransactionJournal.undo(isUnknown:)
        Live/Contexts/ContextFollower.swift: ContextCore.readAgain(_:)
        Live/Contexts/ContextFollower.swift: ContextFollower.commit(at:)
        Live/Contexts/ContextFollower.swift: ContextFollower.enter(_:)
        Live/Contexts/ContextFollower.swift: ContextFollower.evaluate(_:at:)
        Live/Contexts/ContextFollower.swift: ContextFollower.fail(_:)
        Live/Contexts/ContextFollower.swift: ContextFollower.follow(_:in:)
        Live/Contexts/ContextFollower.swift: ContextFollower.plans(of:_:_:isApart:)
        Live/Contexts/ContextFollower.swift: ContextFollower.prepare()
        Live/Contexts/ContextFollower.swift: ContextFollower.stop(_:_:isForGood:)
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.apply()
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.changedMeanwhile()
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.commit()
        Live/Contexts/ContextPlan+Commit.swift: ContextPlan.finish(_:)
        Live/Contexts/ContextPlan.swift: ContextPlan.add(_:of:)
        """
}
