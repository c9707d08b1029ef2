import KindredPostgres
import KindredSchema

/// Which Swift type the values of a column are read as.
struct SwiftTypes {
    struct SwiftType {
        let name: String
        let isArray: Bool
    }

    private let names: ModelNames
    private let enumerations: [PostgresDataType: UserType]

    init(schema: DatabaseSchema, names: ModelNames) {
        self.names = names
        var enumerations: [PostgresDataType: UserType] = [:]
        for type in schema.types {
            if case .enumeration = type.definition { enumerations[type.type] = type }
        }
        self.enumerations = enumerations
    }

    /// The type of an attribute that is not NULL.
    func type(of attribute: Attribute) -> SwiftType {
        let element = attribute.elementType ?? attribute.baseType
        let name = enumeration(attribute).map { names.typeName(of: $0.name) } ?? Self.name(of: element)
        // Any element of an array may be NULL.
        return attribute.elementType == nil
            ? SwiftType(name: name, isArray: false) : SwiftType(name: "[\(name)?]", isArray: true)
    }

    /// The enums of some entities' columns, sorted by name.
    func enumerations(of entities: [Entity]) -> [UserType] {
        var used: [QualifiedName: UserType] = [:]
        for attribute in entities.lazy.flatMap(\.attributes) {
            if let type = enumeration(attribute) { used[type.name] = type }
        }
        return used.values.sorted { $0.name < $1.name }
    }

    func needsFoundation(_ attributes: [Attribute]) -> Bool {
        attributes.contains { ($0.elementType ?? $0.baseType) == .uuid }
    }

    private func enumeration(_ attribute: Attribute) -> UserType? {
        enumerations[attribute.elementType ?? attribute.baseType]
    }

    /// Exact types throughout: each holds every value that PostgreSQL's type has, infinities included.
    private static func name(of type: PostgresDataType) -> String {
        switch type {
        case .bool: "Bool"
        case .int2, .int4, .int8, .oid: "Int"
        case .float4: "Float"
        case .float8: "Double"
        case .numeric: "PostgresNumeric"
        case .bytea: "[UInt8]"
        case .date: "PostgresDate"
        case .time: "PostgresTime"
        case .timetz: "PostgresTimeTZ"
        case .timestamp, .timestamptz: "PostgresTimestamp"
        case .interval: "PostgresInterval"
        case .uuid: "UUID"
        case .json, .jsonb: "PostgresJSON"
        case .text, .varchar, .bpchar, .name, .char, .xml: "String"
        // The types that are read as they come, or as text where the library does not know them.
        default: type.isKnown ? "PostgresValue" : "String"
        }
    }
}
