// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension InvoiceLine: TypedObject {
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
    /// The column `invoice_line_id`; 0 while a new object has no value.
    public var invoiceLineID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `invoice_id`; 0 while a new object has no value.
    public var invoiceID: Int {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `track_id`; 0 while a new object has no value.
    public var trackID: Int {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `unit_price`; 0 while a new object has no value.
    public var unitPrice: PostgresNumeric {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `quantity`; 0 while a new object has no value.
    public var quantity: Int {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The relationship `invoice`.
    public var invoice: ToOne<Invoice> {
        get { toOneProperty(5) }
        @available(*, unavailable, message: "call try await invoice.set(object)")
        set {}
    }

    /// The relationship `track`.
    public var track: ToOne<Track> {
        get { toOneProperty(6) }
        @available(*, unavailable, message: "call try await track.set(object)")
        set {}
    }
}
