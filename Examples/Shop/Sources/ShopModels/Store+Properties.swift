// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Store: KeyedObject {
    /// The class of the objects.
    public typealias Target = Store
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case id
        case city
        case opened
        case managerID
        case books
        case manager
        case newBooks
        case purchases
        case stocks
    }

    /// The column `id`; 0 while a new object has no value.
    public var id: Int {
        get { readProperty(PropertyNumber.id.rawValue) }
        set { writeProperty(PropertyNumber.id.rawValue, newValue) }
    }

    /// The column `city`; empty while a new object has no value.
    public var city: String {
        get { readProperty(PropertyNumber.city.rawValue) }
        set { writeProperty(PropertyNumber.city.rawValue, newValue) }
    }

    /// The column `opened`; 1970-01-01 while a new object has no value.
    public var opened: PostgresDate {
        get { readProperty(PropertyNumber.opened.rawValue) }
        set { writeProperty(PropertyNumber.opened.rawValue, newValue) }
    }

    /// The column `manager_id`.
    public var managerID: Int? {
        get { readProperty(PropertyNumber.managerID.rawValue) }
        set { writeProperty(PropertyNumber.managerID.rawValue, newValue) }
    }

    /// The relationship `bookSet`.
    public var books: ToMany<Book> {
        toManyProperty(PropertyNumber.books.rawValue)
    }

    /// The relationship `manager`.
    public var manager: ToOne<Person?> {
        get { toOneProperty(PropertyNumber.manager.rawValue) }
        @available(*, unavailable, message: "call try await manager.set(object)")
        set {}
    }

    /// The relationship `new_bookSet`.
    public var newBooks: ToMany<NewBook> {
        toManyProperty(PropertyNumber.newBooks.rawValue)
    }

    /// The relationship `purchaseSet`.
    public var purchases: ToMany<Purchase> {
        toManyProperty(PropertyNumber.purchases.rawValue)
    }

    /// The relationship `stockSet`.
    public var stocks: ToMany<Stock> {
        toManyProperty(PropertyNumber.stocks.rawValue)
    }
}

extension Store {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        id: Int? = nil,
        city: String,
        opened: PostgresDate,
        manager: some OptionalToOneValue<Person> = Person?.none
    ) -> NewValues<Store> {
        var values = NewValues<Store>()
        values.setProperty(PropertyNumber.id.rawValue, id)
        values.setProperty(PropertyNumber.city.rawValue, city)
        values.setProperty(PropertyNumber.opened.rawValue, opened)
        values.setToOne(PropertyNumber.manager.rawValue, columns: [PropertyNumber.managerID.rawValue], manager)
        return values
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
