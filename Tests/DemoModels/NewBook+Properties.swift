// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension NewBook: TypedObject {
    /// The entity `public.new_book`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "new_book",
        [
            .attribute(\NewBook.id, "id", "integer"),
            .attribute(\NewBook.title, "title", "text"),
            .attribute(\NewBook.price, "price", "numeric"),
            .attribute(\NewBook.published, "published", "date"),
            .toMany(\NewBook.authors, "public_book_author_authors_books", name: "authors"),
            .toMany(\NewBook.bookAuthors, "public_book_author_authors", name: "bookAuthors"),
            .toMany(\NewBook.stocks, "public_stock_stock_book_id_fkey", name: "stocks"),
            .toMany(\NewBook.stores, "public_stock_stock_book_id_fkey_stock_store_id_fkey", name: "stores"),
        ]
    )
}

extension NewBook {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `published`; 1970-01-01 while a new object has no value.
    public var published: PostgresDate {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The relationship `authorSet`.
    public var authors: ToMany<Author> {
        toManyProperty(4)
    }

    /// The relationship `book_authorSet`.
    public var bookAuthors: ToMany<BookAuthor> {
        toManyProperty(5)
    }

    /// The relationship `stockSet`.
    public var stocks: ToMany<Stock> {
        toManyProperty(6)
    }

    /// The relationship `storeSet`.
    public var stores: ToMany<Store> {
        toManyProperty(7)
    }
}

extension TypedObject where Self: NewBook {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var published: Date {
        get { Date() }
        set {}
    }
}
