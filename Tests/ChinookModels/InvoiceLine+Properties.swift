// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension InvoiceLine: KeyedObject {
    /// The class of the objects.
    public typealias Target = InvoiceLine
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.invoice_line`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "invoice_line",
        [
            .attribute(\InvoiceLine.invoiceLineID, "invoice_line_id", "integer", name: "invoiceLineID"),
            .attribute(\InvoiceLine.invoiceID, "invoice_id", "integer", name: "invoiceID"),
            .attribute(\InvoiceLine.trackID, "track_id", "integer", name: "trackID"),
            .attribute(\InvoiceLine.unitPrice, "unit_price", "numeric", name: "unitPrice"),
            .attribute(\InvoiceLine.quantity, "quantity", "integer"),
            .toOne(\InvoiceLine.invoice, "public_invoice_line_invoice_line_invoice_id_fkey", name: "invoice"),
            .toOne(\InvoiceLine.track, "public_invoice_line_invoice_line_track_id_fkey", name: "track"),
        ]
    )
}

extension InvoiceLine {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case invoiceLineID
        case invoiceID
        case trackID
        case unitPrice
        case quantity
        case invoice
        case track
    }

    /// The column `invoice_line_id`; 0 while a new object has no value.
    public var invoiceLineID: Int {
        get { readProperty(PropertyNumber.invoiceLineID.rawValue) }
        set { writeProperty(PropertyNumber.invoiceLineID.rawValue, newValue) }
    }

    /// The column `invoice_id`; 0 while a new object has no value.
    public var invoiceID: Int {
        get { readProperty(PropertyNumber.invoiceID.rawValue) }
        set { writeProperty(PropertyNumber.invoiceID.rawValue, newValue) }
    }

    /// The column `track_id`; 0 while a new object has no value.
    public var trackID: Int {
        get { readProperty(PropertyNumber.trackID.rawValue) }
        set { writeProperty(PropertyNumber.trackID.rawValue, newValue) }
    }

    /// The column `unit_price`; 0 while a new object has no value.
    public var unitPrice: PostgresNumeric {
        get { readProperty(PropertyNumber.unitPrice.rawValue) }
        set { writeProperty(PropertyNumber.unitPrice.rawValue, newValue) }
    }

    /// The column `quantity`; 0 while a new object has no value.
    public var quantity: Int {
        get { readProperty(PropertyNumber.quantity.rawValue) }
        set { writeProperty(PropertyNumber.quantity.rawValue, newValue) }
    }

    /// The relationship `invoice`.
    public var invoice: ToOne<Invoice> {
        get { toOneProperty(PropertyNumber.invoice.rawValue) }
        @available(*, unavailable, message: "call try await invoice.set(object)")
        set {}
    }

    /// The relationship `track`.
    public var track: ToOne<Track> {
        get { toOneProperty(PropertyNumber.track.rawValue) }
        @available(*, unavailable, message: "call try await track.set(object)")
        set {}
    }
}

extension InvoiceLine {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        invoiceLineID: Int,
        unitPrice: PostgresNumeric,
        quantity: Int,
        invoice: some ToOneValue<Invoice>,
        track: some ToOneValue<Track>
    ) -> NewValues<InvoiceLine> {
        var values = NewValues<InvoiceLine>()
        values.setProperty(PropertyNumber.invoiceLineID.rawValue, invoiceLineID)
        values.setProperty(PropertyNumber.unitPrice.rawValue, unitPrice)
        values.setProperty(PropertyNumber.quantity.rawValue, quantity)
        values.setToOne(PropertyNumber.invoice.rawValue, columns: [PropertyNumber.invoiceID.rawValue], invoice)
        values.setToOne(PropertyNumber.track.rawValue, columns: [PropertyNumber.trackID.rawValue], track)
        return values
    }
}
