// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Invoice: KeyedObject {
    /// The class of the objects.
    public typealias Target = Invoice
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case invoiceID
        case customerID
        case invoiceDate
        case billingAddress
        case billingCity
        case billingState
        case billingCountry
        case billingPostalCode
        case total
        case customer
        case invoiceLines
    }

    /// The column `invoice_id`; 0 while a new object has no value.
    public var invoiceID: Int {
        get { readProperty(PropertyNumber.invoiceID.rawValue) }
        set { writeProperty(PropertyNumber.invoiceID.rawValue, newValue) }
    }

    /// The column `customer_id`; 0 while a new object has no value.
    public var customerID: Int {
        get { readProperty(PropertyNumber.customerID.rawValue) }
        set { writeProperty(PropertyNumber.customerID.rawValue, newValue) }
    }

    /// The column `invoice_date`; 1970-01-01 while a new object has no value.
    public var invoiceDate: PostgresTimestamp {
        get { readProperty(PropertyNumber.invoiceDate.rawValue) }
        set { writeProperty(PropertyNumber.invoiceDate.rawValue, newValue) }
    }

    /// The column `billing_address`.
    public var billingAddress: String? {
        get { readProperty(PropertyNumber.billingAddress.rawValue) }
        set { writeProperty(PropertyNumber.billingAddress.rawValue, newValue) }
    }

    /// The column `billing_city`.
    public var billingCity: String? {
        get { readProperty(PropertyNumber.billingCity.rawValue) }
        set { writeProperty(PropertyNumber.billingCity.rawValue, newValue) }
    }

    /// The column `billing_state`.
    public var billingState: String? {
        get { readProperty(PropertyNumber.billingState.rawValue) }
        set { writeProperty(PropertyNumber.billingState.rawValue, newValue) }
    }

    /// The column `billing_country`.
    public var billingCountry: String? {
        get { readProperty(PropertyNumber.billingCountry.rawValue) }
        set { writeProperty(PropertyNumber.billingCountry.rawValue, newValue) }
    }

    /// The column `billing_postal_code`.
    public var billingPostalCode: String? {
        get { readProperty(PropertyNumber.billingPostalCode.rawValue) }
        set { writeProperty(PropertyNumber.billingPostalCode.rawValue, newValue) }
    }

    /// The column `total`; 0 while a new object has no value.
    public var total: PostgresNumeric {
        get { readProperty(PropertyNumber.total.rawValue) }
        set { writeProperty(PropertyNumber.total.rawValue, newValue) }
    }

    /// The relationship `customer`.
    public var customer: ToOne<Customer> {
        get { toOneProperty(PropertyNumber.customer.rawValue) }
        @available(*, unavailable, message: "call try await customer.set(object)")
        set {}
    }

    /// The relationship `invoice_lineSet`.
    public var invoiceLines: ToMany<InvoiceLine> {
        toManyProperty(PropertyNumber.invoiceLines.rawValue)
    }
}

extension Invoice {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        invoiceID: Int,
        invoiceDate: PostgresTimestamp,
        billingAddress: String? = nil,
        billingCity: String? = nil,
        billingState: String? = nil,
        billingCountry: String? = nil,
        billingPostalCode: String? = nil,
        total: PostgresNumeric,
        customer: some ToOneValue<Customer>
    ) -> NewValues<Invoice> {
        var values = NewValues<Invoice>()
        values.setProperty(PropertyNumber.invoiceID.rawValue, invoiceID)
        values.setProperty(PropertyNumber.invoiceDate.rawValue, invoiceDate)
        values.setProperty(PropertyNumber.billingAddress.rawValue, billingAddress)
        values.setProperty(PropertyNumber.billingCity.rawValue, billingCity)
        values.setProperty(PropertyNumber.billingState.rawValue, billingState)
        values.setProperty(PropertyNumber.billingCountry.rawValue, billingCountry)
        values.setProperty(PropertyNumber.billingPostalCode.rawValue, billingPostalCode)
        values.setProperty(PropertyNumber.total.rawValue, total)
        values.setToOne(PropertyNumber.customer.rawValue, columns: [PropertyNumber.customerID.rawValue], customer)
        return values
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
