// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Author: TypedObject {
    /// The entity `public.author`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "author",
        [
            .attribute(\Author.id, "id", "integer"),
            .attribute(\Author.name, "name", "text"),
            .attribute(\Author.born, "born", "date"),
            .toMany(\Author.bookAuthors, "public_book_author_books", name: "bookAuthors"),
            .toMany(\Author.books, "public_book_author_books_authors", name: "books"),
            .toMany(\Author.newBooks, "public_book_author_books_authors_new_book", name: "newBooks"),
        ]
    )
}

extension Author {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `born`.
    public var born: PostgresDate? {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `book_authorSet`.
    public var bookAuthors: ToMany<BookAuthor> {
        toManyProperty(3)
    }

    /// The relationship `books`.
    public var books: ToMany<Book> {
        toManyProperty(4)
    }

    /// The relationship `new_bookSet`.
    public var newBooks: ToMany<NewBook> {
        toManyProperty(5)
    }
}

extension TypedObject where Self: Author {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var born: Date? {
        get { Date() }
        set {}
    }
}
