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

    /// Whether the value is missing, or is there.
    ///
    /// `IS NULL` of a composite asks for its fields; this asks for the value itself and plans as that does.
    func nullTest(isNegated: Bool = false) -> String {
        type.mayBeRow
            ? "\(sql) IS \(isNegated ? "" : "NOT ")DISTINCT FROM NULL" : "\(sql) IS \(isNegated ? "NOT " : "")NULL"
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
    /// What values of a type that is not built in are made of; also for an array of them.
    private let structure: Attribute.Structure?

    /// The type of a column.
    init(_ attribute: Attribute) {
        structure = attribute.structure
        isReadAsText = attribute.isReadAsText
        type = attribute.baseType
        typeName = attribute.typeName
        enumLabels = attribute.enumLabels
        let scalarFamily = Self.family(of: type, typeName, structure)
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
        structure = nil
        self.type = type
        isReadAsText = !type.isKnown
        typeName = type.description
        elementType = type.elementType
        enumLabels = nil
        family = elementType != nil ? .array : Self.family(of: type, typeName, structure)
    }

    /// The type of an array's elements.
    init(elementOf array: ValueType, _ type: PostgresDataType) {
        structure = array.structure
        self.type = type
        typeName = array.typeName.hasSuffix("[]") ? String(array.typeName.dropLast(2)) : type.description
        elementType = nil
        enumLabels = array.enumLabels
        isReadAsText = !type.isKnown && array.enumLabels == nil
        family = enumLabels != nil ? .enumeration : Self.family(of: type, typeName, structure)
    }

    private static func family(
        of type: PostgresDataType, _ name: String, _ structure: Attribute.Structure?
    ) -> Family {
        if structure == .citext { return .text }
        return switch type {
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

    /// Whether values may be rows of a composite type: those of types that nothing is known of may.
    var mayBeRow: Bool {
        if case .composite = structure { return family != .array }
        return structure == nil && isReadAsText && family == .other
    }

    /// Whether elements of an array may be rows of a composite type.
    var mayHoldRows: Bool {
        guard family == .array, let elementType else { return false }
        return ValueType(elementOf: self, elementType).mayBeRow
    }

    /// The operator that tells whether two values are the same; nil where there is none.
    ///
    /// Of boxes and circles `=` compares the areas, of paths the number of points; points and polygons have none.
    var equality: String? {
        switch type {
        case .point, .box, .polygon, .circle: "~="
        case .path, .jsonpath: nil
        default:
            switch elementType {
            case .point, .box, .polygon, .circle, .path, .json, .xml, .jsonpath: nil
            default: "="
            }
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
