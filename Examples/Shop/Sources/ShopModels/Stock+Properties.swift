// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Stock: TypedObject {
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
    /// The column `store_id`; 0 while a new object has no value.
    public var storeID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `book_id`; 0 while a new object has no value.
    public var bookID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `copies`; 0 while a new object has no value.
    public var copies: Int {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The relationship `book`.
    public var book: ToOne<Book> {
        get { toOneProperty(3) }
        @available(*, unavailable, message: "call try await book.set(object)")
        set {}
    }

    /// The relationship `new_book`.
    public var newBook: ToOne<NewBook?> {
        get { toOneProperty(4) }
        @available(*, unavailable, message: "call try await newBook.set(object)")
        set {}
    }

    /// The relationship `sales`.
    public var sales: ToMany<PurchaseLine> {
        toManyProperty(5)
    }

    /// The relationship `store`.
    public var store: ToOne<Store> {
        get { toOneProperty(6) }
        @available(*, unavailable, message: "call try await store.set(object)")
        set {}
    }
}
