import KindredPostgres
import KindredSchema

/// A piece of SQL that stands for one value, and what is known of it.
struct Scalar {
    var sql: String
    var type: ValueType
    /// Whether it can be NULL.
    var mayBeNull: Bool
    /// What error messages call it: a key path, or "a calculation".
    var label: String
    /// For what stands in a JSON document: the same as a number, NULL where it is none.
    var number: String?

    func asNumber(_ sql: String) -> Scalar {
        Scalar(sql: sql, type: ValueType(.numeric), mayBeNull: true, label: label)
    }
}

/// What a value is, as far as comparing it goes.
struct ValueType {
    enum Family {
        case number, text, enumeration, boolean, moment, array, document, other
    }

    let type: PostgresDataType
    let typeName: String
    let family: Family
    let enumLabels: [String]?
    let elementType: PostgresDataType?
    /// Whether its values are selected as text.
    let isReadAsText: Bool

    /// The type of a column.
    init(_ attribute: Attribute) {
        isReadAsText = attribute.isReadAsText
        type = attribute.baseType
        typeName = attribute.typeName
        enumLabels = attribute.enumLabels
        let scalarFamily = Self.family(of: type, typeName)
        elementType = attribute.elementType ?? (scalarFamily == .other ? attribute.baseType.elementType : nil)
        family =
            if elementType != nil {
                .array
            } else {
                enumLabels != nil ? .enumeration : scalarFamily
            }
    }

    /// A type that the library knows.
    init(_ type: PostgresDataType) {
        self.type = type
        isReadAsText = !type.isKnown
        typeName = type.description
        elementType = type.elementType
        enumLabels = nil
        family = elementType != nil ? .array : Self.family(of: type, typeName)
    }

    /// The type of an array's elements.
    init(elementOf array: ValueType, _ type: PostgresDataType) {
        self.type = type
        typeName = array.typeName.hasSuffix("[]") ? String(array.typeName.dropLast(2)) : type.description
        elementType = nil
        enumLabels = array.enumLabels
        isReadAsText = !type.isKnown && array.enumLabels == nil
        family = enumLabels != nil ? .enumeration : Self.family(of: type, typeName)
    }

    private static func family(of type: PostgresDataType, _ name: String) -> Family {
        switch type {
        case .int2, .int4, .int8, .float4, .float8, .numeric: .number
        case .text, .varchar, .bpchar, .name, .char: .text
        case .bool: .boolean
        case .date, .timestamp, .timestamptz: .moment
        case .json, .xml: .document
        default: name == "citext" || name.hasSuffix(".citext") ? .text : .other
        }
    }

    /// Whether values can be sorted and told apart, as far as is known: of types that are not built in the server knows.
    var hasOrder: Bool {
        if family == .document { return false }
        return switch elementType ?? type {
        case .json, .xml, .jsonpath, .point, .line, .lseg, .box, .path, .polygon, .circle: false
        default: true
        }
    }

    var isInteger: Bool { type == .int2 || type == .int4 || type == .int8 }

    var isFloat: Bool { type == .float4 || type == .float8 }

    /// Whether PostgreSQL can compare values of the two types.
    func isComparable(with other: ValueType) -> Bool {
        switch (family, other.family) {
        case (.number, .number), (.text, .text), (.boolean, .boolean), (.moment, .moment): true
        case (.document, _), (_, .document): false
        default: type == other.type
        }
    }
}

extension PostgresValue {
    var isNumber: Bool {
        switch self {
        case .integer, .float, .double, .numeric: true
        default: false
        }
    }
}
