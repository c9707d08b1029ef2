// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension NewBook: KeyedObject {
    /// The class of the objects.
    public typealias Target = NewBook
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case title
        case price
        case published
        case authors
        case bookAuthors
        case stocks
        case stores
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(PropertyNumber.title.rawValue) }
        set { writeProperty(PropertyNumber.title.rawValue, newValue) }
    }

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(PropertyNumber.price.rawValue) }
        set { writeProperty(PropertyNumber.price.rawValue, newValue) }
    }

    /// The column `published`; 1970-01-01 while a new object has no value.
    public var published: PostgresDate {
        get { readProperty(PropertyNumber.published.rawValue) }
        set { writeProperty(PropertyNumber.published.rawValue, newValue) }
    }

    /// The relationship `authorSet`.
    public var authors: ToMany<Author> {
        toManyProperty(PropertyNumber.authors.rawValue)
    }

    /// The relationship `book_authorSet`.
    public var bookAuthors: ToMany<BookAuthor> {
        toManyProperty(PropertyNumber.bookAuthors.rawValue)
    }

    /// The relationship `stockSet`.
    public var stocks: ToMany<Stock> {
        toManyProperty(PropertyNumber.stocks.rawValue)
    }

    /// The relationship `storeSet`.
    public var stores: ToMany<Store> {
        toManyProperty(PropertyNumber.stores.rawValue)
    }
}

extension NewBook {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        title: String? = nil,
        price: PostgresNumeric? = nil,
        published: PostgresDate? = nil
    ) -> NewValues<NewBook> {
        var values = NewValues<NewBook>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setProperty(PropertyNumber.price.rawValue, price)
        values.setProperty(PropertyNumber.published.rawValue, published)
        return values
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
