// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Customer: TypedObject {
    /// The entity `public.customer`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "customer",
        [
            .attribute(\Customer.customerID, "customer_id", "integer", name: "customerID"),
            .attribute(\Customer.firstName, "first_name", "text", name: "firstName"),
            .attribute(\Customer.lastName, "last_name", "text", name: "lastName"),
            .attribute(\Customer.company, "company", "text"),
            .attribute(\Customer.address, "address", "text"),
            .attribute(\Customer.city, "city", "text"),
            .attribute(\Customer.state, "state", "text"),
            .attribute(\Customer.country, "country", "text"),
            .attribute(\Customer.postalCode, "postal_code", "text", name: "postalCode"),
            .attribute(\Customer.phone, "phone", "text"),
            .attribute(\Customer.fax, "fax", "text"),
            .attribute(\Customer.email, "email", "text"),
            .attribute(\Customer.supportRepID, "support_rep_id", "integer", name: "supportRepID"),
            .toMany(\Customer.invoices, "public_invoice_invoice_customer_id_fkey", name: "invoices"),
            .toOne(\Customer.supportRep, "public_customer_customer_support_rep_id_fkey", name: "supportRep"),
        ]
    )
}

extension Customer {
    /// The column `customer_id`; 0 while a new object has no value.
    public var customerID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `first_name`; empty while a new object has no value.
    public var firstName: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `last_name`; empty while a new object has no value.
    public var lastName: String {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `company`.
    public var company: String? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `address`.
    public var address: String? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `city`.
    public var city: String? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `state`.
    public var state: String? {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `country`.
    public var country: String? {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `postal_code`.
    public var postalCode: String? {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The column `phone`.
    public var phone: String? {
        get { readProperty(9) }
        set { writeProperty(9, newValue) }
    }

    /// The column `fax`.
    public var fax: String? {
        get { readProperty(10) }
        set { writeProperty(10, newValue) }
    }

    /// The column `email`; empty while a new object has no value.
    public var email: String {
        get { readProperty(11) }
        set { writeProperty(11, newValue) }
    }

    /// The column `support_rep_id`.
    public var supportRepID: Int? {
        get { readProperty(12) }
        set { writeProperty(12, newValue) }
    }

    /// The relationship `invoiceSet`.
    public var invoices: ToMany<Invoice> {
        toManyProperty(13)
    }

    /// The relationship `support_rep`.
    public var supportRep: ToOne<Employee?> {
        get { toOneProperty(14) }
        @available(*, unavailable, message: "call try await supportRep.set(object)")
        set {}
    }
}
