public import Kindred

extension DatabaseContext.Tracking {
    /// Objects follow the database by themselves, soon after each commit.
    ///
    /// Loaded objects, sets, counts and to-one ends are up to date without a statement at the time of reading. One
    /// statement for each entity reads the changed rows for all contexts of the process with equal settings. Staged
    /// values stay; a save compares with the version that the row had when the first value was staged. An object whose
    /// row was deleted says so for good: if the row comes back, it is a new object. Rows that a running transaction of
    /// the context has changed follow after its end.
    ///
    /// The changes of every table that the context reads must be recorded: `database.tracking.enable`. Otherwise a load
    /// throws `KindredError` `.trackingNotEnabled`, which names the table, also one behind a view. Where it is
    /// unknown which rows have changed, as after a bulk statement and for a view, everything loaded of the entity is read
    /// again at once; with settings or a role so after each change of a table with policies. A row that policies begin to hide
    /// is deleted for the context. Tables that only a policy reads are not followed. `database.tracking.catchUp()`
    /// waits for everything that was committed before.
    ///
    /// Columns that are dropped, renamed or get another type are left out of the objects' rows, and all else goes on. A context whose
    /// rows can no longer be found or read has all of its objects stale, and `catchUp()` throws.
    ///
    /// The context holds no objects: objects that the program holds follow.
    public static let automatic = Self { database, settings in database.contextFollower(for: settings) }
}
