// Names that were replaced before 1.0, and types that are nested in the type they belong to now.

public import Kindred

extension DatabaseContext {
    /// The changes of one object, under its earlier name.
    @available(*, deprecated, renamed: "live(_:prefetch:since:fileID:line:)")
    public func observe<Object: DatabaseObject>(
        _ object: Object, prefetch paths: String..., fileID: String = #fileID, line: Int = #line
    ) async throws -> LiveRequest<Object> {
        try await live(object, prefetch: paths, fileID: fileID, line: line)
    }
}

extension ToMany {
    /// The changes of the set, under its earlier name.
    @available(*, deprecated, renamed: "live(since:fileID:line:)")
    public func observe(fileID: String = #fileID, line: Int = #line) async throws -> LiveRequest<Member> {
        try await live(fileID: fileID, line: line)
    }
}

/// The state of change tracking, under its earlier name.
@available(*, deprecated, renamed: "Tracking.Status")
public typealias TrackingStatus = Tracking.Status

/// Counters of following changes, under their earlier name.
@available(*, deprecated, renamed: "Tracking.Metrics")
public typealias TrackingMetrics = Tracking.Metrics

/// The entities that change with their tables, under their earlier name.
@available(*, deprecated, renamed: "Tracking.SchemaChanges")
public typealias SchemaChanges = Tracking.SchemaChanges

/// A row whose lock was announced, under its earlier name.
@available(*, deprecated, renamed: "AnnouncedLocks.Lock")
public typealias AnnouncedLock = AnnouncedLocks.Lock

/// The announced locks of an entity's objects, under their earlier name.
@available(*, deprecated, renamed: "AnnouncedLocks.Update")
public typealias LockUpdate = AnnouncedLocks.Update

/// The rows that transactions have changed, under their earlier name.
@available(*, deprecated, renamed: "ChangeBatch")
public typealias Changes = ChangeBatch

/// The changes for a consumer, under their earlier name.
@available(*, deprecated, renamed: "ChangeSequence.Acknowledged")
public typealias ConsumerSequence = ChangeSequence.Acknowledged

/// Why changes are not named row by row, under its earlier name.
@available(*, deprecated, renamed: "Tracking.Gap")
public typealias ChangeGap = Tracking.Gap
