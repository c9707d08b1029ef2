// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Store: TypedObject {
    /// The entity `public.store`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "store",
        [
            .attribute(\Store.id, "id", "integer"),
            .attribute(\Store.city, "city", "text"),
            .attribute(\Store.opened, "opened", "date"),
            .attribute(\Store.managerID, "manager_id", "integer", name: "managerID"),
            .toMany(\Store.books, "public_stock_stock_store_id_fkey_stock_book_id_fkey", name: "books"),
            .toOne(\Store.manager, "public_store_manager__managed_store", name: "manager"),
            .toMany(\Store.newBooks, "public_stock_stock_store_id_fkey_stock_book_id_fkey_new_book", name: "newBooks"),
            .toMany(\Store.purchases, "public_purchase_purchase_store_id_fkey", name: "purchases"),
            .toMany(\Store.stocks, "public_stock_stock_store_id_fkey", name: "stocks"),
        ]
    )
}

extension Store {
    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `city`; empty while a new object has no value.
    public var city: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `opened`; 1970-01-01 while a new object has no value.
    public var opened: PostgresDate {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `manager_id`.
    public var managerID: Int? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The relationship `bookSet`.
    public var books: ToMany<Book> {
        toManyProperty(4)
    }

    /// The relationship `manager`.
    public var manager: ToOne<Person?> {
        get { toOneProperty(5) }
        @available(*, unavailable, message: "call try await manager.set(object)")
        set {}
    }

    /// The relationship `new_bookSet`.
    public var newBooks: ToMany<NewBook> {
        toManyProperty(6)
    }

    /// The relationship `purchaseSet`.
    public var purchases: ToMany<Purchase> {
        toManyProperty(7)
    }

    /// The relationship `stockSet`.
    public var stocks: ToMany<Stock> {
        toManyProperty(8)
    }
}

extension TypedObject where Self: Store {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .today, or PostgresDate(date, in: timeZone)")
    public var opened: Date {
        get { Date() }
        set {}
    }
}
