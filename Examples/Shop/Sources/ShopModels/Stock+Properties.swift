// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Stock: KeyedObject {
    /// The class of the objects.
    public typealias Target = Stock
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.stock`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "stock",
        [
            .attribute(\Stock.storeID, "store_id", "integer", name: "storeID"),
            .attribute(\Stock.bookID, "book_id", "integer", name: "bookID"),
            .attribute(\Stock.copies, "copies", "integer"),
            .toOne(\Stock.book, "public_stock_stock_book_id_fkey", name: "book"),
            .toOne(\Stock.newBook, "public_stock_stock_book_id_fkey_new_book", name: "newBook"),
            .toMany(\Stock.sales, "public_purchase_line_purchase_line_store_id_book_id_fkey", name: "sales"),
            .toOne(\Stock.store, "public_stock_stock_store_id_fkey", name: "store"),
        ]
    )
}

extension Stock {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case storeID
        case bookID
        case copies
        case book
        case newBook
        case sales
        case store
    }

    /// The column `store_id`; 0 while a new object has no value.
    public var storeID: Int {
        get { readProperty(PropertyNumber.storeID.rawValue) }
        set { writeProperty(PropertyNumber.storeID.rawValue, newValue) }
    }

    /// The column `book_id`; 0 while a new object has no value.
    public var bookID: Int {
        get { readProperty(PropertyNumber.bookID.rawValue) }
        set { writeProperty(PropertyNumber.bookID.rawValue, newValue) }
    }

    /// The column `copies`; 0 while a new object has no value.
    public var copies: Int {
        get { readProperty(PropertyNumber.copies.rawValue) }
        set { writeProperty(PropertyNumber.copies.rawValue, newValue) }
    }

    /// The relationship `book`.
    public var book: ToOne<Book> {
        get { toOneProperty(PropertyNumber.book.rawValue) }
        @available(*, unavailable, message: "call try await book.set(object)")
        set {}
    }

    /// The relationship `new_book`.
    public var newBook: ToOne<NewBook?> {
        get { toOneProperty(PropertyNumber.newBook.rawValue) }
        @available(*, unavailable, message: "call try await newBook.set(object)")
        set {}
    }

    /// The relationship `sales`.
    public var sales: ToMany<PurchaseLine> {
        toManyProperty(PropertyNumber.sales.rawValue)
    }

    /// The relationship `store`.
    public var store: ToOne<Store> {
        get { toOneProperty(PropertyNumber.store.rawValue) }
        @available(*, unavailable, message: "call try await store.set(object)")
        set {}
    }
}

extension Stock {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        copies: Int,
        book: some ToOneValue<Book>,
        store: some ToOneValue<Store>
    ) -> NewValues<Stock> {
        var values = NewValues<Stock>()
        values.setProperty(PropertyNumber.copies.rawValue, copies)
        values.setToOne(PropertyNumber.book.rawValue, columns: [PropertyNumber.bookID.rawValue], book)
        values.setToOne(PropertyNumber.store.rawValue, columns: [PropertyNumber.storeID.rawValue], store)
        return values
    }
}
