// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Book: KeyedObject {
    /// The class of the objects.
    public typealias Target = Book
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case isbn
        case title
        case published
        case price
        case keywords
        case categoryID
        case version
        case authors
        case bookAuthors
        case category
        case stocks
        case stores
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `isbn`; empty while a new object has no value.
    public var isbn: String {
        get { readProperty(PropertyNumber.isbn.rawValue) }
        set { writeProperty(PropertyNumber.isbn.rawValue, newValue) }
    }

    /// The column `title`; empty while a new object has no value.
    public var title: String {
        get { readProperty(PropertyNumber.title.rawValue) }
        set { writeProperty(PropertyNumber.title.rawValue, newValue) }
    }

    /// The column `published`; 1970-01-01 while a new object has no value.
    public var published: PostgresDate {
        get { readProperty(PropertyNumber.published.rawValue) }
        set { writeProperty(PropertyNumber.published.rawValue, newValue) }
    }

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(PropertyNumber.price.rawValue) }
        set { writeProperty(PropertyNumber.price.rawValue, newValue) }
    }

    /// The column `keywords`; empty while a new object has no value.
    public var keywords: [String?] {
        get { readArray(PropertyNumber.keywords.rawValue) }
        set { writeProperty(PropertyNumber.keywords.rawValue, newValue) }
    }

    /// The column `category_id`; 0 while a new object has no value.
    public var categoryID: Int {
        get { readProperty(PropertyNumber.categoryID.rawValue) }
        set { writeProperty(PropertyNumber.categoryID.rawValue, newValue) }
    }

    /// The column `version`; 0 while a new object has no value.
    public var version: Int {
        readProperty(PropertyNumber.version.rawValue)
    }

    /// The relationship `authors`.
    public var authors: ToMany<Author> {
        toManyProperty(PropertyNumber.authors.rawValue)
    }

    /// The relationship `book_authorSet`.
    public var bookAuthors: ToMany<BookAuthor> {
        toManyProperty(PropertyNumber.bookAuthors.rawValue)
    }

    /// The relationship `category`.
    public var category: ToOne<Category> {
        get { toOneProperty(PropertyNumber.category.rawValue) }
        @available(*, unavailable, message: "call try await category.set(object)")
        set {}
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

extension Book {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        isbn: String,
        title: String,
        published: PostgresDate,
        price: PostgresNumeric,
        keywords: [String?]? = nil,
        category: some ToOneValue<Category>
    ) -> NewValues<Book> {
        var values = NewValues<Book>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.isbn.rawValue, isbn)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setProperty(PropertyNumber.published.rawValue, published)
        values.setProperty(PropertyNumber.price.rawValue, price)
        values.setProperty(PropertyNumber.keywords.rawValue, keywords)
        values.setToOne(PropertyNumber.category.rawValue, columns: [PropertyNumber.categoryID.rawValue], category)
        return values
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
