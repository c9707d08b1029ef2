import KindredPostgres
import KindredSchema

/// A set of keys as parameters: one array per key column, for any number of keys.
enum KeySet {
    /// The condition for rows whose `columns` are one of the keys.
    ///
    /// One column: `t."id" = ANY($1)`. Several: `(t."a", t."b") IN (SELECT * FROM unnest($1, $2))`.
    static func condition(_ columns: [String], _ attributes: [Attribute], firstParameter: Int) -> String {
        let parameters = attributes.enumerated().map { array($1, firstParameter + $0) }
        let columns = zip(columns, attributes).map { $1.compared($0) }
        if columns.count == 1 { return "\(columns[0]) = ANY(\(parameters[0]))" }
        return "(\(columns.joined(separator: ", "))) IN (SELECT * FROM unnest(\(parameters.joined(separator: ", "))))"
    }

    /// The condition for rows whose `columns` are one of the keys, each compared by its own type's `=`.
    ///
    /// `IN` compares whole rows, and so needs an order on every type, which types such as `xid` do not have.
    static func exists(_ columns: [String], _ attributes: [Attribute], firstParameter: Int) -> String {
        let names = columns.indices.map { "k\($0)" }
        let pairs = zip(names, zip(columns, attributes)).map { "given.\($0) = \($1.1.compared($1.0))" }
        return """
            EXISTS (SELECT FROM \(rows(attributes, firstParameter: firstParameter)) \
            AS given(\(names.joined(separator: ", "))) WHERE \(pairs.joined(separator: " AND ")))
            """
    }

    /// The keys as a FROM item.
    static func rows(_ attributes: [Attribute], firstParameter: Int) -> String {
        let parameters = attributes.enumerated().map { array($1, firstParameter + $0) }
        return "unnest(\(parameters.joined(separator: ", ")))"
    }

    /// Appends one array parameter per key column.
    static func append(_ keys: [ObjectKey], _ attributes: [Attribute], to bindings: inout Bindings) throws {
        if attributes.count == 1 {
            let integers = keys.compactMap(\.integer)
            if integers.count == keys.count, try bindings.appendIntegers(integers, of: attributes[0].baseType) {
                return
            }
            try bindings.appendArray(keys.lazy.map { $0.values[0] }, of: elementType(attributes[0]))
            return
        }
        let values = keys.map(\.values)
        for (position, attribute) in attributes.enumerated() {
            try bindings.appendArray(values.lazy.map { $0[position] }, of: elementType(attribute))
        }
    }

    /// Appends one array parameter with a value for each row.
    static func append(_ values: [PostgresValue?], _ attribute: Attribute, to bindings: inout Bindings) throws {
        try bindings.appendArray(values, of: elementType(attribute))
    }

    /// A parameter of an attribute's values; types whose array type the library does not know are sent as text and cast
    /// by the server.
    static func array(_ attribute: Attribute, _ parameter: Int) -> String {
        guard attribute.baseType.arrayType == nil else { return "$\(parameter)" }
        return "$\(parameter)::text[]::\(attribute.comparedType ?? attribute.typeName)[]"
    }

    private static func elementType(_ attribute: Attribute) -> PostgresDataType {
        attribute.baseType.arrayType == nil ? .text : attribute.baseType
    }
}

extension Array {
    /// The elements in slices of a size that suits one parameter.
    func slices(of size: Int = 10_000) -> [[Element]] {
        guard count > size else { return isEmpty ? [] : [self] }
        return stride(from: 0, to: count, by: size).map { Array(self[$0..<Swift.min($0 + size, count)]) }
    }
}
