import KindredPostgres
import KindredSchema

/// The Swift types of columns.
struct SwiftTypes {
    struct SwiftType {
        let name: String
        let isArray: Bool
        /// The neutral value of the type, in words.
        let neutral: String

        init(_ name: String, isArray: Bool = false, neutral: String? = nil) {
            self.name = name
            self.isArray = isArray
            self.neutral = isArray ? "empty" : neutral ?? Self.neutral(name)
        }

        private static func neutral(_ name: String) -> String {
            switch name {
            case "Bool": "false"
            case "Int", "Float", "Double", "PostgresNumeric", "PostgresInterval": "0"
            case "UUID", "PostgresInet", "PostgresMACAddress": "all zeros"
            case "PostgresDate", "PostgresTimestamp", "Date": "1970-01-01"
            case "PostgresTime", "PostgresTimeTZ": "midnight"
            case "PostgresJSON": "`null`"
            case "PostgresVector": "`[0]`"
            default: "empty"
            }
        }
    }

    private let names: ModelNames
    private let types: [PostgresDataType: UserType]
    private let dates: ModelGenerator.Dates

    init(schema: DatabaseSchema, names: ModelNames, dates: ModelGenerator.Dates) {
        self.names = names
        self.dates = dates
        types = Dictionary(schema.types.map { ($0.type, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The type of an attribute, without NULL.
    func type(of attribute: Attribute) -> SwiftType {
        // Arrays that only the server can read are one text, too.
        if attribute.isReadAsText { return SwiftType("PostgresValue") }
        let element = attribute.elementType ?? attribute.baseType
        let name: String
        var neutral: String?
        if let type = enumeration(attribute) {
            name = names.typeName(of: type.name)
            neutral = type.definition == .enumeration(labels: []) ? "an unknown label" : "the first label"
        } else if let type = composite(attribute) {
            name = names.typeName(of: type.name)
            neutral = "all NULL"
        } else {
            let exact = attribute.structure.map(Self.name) ?? Self.name(of: element)
            name = exact == "PostgresTimestamp" && dates == .foundation ? "Date" : exact
        }
        if attribute.elementType == nil { return SwiftType(name, neutral: neutral) }
        return SwiftType("[\(name)\(attribute.hasRequiredElements ? "" : "?")]", isArray: true)
    }

    /// The enums of some entities' columns, sorted by name.
    func enumerations(of entities: [Entity]) -> [UserType] {
        used(by: entities) { enumeration($0) }
    }

    /// The composite types of some entities' columns, and of their fields, sorted by name.
    func composites(of entities: [Entity]) -> [UserType] {
        used(by: entities) { composite($0) }
    }

    private func used(by entities: [Entity], _ find: (Attribute) -> UserType?) -> [UserType] {
        var used: [QualifiedName: UserType] = [:]
        var seen: Set<QualifiedName> = []
        var waiting = entities.flatMap(\.attributes)
        while let attribute = waiting.popLast() {
            if let type = find(attribute) { used[type.name] = type }
            guard let composite = composite(attribute), case .composite(let fields) = composite.definition,
                seen.insert(composite.name).inserted
            else { continue }
            waiting += fields
        }
        return used.values.sorted { $0.name < $1.name }
    }

    func needsFoundation(_ attributes: [Attribute]) -> Bool {
        attributes.contains { attribute in
            let name = type(of: attribute).name
            return (name.contains("UUID") || ["Date", "[Date?]", "[Date]"].contains(name))
                && enumeration(attribute) == nil && composite(attribute) == nil
        }
    }

    /// How a date of Foundation's becomes a value of an attribute's type; nil for an attribute of another type.
    func wayFromDate(to attribute: Attribute) -> String? {
        guard enumeration(attribute) == nil, composite(attribute) == nil else { return nil }
        return switch type(of: attribute).name {
        case "PostgresTimestamp": "write .now, or PostgresTimestamp(clamping: date)"
        case "PostgresDate": "write .today, or PostgresDate(date, in: timeZone)"
        default: nil
        }
    }

    private func enumeration(_ attribute: Attribute) -> UserType? {
        guard let type = types[attribute.elementType ?? attribute.baseType], case .enumeration = type.definition
        else { return nil }
        return type
    }

    private func composite(_ attribute: Attribute) -> UserType? {
        guard case .composite = attribute.structure, let type = types[attribute.elementType ?? attribute.baseType],
            case .composite = type.definition
        else { return nil }
        return type
    }

    private static func name(of structure: Attribute.Structure) -> String {
        switch structure {
        case .text, .citext: "String"
        case .hstore: "PostgresHStore"
        case .vector: "PostgresVector"
        case .composite: "PostgresComposite"
        case .range(let bound, _): "PostgresRange<\(bound.isKnown ? name(of: bound) : "PostgresValue")>"
        case .multirange(let bound, _): "PostgresMultirange<\(bound.isKnown ? name(of: bound) : "PostgresValue")>"
        }
    }

    /// Exact types: each can represent every value of PostgreSQL's type, infinities included.
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
        case .inet, .cidr: "PostgresInet"
        case .macaddr, .macaddr8: "PostgresMACAddress"
        case .tsvector: "PostgresTSVector"
        case .int4range, .int8range: "PostgresRange<Int>"
        case .numrange: "PostgresRange<PostgresNumeric>"
        case .daterange: "PostgresRange<PostgresDate>"
        case .tsrange, .tstzrange: "PostgresRange<PostgresTimestamp>"
        // Any other type; as text if unknown to the library.
        default: "PostgresValue"
        }
    }
}
