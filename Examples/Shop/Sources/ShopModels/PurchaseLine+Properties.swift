// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension PurchaseLine: TypedObject {
    /// The entity `public.purchase_line`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "purchase_line",
        [
            .attribute(\PurchaseLine.storeID, "store_id", "integer", name: "storeID"),
            .attribute(\PurchaseLine.purchaseNumber, "purchase_number", "integer", name: "purchaseNumber"),
            .attribute(\PurchaseLine.line, "line", "integer"),
            .attribute(\PurchaseLine.bookID, "book_id", "integer", name: "bookID"),
            .attribute(\PurchaseLine.copies, "copies", "integer"),
            .attribute(\PurchaseLine.price, "price", "numeric"),
            .attribute(\PurchaseLine.amount, "amount", "numeric"),
            .toOne(\PurchaseLine.purchase, "public_purchase_line_purchase__lines", name: "purchase"),
            .toOne(\PurchaseLine.stock, "public_purchase_line_purchase_line_store_id_book_id_fkey", name: "stock"),
        ]
    )
}

extension PurchaseLine {
    /// The column `store_id`; 0 while a new object has no value.
    public var storeID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `purchase_number`; 0 while a new object has no value.
    public var purchaseNumber: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `line`; 0 while a new object has no value.
    public var line: Int {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `book_id`; 0 while a new object has no value.
    public var bookID: Int {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `copies`; 0 while a new object has no value.
    public var copies: Int {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `amount`.
    public var amount: PostgresNumeric? {
        readProperty(6)
    }

    /// The relationship `purchase`.
    public var purchase: ToOne<Purchase> {
        get { toOneProperty(7) }
        @available(*, unavailable, message: "call try await purchase.set(object)")
        set {}
    }

    /// The relationship `stock`.
    public var stock: ToOne<Stock> {
        get { toOneProperty(8) }
        @available(*, unavailable, message: "call try await stock.set(object)")
        set {}
    }
}
