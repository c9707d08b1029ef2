// Written by `kindred generate`; changes to this file are lost.

public import Kindred

extension Customer: KeyedObject {
    /// The class of the objects.
    public typealias Target = Customer
    /// The type of the key.
    public typealias PrimaryKey = Int
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
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case customerID
        case firstName
        case lastName
        case company
        case address
        case city
        case state
        case country
        case postalCode
        case phone
        case fax
        case email
        case supportRepID
        case invoices
        case supportRep
    }

    /// The column `customer_id`; 0 while a new object has no value.
    public var customerID: Int {
        get { readProperty(PropertyNumber.customerID.rawValue) }
        set { writeProperty(PropertyNumber.customerID.rawValue, newValue) }
    }

    /// The column `first_name`; empty while a new object has no value.
    public var firstName: String {
        get { readProperty(PropertyNumber.firstName.rawValue) }
        set { writeProperty(PropertyNumber.firstName.rawValue, newValue) }
    }

    /// The column `last_name`; empty while a new object has no value.
    public var lastName: String {
        get { readProperty(PropertyNumber.lastName.rawValue) }
        set { writeProperty(PropertyNumber.lastName.rawValue, newValue) }
    }

    /// The column `company`.
    public var company: String? {
        get { readProperty(PropertyNumber.company.rawValue) }
        set { writeProperty(PropertyNumber.company.rawValue, newValue) }
    }

    /// The column `address`.
    public var address: String? {
        get { readProperty(PropertyNumber.address.rawValue) }
        set { writeProperty(PropertyNumber.address.rawValue, newValue) }
    }

    /// The column `city`.
    public var city: String? {
        get { readProperty(PropertyNumber.city.rawValue) }
        set { writeProperty(PropertyNumber.city.rawValue, newValue) }
    }

    /// The column `state`.
    public var state: String? {
        get { readProperty(PropertyNumber.state.rawValue) }
        set { writeProperty(PropertyNumber.state.rawValue, newValue) }
    }

    /// The column `country`.
    public var country: String? {
        get { readProperty(PropertyNumber.country.rawValue) }
        set { writeProperty(PropertyNumber.country.rawValue, newValue) }
    }

    /// The column `postal_code`.
    public var postalCode: String? {
        get { readProperty(PropertyNumber.postalCode.rawValue) }
        set { writeProperty(PropertyNumber.postalCode.rawValue, newValue) }
    }

    /// The column `phone`.
    public var phone: String? {
        get { readProperty(PropertyNumber.phone.rawValue) }
        set { writeProperty(PropertyNumber.phone.rawValue, newValue) }
    }

    /// The column `fax`.
    public var fax: String? {
        get { readProperty(PropertyNumber.fax.rawValue) }
        set { writeProperty(PropertyNumber.fax.rawValue, newValue) }
    }

    /// The column `email`; empty while a new object has no value.
    public var email: String {
        get { readProperty(PropertyNumber.email.rawValue) }
        set { writeProperty(PropertyNumber.email.rawValue, newValue) }
    }

    /// The column `support_rep_id`.
    public var supportRepID: Int? {
        get { readProperty(PropertyNumber.supportRepID.rawValue) }
        set { writeProperty(PropertyNumber.supportRepID.rawValue, newValue) }
    }

    /// The relationship `invoiceSet`.
    public var invoices: ToMany<Invoice> {
        toManyProperty(PropertyNumber.invoices.rawValue)
    }

    /// The relationship `support_rep`.
    public var supportRep: ToOne<Employee?> {
        get { toOneProperty(PropertyNumber.supportRep.rawValue) }
        @available(*, unavailable, message: "call try await supportRep.set(object)")
        set {}
    }
}

extension Customer {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        customerID: Int,
        firstName: String,
        lastName: String,
        company: String? = nil,
        address: String? = nil,
        city: String? = nil,
        state: String? = nil,
        country: String? = nil,
        postalCode: String? = nil,
        phone: String? = nil,
        fax: String? = nil,
        email: String,
        supportRep: some OptionalToOneValue<Employee> = Employee?.none
    ) -> NewValues<Customer> {
        var values = NewValues<Customer>()
        values.setProperty(PropertyNumber.customerID.rawValue, customerID)
        values.setProperty(PropertyNumber.firstName.rawValue, firstName)
        values.setProperty(PropertyNumber.lastName.rawValue, lastName)
        values.setProperty(PropertyNumber.company.rawValue, company)
        values.setProperty(PropertyNumber.address.rawValue, address)
        values.setProperty(PropertyNumber.city.rawValue, city)
        values.setProperty(PropertyNumber.state.rawValue, state)
        values.setProperty(PropertyNumber.country.rawValue, country)
        values.setProperty(PropertyNumber.postalCode.rawValue, postalCode)
        values.setProperty(PropertyNumber.phone.rawValue, phone)
        values.setProperty(PropertyNumber.fax.rawValue, fax)
        values.setProperty(PropertyNumber.email.rawValue, email)
        values.setToOne(
            PropertyNumber.supportRep.rawValue,
            columns: [PropertyNumber.supportRepID.rawValue],
            supportRep
        )
        return values
    }
}
