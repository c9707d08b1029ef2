// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Book: TypedObject {
    /// The entity `public.book`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "book",
        [
            .attribute(\Book.id, "id", "integer"),
            .attribute(\Book.isbn, "isbn", "text"),
            .attribute(\Book.title, "title", "text"),
            .attribute(\Book.published, "published", "date"),
            .attribute(\Book.price, "price", "numeric"),
            .attribute(\Book.keywords, "keywords", "text[]"),
            .attribute(\Book.categoryID, "category_id", "integer", name: "categoryID"),
            .attribute(\Book.version, "version", "integer"),
            .toMany(\Book.authors, "public_book_author_authors_books", name: "authors"),
            .toMany(\Book.bookAuthors, "public_book_author_authors", name: "bookAuthors"),
            .toOne(\Book.category, "public_book_book_category_id_fkey", name: "category"),
            .toMany(\Book.stocks, "public_stock_stock_book_id_fkey", name: "stocks"),
            .toMany(\Book.stores, "public_stock_stock_book_id_fkey_stock_store_id_fkey", name: "stores"),
        ]
    )
}

extension Book {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `isbn`; empty while a new object has no value.
    public var isbn: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `published`; 1970-01-01 while a new object has no value.
    public var published: PostgresDate {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `keywords`; empty while a new object has no value.
    public var keywords: [String?] {
        get { readArray(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `category_id`; 0 while a new object has no value.
    public var categoryID: Int {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `version`; 0 while a new object has no value.
    public var version: Int {
        readProperty(7)
    }

    /// The relationship `authors`.
    public var authors: ToMany<Author> {
        toManyProperty(8)
    }

    /// The relationship `book_authorSet`.
    public var bookAuthors: ToMany<BookAuthor> {
        toManyProperty(9)
    }

    /// The relationship `category`.
    public var category: ToOne<Category> {
        get { toOneProperty(10) }
        @available(*, unavailable, message: "call try await category.set(object)")
        set {}
    }

    /// The relationship `stockSet`.
    public var stocks: ToMany<Stock> {
        toManyProperty(11)
    }

    /// The relationship `storeSet`.
    public var stores: ToMany<Store> {
        toManyProperty(12)
    }
}

extension TypedObject where Self: Book {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var published: Date {
        get { Date() }
        set {}
    }
}
