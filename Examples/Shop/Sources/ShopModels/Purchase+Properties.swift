// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Purchase: TypedObject {
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
    /// The column `store_id`; 0 while a new object has no value.
    public var storeID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `number`; 0 while a new object has no value.
    public var number: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `status`; the first label while a new object has no value.
    public var status: PurchaseStatus {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `placed_at`; 1970-01-01 while a new object has no value.
    public var placedAt: PostgresTimestamp {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `parcel`.
    public var parcel: UUID? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `buyer_id`.
    public var buyerID: Int? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The relationship `buyer`.
    public var buyer: ToOne<Person?> {
        get { toOneProperty(6) }
        @available(*, unavailable, message: "call try await buyer.set(object)")
        set {}
    }

    /// The relationship `lines`.
    public var lines: ToMany<PurchaseLine> {
        toManyProperty(7)
    }

    /// The relationship `store`.
    public var store: ToOne<Store> {
        get { toOneProperty(8) }
        @available(*, unavailable, message: "call try await store.set(object)")
        set {}
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
