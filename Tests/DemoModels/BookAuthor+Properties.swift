// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension BookAuthor: TypedObject {
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
    /// The column `book_id`; 0 while a new object has no value.
    public var bookID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `author_id`; 0 while a new object has no value.
    public var authorID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `position`; 0 while a new object has no value.
    public var position: Int {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `authors`.
    public var authors: ToOne<Book> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await authors.set(object)")
        set {}
    }

    /// The relationship `books`.
    public var books: ToOne<Author> {
        get { toOneProperty(4) }
        @available(*, unavailable, message: "call try await books.set(object)")
        set {}
    }

    /// The relationship `new_book`.
    public var newBook: ToOne<NewBook?> {
        get { toOneProperty(5) }
        @available(*, unavailable, message: "call try await newBook.set(object)")
        set {}
    }
}
