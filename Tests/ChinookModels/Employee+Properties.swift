// Written by `kindred generate`; changes to this file are lost.

public import Foundation
public import Kindred

extension Employee: TypedObject {
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
    /// The column `employee_id`; 0 while a new object has no value.
    public var employeeID: Int {
        get { readProperty(0) }
        set { writeProperty(0, newValue) }
    }

    /// The column `last_name`; empty while a new object has no value.
    public var lastName: String {
        get { readProperty(1) }
        set { writeProperty(1, newValue) }
    }

    /// The column `first_name`; empty while a new object has no value.
    public var firstName: String {
        get { readProperty(2) }
        set { writeProperty(2, newValue) }
    }

    /// The column `title`.
    public var title: String? {
        get { readProperty(3) }
        set { writeProperty(3, newValue) }
    }

    /// The column `reports_to`.
    public var reportsTo: Int? {
        get { readProperty(4) }
        set { writeProperty(4, newValue) }
    }

    /// The column `birth_date`.
    public var birthDate: PostgresTimestamp? {
        get { readProperty(5) }
        set { writeProperty(5, newValue) }
    }

    /// The column `hire_date`.
    public var hireDate: PostgresTimestamp? {
        get { readProperty(6) }
        set { writeProperty(6, newValue) }
    }

    /// The column `address`.
    public var address: String? {
        get { readProperty(7) }
        set { writeProperty(7, newValue) }
    }

    /// The column `city`.
    public var city: String? {
        get { readProperty(8) }
        set { writeProperty(8, newValue) }
    }

    /// The column `state`.
    public var state: String? {
        get { readProperty(9) }
        set { writeProperty(9, newValue) }
    }

    /// The column `country`.
    public var country: String? {
        get { readProperty(10) }
        set { writeProperty(10, newValue) }
    }

    /// The column `postal_code`.
    public var postalCode: String? {
        get { readProperty(11) }
        set { writeProperty(11, newValue) }
    }

    /// The column `phone`.
    public var phone: String? {
        get { readProperty(12) }
        set { writeProperty(12, newValue) }
    }

    /// The column `fax`.
    public var fax: String? {
        get { readProperty(13) }
        set { writeProperty(13, newValue) }
    }

    /// The column `email`.
    public var email: String? {
        get { readProperty(14) }
        set { writeProperty(14, newValue) }
    }

    /// The relationship `customerSet`.
    public var customers: ToMany<Customer> {
        toManyProperty(15)
    }

    /// The relationship `employeeSet`.
    public var employees: ToMany<Employee> {
        toManyProperty(16)
    }

    /// The relationship `reports_toObject`.
    public var reportsToObject: ToOne<Employee?> {
        get { toOneProperty(17) }
        @available(*, unavailable, message: "call try await reportsToObject.set(object)")
        set {}
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
