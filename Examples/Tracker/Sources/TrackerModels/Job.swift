public import Kindred

/// A row of `public.job`.
///
/// This file is yours: `kindred generate` wrote it once and leaves it alone from now on. Stored properties of your
/// own must be constant or behind a lock, since objects are used by any task.
public final class Job: DatabaseObject, @unchecked Sendable {
}
