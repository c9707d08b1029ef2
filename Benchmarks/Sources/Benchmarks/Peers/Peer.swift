/// Another library that does the same work, in an interpreter.
enum Peer: String, CaseIterable {
    case sqlAlchemy = "sqlalchemy"
    case asyncPG = "asyncpg"

    var title: String {
        switch self {
        case .sqlAlchemy: "SQLAlchemy"
        case .asyncPG: "asyncpg"
        }
    }

    /// The work of a measurement, by its name in `peers.py`.
    enum Work: String {
        case objectByKey = "object-by-key"
        case rowsToObjects = "rows-to-objects"
        case readAttributes = "read-attributes"
        case loopOverBooks = "loop-over-books"
        case authorsWithBooks = "authors-with-books"
        case booksWithAuthorAndTags = "books-with-author-and-tags"
        case concurrentByKey = "concurrent-by-key"
        case newObjects = "new-objects"
        case changedObjects = "changed-objects"
    }
}
