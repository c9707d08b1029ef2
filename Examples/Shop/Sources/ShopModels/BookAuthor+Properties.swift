// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension BookAuthor: KeyedObject {
    /// The class of the objects.
    public typealias Target = BookAuthor
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.book_author`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "book_author",
        [
            .attribute(\BookAuthor.bookID, "book_id", "integer", name: "bookID"),
            .attribute(\BookAuthor.authorID, "author_id", "integer", name: "authorID"),
            .attribute(\BookAuthor.position, "position", "integer"),
            .toOne(\BookAuthor.authors, "public_book_author_authors", name: "authors"),
            .toOne(\BookAuthor.books, "public_book_author_books", name: "books"),
            .toOne(\BookAuthor.newBook, "public_book_author_authors_new_book", name: "newBook"),
        ]
    )
}

extension BookAuthor {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case bookID
        case authorID
        case position
        case authors
        case books
        case newBook
    }

    /// The column `book_id`; 0 while a new object has no value.
    public var bookID: Int {
        get { readProperty(PropertyNumber.bookID.rawValue) }
        set { writeProperty(PropertyNumber.bookID.rawValue, newValue) }
    }

    /// The column `author_id`; 0 while a new object has no value.
    public var authorID: Int {
        get { readProperty(PropertyNumber.authorID.rawValue) }
        set { writeProperty(PropertyNumber.authorID.rawValue, newValue) }
    }

    /// The column `position`; 0 while a new object has no value.
    public var position: Int {
        get { readProperty(PropertyNumber.position.rawValue) }
        set { writeProperty(PropertyNumber.position.rawValue, newValue) }
    }

    /// The relationship `authors`.
    public var authors: ToOne<Book> {
        get { toOneProperty(PropertyNumber.authors.rawValue) }
        @available(*, unavailable, message: "call try await authors.set(object)")
        set {}
    }

    /// The relationship `books`.
    public var books: ToOne<Author> {
        get { toOneProperty(PropertyNumber.books.rawValue) }
        @available(*, unavailable, message: "call try await books.set(object)")
        set {}
    }

    /// The relationship `new_book`.
    public var newBook: ToOne<NewBook?> {
        get { toOneProperty(PropertyNumber.newBook.rawValue) }
        @available(*, unavailable, message: "call try await newBook.set(object)")
        set {}
    }
}

extension BookAuthor {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        position: Int? = nil,
        authors: some ToOneValue<Book>,
        books: some ToOneValue<Author>
    ) -> NewValues<BookAuthor> {
        var values = NewValues<BookAuthor>()
        values.setProperty(PropertyNumber.position.rawValue, position)
        values.setToOne(PropertyNumber.authors.rawValue, columns: [PropertyNumber.bookID.rawValue], authors)
        values.setToOne(PropertyNumber.books.rawValue, columns: [PropertyNumber.authorID.rawValue], books)
        return values
    }
}
