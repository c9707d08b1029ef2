// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Employee: KeyedObject {
    /// The class of the objects.
    public typealias Target = Employee
    /// The type of the key.
    public typealias PrimaryKey = Int
    /// The entity `public.employee`, and what stands behind each property.
    public static let mapping = EntityMapping(
        schema: "public",
        name: "employee",
        [
            .attribute(\Employee.employeeID, "employee_id", "integer", name: "employeeID"),
            .attribute(\Employee.lastName, "last_name", "text", name: "lastName"),
            .attribute(\Employee.firstName, "first_name", "text", name: "firstName"),
            .attribute(\Employee.title, "title", "text"),
            .attribute(\Employee.reportsTo, "reports_to", "integer", name: "reportsTo"),
            .attribute(\Employee.birthDate, "birth_date", "timestamp without time zone", name: "birthDate"),
            .attribute(\Employee.hireDate, "hire_date", "timestamp without time zone", name: "hireDate"),
            .attribute(\Employee.address, "address", "text"),
            .attribute(\Employee.city, "city", "text"),
            .attribute(\Employee.state, "state", "text"),
            .attribute(\Employee.country, "country", "text"),
            .attribute(\Employee.postalCode, "postal_code", "text", name: "postalCode"),
            .attribute(\Employee.phone, "phone", "text"),
            .attribute(\Employee.fax, "fax", "text"),
            .attribute(\Employee.email, "email", "text"),
            .toMany(\Employee.customers, "public_customer_customer_support_rep_id_fkey", name: "customers"),
            .toMany(\Employee.employees, "public_employee_employee_reports_to_fkey", name: "employees"),
            .toOne(\Employee.reportsToObject, "public_employee_employee_reports_to_fkey_2", name: "reportsToObject"),
        ]
    )
}

extension Employee {
    /// The properties, in the order of the mapping.
    private enum PropertyNumber: Int {
        case employeeID
        case lastName
        case firstName
        case title
        case reportsTo
        case birthDate
        case hireDate
        case address
        case city
        case state
        case country
        case postalCode
        case phone
        case fax
        case email
        case customers
        case employees
        case reportsToObject
    }

    /// The column `employee_id`; 0 while a new object has no value.
    public var employeeID: Int {
        get { readProperty(PropertyNumber.employeeID.rawValue) }
        set { writeProperty(PropertyNumber.employeeID.rawValue, newValue) }
    }

    /// The column `last_name`; empty while a new object has no value.
    public var lastName: String {
        get { readProperty(PropertyNumber.lastName.rawValue) }
        set { writeProperty(PropertyNumber.lastName.rawValue, newValue) }
    }

    /// The column `first_name`; empty while a new object has no value.
    public var firstName: String {
        get { readProperty(PropertyNumber.firstName.rawValue) }
        set { writeProperty(PropertyNumber.firstName.rawValue, newValue) }
    }

    /// The column `title`.
    public var title: String? {
        get { readProperty(PropertyNumber.title.rawValue) }
        set { writeProperty(PropertyNumber.title.rawValue, newValue) }
    }

    /// The column `reports_to`.
    public var reportsTo: Int? {
        get { readProperty(PropertyNumber.reportsTo.rawValue) }
        set { writeProperty(PropertyNumber.reportsTo.rawValue, newValue) }
    }

    /// The column `birth_date`.
    public var birthDate: PostgresTimestamp? {
        get { readProperty(PropertyNumber.birthDate.rawValue) }
        set { writeProperty(PropertyNumber.birthDate.rawValue, newValue) }
    }

    /// The column `hire_date`.
    public var hireDate: PostgresTimestamp? {
        get { readProperty(PropertyNumber.hireDate.rawValue) }
        set { writeProperty(PropertyNumber.hireDate.rawValue, newValue) }
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

    /// The column `email`.
    public var email: String? {
        get { readProperty(PropertyNumber.email.rawValue) }
        set { writeProperty(PropertyNumber.email.rawValue, newValue) }
    }

    /// The relationship `customerSet`.
    public var customers: ToMany<Customer> {
        toManyProperty(PropertyNumber.customers.rawValue)
    }

    /// The relationship `employeeSet`.
    public var employees: ToMany<Employee> {
        toManyProperty(PropertyNumber.employees.rawValue)
    }

    /// The relationship `reports_toObject`.
    public var reportsToObject: ToOne<Employee?> {
        get { toOneProperty(PropertyNumber.reportsToObject.rawValue) }
        @available(*, unavailable, message: "call try await reportsToObject.set(object)")
        set {}
    }
}

extension Employee {
    /// The values of a new row; the database fills what is nil.
    public static func new(
        employeeID: Int,
        lastName: String,
        firstName: String,
        title: String? = nil,
        birthDate: PostgresTimestamp? = nil,
        hireDate: PostgresTimestamp? = nil,
        address: String? = nil,
        city: String? = nil,
        state: String? = nil,
        country: String? = nil,
        postalCode: String? = nil,
        phone: String? = nil,
        fax: String? = nil,
        email: String? = nil,
        reportsToObject: some OptionalToOneValue<Employee> = Employee?.none
    ) -> NewValues<Employee> {
        var values = NewValues<Employee>()
        values.setProperty(PropertyNumber.employeeID.rawValue, employeeID)
        values.setProperty(PropertyNumber.lastName.rawValue, lastName)
        values.setProperty(PropertyNumber.firstName.rawValue, firstName)
        values.setProperty(PropertyNumber.title.rawValue, title)
        values.setProperty(PropertyNumber.birthDate.rawValue, birthDate)
        values.setProperty(PropertyNumber.hireDate.rawValue, hireDate)
        values.setProperty(PropertyNumber.address.rawValue, address)
        values.setProperty(PropertyNumber.city.rawValue, city)
        values.setProperty(PropertyNumber.state.rawValue, state)
        values.setProperty(PropertyNumber.country.rawValue, country)
        values.setProperty(PropertyNumber.postalCode.rawValue, postalCode)
        values.setProperty(PropertyNumber.phone.rawValue, phone)
        values.setProperty(PropertyNumber.fax.rawValue, fax)
        values.setProperty(PropertyNumber.email.rawValue, email)
        values.setToOne(
            PropertyNumber.reportsToObject.rawValue,
            columns: [PropertyNumber.reportsTo.rawValue],
            reportsToObject
        )
        return values
    }
}

extension TypedObject where Self: Employee {
    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var birthDate: Date? {
        get { Date() }
        set {}
    }

    /// Not available: the column has another type than `Date`.
    @available(*, unavailable, message: "write .now, or PostgresTimestamp(clamping: date)")
    public var hireDate: Date? {
        get { Date() }
        set {}
    }
}
