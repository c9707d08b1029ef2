// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Invoice: TypedObject {
    /// The entity `public.invoice`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "invoice",
        [
            .attribute(\Invoice.invoiceID, "invoice_id", "integer", name: "invoiceID"),
            .attribute(\Invoice.customerID, "customer_id", "integer", name: "customerID"),
            .attribute(\Invoice.invoiceDate, "invoice_date", "timestamp without time zone", name: "invoiceDate"),
            .attribute(\Invoice.billingAddress, "billing_address", "text", name: "billingAddress"),
            .attribute(\Invoice.billingCity, "billing_city", "text", name: "billingCity"),
            .attribute(\Invoice.billingState, "billing_state", "text", name: "billingState"),
            .attribute(\Invoice.billingCountry, "billing_country", "text", name: "billingCountry"),
            .attribute(\Invoice.billingPostalCode, "billing_postal_code", "text", name: "billingPostalCode"),
            .attribute(\Invoice.total, "total", "numeric"),
            .toOne(\Invoice.customer, "public_invoice_invoice_customer_id_fkey", name: "customer"),
            .toMany(\Invoice.invoiceLines, "public_invoice_line_invoice_line_invoice_id_fkey", name: "invoiceLines"),
        ]
    )
}

extension Invoice {
    /// The column `invoice_id`; 0 while a new object has no value.
    public var invoiceID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `customer_id`; 0 while a new object has no value.
    public var customerID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `invoice_date`; 1970-01-01 while a new object has no value.
    public var invoiceDate: PostgresTimestamp {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `billing_address`.
    public var billingAddress: String? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `billing_city`.
    public var billingCity: String? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `billing_state`.
    public var billingState: String? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `billing_country`.
    public var billingCountry: String? {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `billing_postal_code`.
    public var billingPostalCode: String? {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `total`; 0 while a new object has no value.
    public var total: PostgresNumeric {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The relationship `customer`.
    public var customer: ToOne<Customer> {
        get { toOneProperty(9) }
        @available(*, unavailable, message: "call try await customer.set(object)")
        set {}
    }

    /// The relationship `invoice_lineSet`.
    public var invoiceLines: ToMany<InvoiceLine> {
        toManyProperty(10)
    }
}

extension TypedObject where Self: Invoice {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var invoiceDate: Date {
        get { Date() }
        set {}
    }
}
