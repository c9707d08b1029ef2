// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Author: KeyedObject {
    /// The class of the objects.
    public typealias Target = Author
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case name
        case born
        case bookAuthors
        case books
        case newBooks
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `name`; empty while a new object has no value.
    public var name: String {
        get { readProperty(PropertyNumber.name.rawValue) }
        set { writeProperty(PropertyNumber.name.rawValue, newValue) }
    }

    /// The column `born`.
    public var born: PostgresDate? {
        get { readProperty(PropertyNumber.born.rawValue) }
        set { writeProperty(PropertyNumber.born.rawValue, newValue) }
    }

    /// The relationship `book_authorSet`.
    public var bookAuthors: ToMany<BookAuthor> {
        toManyProperty(PropertyNumber.bookAuthors.rawValue)
    }

    /// The relationship `books`.
    public var books: ToMany<Book> {
        toManyProperty(PropertyNumber.books.rawValue)
    }

    /// The relationship `new_bookSet`.
    public var newBooks: ToMany<NewBook> {
        toManyProperty(PropertyNumber.newBooks.rawValue)
    }
}

extension Author {
    /// The values of a new row; the database fills what is nil.
    public static func new(id: Int? = nil, name: String, born: PostgresDate? = nil) -> NewValues<Author> {
        var values = NewValues<Author>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.name.rawValue, name)
        values.setProperty(PropertyNumber.born.rawValue, born)
        return values
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
