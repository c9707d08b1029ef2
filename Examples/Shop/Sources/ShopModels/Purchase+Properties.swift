// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Purchase: KeyedObject {
    /// The class of the objects.
    public typealias Target = Purchase
    /// The type of the key.
    public typealias PrimaryKey = (Int, Int)
    /// The entity `public.purchase`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "purchase",
        [
            .attribute(\Purchase.storeID, "store_id", "integer", name: "storeID"),
            .attribute(\Purchase.number, "number", "integer"),
            .attribute(\Purchase.status, "status", "enum"),
            .attribute(\Purchase.placedAt, "placed_at", "timestamp with time zone", name: "placedAt"),
            .attribute(\Purchase.parcel, "parcel", "uuid"),
            .attribute(\Purchase.buyerID, "buyer_id", "integer", name: "buyerID"),
            .toOne(\Purchase.buyer, "public_purchase_buyer__purchases", name: "buyer"),
            .toMany(\Purchase.lines, "public_purchase_line_purchase__lines", name: "lines"),
            .toOne(\Purchase.store, "public_purchase_purchase_store_id_fkey", name: "store"),
        ]
    )
}

extension Purchase {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case storeID
        case number
        case status
        case placedAt
        case parcel
        case buyerID
        case buyer
        case lines
        case store
    }

    /// The column `store_id`; 0 while a new object has no value.
    public var storeID: Int {
        get { readProperty(PropertyNumber.storeID.rawValue) }
        set { writeProperty(PropertyNumber.storeID.rawValue, newValue) }
    }

    /// The column `number`; 0 while a new object has no value.
    public var number: Int {
        get { readProperty(PropertyNumber.number.rawValue) }
        set { writeProperty(PropertyNumber.number.rawValue, newValue) }
    }

    /// The column `status`; the first label while a new object has no value.
    public var status: PurchaseStatus {
        get { readProperty(PropertyNumber.status.rawValue) }
        set { writeProperty(PropertyNumber.status.rawValue, newValue) }
    }

    /// The column `placed_at`; 1970-01-01 while a new object has no value.
    public var placedAt: PostgresTimestamp {
        get { readProperty(PropertyNumber.placedAt.rawValue) }
        set { writeProperty(PropertyNumber.placedAt.rawValue, newValue) }
    }

    /// The column `parcel`.
    public var parcel: UUID? {
        get { readProperty(PropertyNumber.parcel.rawValue) }
        set { writeProperty(PropertyNumber.parcel.rawValue, newValue) }
    }

    /// The column `buyer_id`.
    public var buyerID: Int? {
        get { readProperty(PropertyNumber.buyerID.rawValue) }
        set { writeProperty(PropertyNumber.buyerID.rawValue, newValue) }
    }

    /// The relationship `buyer`.
    public var buyer: ToOne<Person?> {
        get { toOneProperty(PropertyNumber.buyer.rawValue) }
        @available(*, unavailable, message: "call try await buyer.set(object)")
        set {}
    }

    /// The relationship `lines`.
    public var lines: ToMany<PurchaseLine> {
        toManyProperty(PropertyNumber.lines.rawValue)
    }

    /// The relationship `store`.
    public var store: ToOne<Store> {
        get { toOneProperty(PropertyNumber.store.rawValue) }
        @available(*, unavailable, message: "call try await store.set(object)")
        set {}
    }
}

extension Purchase {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        number: Int,
        status: PurchaseStatus? = nil,
        placedAt: PostgresTimestamp? = nil,
        parcel: UUID? = nil,
        store: some ToOneValue<Store>,
        buyer: some OptionalToOneValue<Person> = Person?.none
    ) -> NewValues<Purchase> {
        var values = NewValues<Purchase>()
        values.setProperty(PropertyNumber.number.rawValue, number)
        values.setProperty(PropertyNumber.status.rawValue, status)
        values.setProperty(PropertyNumber.placedAt.rawValue, placedAt)
        values.setProperty(PropertyNumber.parcel.rawValue, parcel)
        values.setToOne(PropertyNumber.store.rawValue, columns: [PropertyNumber.storeID.rawValue], store)
        values.setToOne(PropertyNumber.buyer.rawValue, columns: [PropertyNumber.buyerID.rawValue], buyer)
        return values
    }
}

extension TypedObject where Self: Purchase {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var placedAt: Date {
        get { Date() }
        set {}
    }
}
