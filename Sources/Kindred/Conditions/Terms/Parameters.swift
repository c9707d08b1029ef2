import KindredPostgres

/// The parameters of one of the library's own statements, or of a request.
///
/// Declaring parameters binds their values and returns the piece that stands for them in the text, so that no number is
/// counted by hand. Only the first statement of a shape makes its text from the pieces; later ones bind alone.
package struct Parameters {
    var bindings = Bindings()
    /// Whether each value stands for the values of many statements: it is a column of `r` then, made of one array for
    /// all statements.
    var areOfMany = false
    /// Whether all rows have the same value in the column by which their table is distributed: the statement has
    /// another text then.
    var isOneShard = false

    /// No parameters.
    package init() {}

    /// The number of the next parameter.
    var next: Int { bindings.count + 1 }

    /// One number of rows.
    mutating func count(_ count: Int) throws -> Parameter {
        let parameter = Parameter(number: next)
        try bindings.append(Int64(count))
        return parameter
    }

    /// One array of numbers, such as positions or OIDs.
    mutating func numbers(_ numbers: some Collection<Int64>) throws -> Parameter {
        let parameter = Parameter(number: next)
        try bindings.appendArray(numbers.lazy.map { .integer($0) }, of: .int8)
        return parameter
    }

    /// One array of truth values.
    mutating func flags(_ flags: some Collection<Bool>) throws -> Parameter {
        let parameter = Parameter(number: next)
        try bindings.appendArray(flags.lazy.map { .bool($0) }, of: .bool)
        return parameter
    }

    /// One value, as a type; without one a text takes its type from the server, and other values have their natural one.
    mutating func value(_ value: PostgresValue?, as type: PostgresDataType?) throws -> Parameter {
        let number = next
        try bindings.append(value, as: type)
        return Parameter(number: number, isElement: areOfMany && bindings.slots[number - 1].isElement)
    }

    /// One array of values.
    package mutating func array(_ values: [PostgresValue], of element: PostgresDataType) throws -> Parameter {
        let parameter = Parameter(number: next)
        try bindings.appendArray(values, of: element)
        return parameter
    }
}

/// One parameter; printed as `$2`.
package struct Parameter: CustomStringConvertible {
    let number: Int
    /// Whether it is an element of an array, in the row of `r`: printed as `r.p2`.
    var isElement = false

    package var description: String { isElement ? "r.p\(number)" : "$\(number)" }
}

extension Bindings.Slot {
    /// Whether many parameters of this kind can be the elements of one array.
    var isElement: Bool { elementType != nil }

    /// The type of that array's elements: a text where the server infers the parameter's type.
    var elementType: PostgresDataType? {
        // An array of arrays has no borders within, and NULL alone no type.
        if type == .unspecified { return length < 0 ? nil : .text }
        return format == .binary && type.arrayType != nil ? type : nil
    }
}
