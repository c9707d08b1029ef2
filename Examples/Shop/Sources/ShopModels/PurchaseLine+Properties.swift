// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension PurchaseLine: KeyedObject {
    /// The class of the objects.
    public typealias Target = PurchaseLine
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int, Int)
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case storeID
        case purchaseNumber
        case line
        case bookID
        case copies
        case price
        case amount
        case purchase
        case stock
    }

    /// The column `store_id`; 0 while a new object has no value.
    public var storeID: Int {
        get { readProperty(PropertyNumber.storeID.rawValue) }
        set { writeProperty(PropertyNumber.storeID.rawValue, newValue) }
    }

    /// The column `purchase_number`; 0 while a new object has no value.
    public var purchaseNumber: Int {
        get { readProperty(PropertyNumber.purchaseNumber.rawValue) }
        set { writeProperty(PropertyNumber.purchaseNumber.rawValue, newValue) }
    }

    /// The column `line`; 0 while a new object has no value.
    public var line: Int {
        get { readProperty(PropertyNumber.line.rawValue) }
        set { writeProperty(PropertyNumber.line.rawValue, newValue) }
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

    /// The column `price`; 0 while a new object has no value.
    public var price: PostgresNumeric {
        get { readProperty(PropertyNumber.price.rawValue) }
        set { writeProperty(PropertyNumber.price.rawValue, newValue) }
    }

    /// The column `amount`.
    public var amount: PostgresNumeric? {
        readProperty(PropertyNumber.amount.rawValue)
    }

    /// The relationship `purchase`.
    public var purchase: ToOne<Purchase> {
        get { toOneProperty(PropertyNumber.purchase.rawValue) }
        @available(*, unavailable, message: "call try await purchase.set(object)")
        set {}
    }

    /// The relationship `stock`.
    public var stock: ToOne<Stock> {
        get { toOneProperty(PropertyNumber.stock.rawValue) }
        @available(*, unavailable, message: "call try await stock.set(object)")
        set {}
    }
}

extension PurchaseLine {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        line: Int,
        copies: Int? = nil,
        price: PostgresNumeric,
        purchase: some ToOneValue<Purchase>,
        stock: some ToOneValue<Stock>
    ) -> NewValues<PurchaseLine> {
        var values = NewValues<PurchaseLine>()
        values.setProperty(PropertyNumber.line.rawValue, line)
        values.setProperty(PropertyNumber.copies.rawValue, copies)
        values.setProperty(PropertyNumber.price.rawValue, price)
        values.setToOne(
            PropertyNumber.purchase.rawValue,
            columns: [PropertyNumber.storeID.rawValue, PropertyNumber.purchaseNumber.rawValue],
            purchase
        )
        values.setToOne(
            PropertyNumber.stock.rawValue,
            columns: [PropertyNumber.storeID.rawValue, PropertyNumber.bookID.rawValue],
            stock
        )
        return values
    }
}
