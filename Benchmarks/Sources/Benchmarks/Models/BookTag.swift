import Kindred

/// A row of `public.book_tag`.
///
/// This file is yours: `kindred generate` wrote it once and leaves it alone from now on. Stored properties of your
/// own must be constant or behind a lock, since objects are used by any task.
final class BookTag: DatabaseObject, @unchecked Sendable {
}
