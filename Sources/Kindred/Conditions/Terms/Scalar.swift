import KindredPostgres
import KindredSchema

/// A value in a statement, with its type.
struct Scalar {
    var value: ValueTerm
    var type: ValueType
    /// Whether it can be NULL.
    var mayBeNull: Bool
    /// Its name in error messages: a key path, or "a calculation".
    var label: String

    /// A value in a JSON document as one of a kind, which is NULL for other kinds; nil for other values.
    func inDocument(as kind: JSONKind) -> Scalar? {
        guard case .json(let part) = value else { return nil }
        return Scalar(value: .jsonValue(part, kind), type: ValueType(kind.type), mayBeNull: true, label: label)
    }

    /// A test for NULL.
    ///
    /// `IS NULL` of a composite tests its fields; this tests the value itself, and plans as well as `IS NULL`.
    var isNull: ConditionTerm { .isNull(value, isRow: type.mayBeRow) }

    /// A test for a value.
    var isNotNull: ConditionTerm { .isNotNull(value, isRow: type.mayBeRow) }
}

/// The type of a value, for comparisons.
struct ValueType {
    enum Family {
        case number, text, enumeration, boolean, moment, array, document, other
    }

    let type: PostgresDataType
    let typeName: String
    /// The type to which SQL casts a value for a comparison.
    let comparedName: String
    let family: Family
    let enumLabels: [String]?
    let elementType: PostgresDataType?
    /// Whether its values are selected as text.
    let isReadAsText: Bool
    /// The structure of a user-defined type's values; also for an array of them.
    private let structure: Attribute.Structure?
    /// The operators of a type that is not built in; also for an array of it.
    private let ownOperators: TypeOperators?

    /// The type of a column.
    init(_ attribute: Attribute) {
        structure = attribute.structure
        ownOperators = attribute.operators
        isReadAsText = attribute.isReadAsText
        type = attribute.baseType
        typeName = attribute.sqlType
        comparedName = attribute.comparedType ?? typeName
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

    /// A type known to the library.
    init(_ type: PostgresDataType) {
        structure = nil
        ownOperators = nil
        self.type = type
        isReadAsText = !type.isKnown
        typeName = type.description
        comparedName = typeName
        elementType = type.elementType
        enumLabels = nil
        family = elementType != nil ? .array : Self.family(of: type, typeName, structure)
    }

    /// The type of an array's elements.
    init(elementOf array: ValueType, _ type: PostgresDataType) {
        structure = array.structure
        ownOperators = array.ownOperators
        self.type = type
        func element(of name: String) -> String {
            name.hasSuffix("[]") ? String(name.dropLast(2)) : type.description
        }
        typeName = element(of: array.typeName)
        comparedName = element(of: array.comparedName)
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

    /// Whether values can be sorted and compared for equality, if known; of user-defined types only the server knows.
    var hasOrder: Bool {
        if family == .document { return false }
        return switch elementType ?? type {
        case .json, .xml, .jsonpath, .point, .line, .lseg, .box, .path, .polygon, .circle: false
        default: true
        }
    }

    /// Whether values are texts that ignore case.
    var isCitext: Bool { structure == .citext && family == .text }

    /// Whether values may be rows of a composite type; true for unknown types.
    var mayBeRow: Bool {
        if case .composite = structure { return family != .array }
        return structure == nil && isReadAsText && family == .other
    }

    /// Whether elements of an array may be rows of a composite type.
    var mayHoldRows: Bool {
        guard family == .array, let elementType else { return false }
        return ValueType(elementOf: self, elementType).mayBeRow
    }

    /// The equality operator; nil if there is none.
    ///
    /// For boxes and circles `=` compares areas, for paths the number of points; points and polygons have no `=`.
    var equality: ConditionTerm.Comparison? {
        switch type {
        case .point, .box, .polygon, .circle: comparison(.same)
        case .path, .jsonpath: nil
        default:
            switch elementType {
            case .point, .box, .polygon, .circle, .path, .json, .xml, .jsonpath: nil
            default: comparison(.equal)
            }
        }
    }

    /// The operators of values of the type; nil for a built-in one, and for arrays.
    var operators: TypeOperators? { family == .array ? nil : ownOperators }

    /// A comparison of two values of the type.
    func comparison(_ symbol: ConditionTerm.Comparison.Symbol) -> ConditionTerm.Comparison {
        ConditionTerm.Comparison(symbol, of: operators)
    }

    /// A comparison with a value of another type: two types have only operators of `pg_catalog` in common.
    func comparison(
        _ symbol: ConditionTerm.Comparison.Symbol, with other: ValueType
    ) -> ConditionTerm.Comparison {
        ConditionTerm.Comparison(symbol, of: type == other.type ? operators : nil)
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
    var isNumber: Bool { kindInDocument == .number }

    /// The kind of JSON values with which the value is compared; nil for values that are compared with texts.
    var kindInDocument: JSONKind? {
        switch self {
        case .integer, .float, .double, .numeric: .number
        case .bool: .boolean
        default: nil
        }
    }
}
