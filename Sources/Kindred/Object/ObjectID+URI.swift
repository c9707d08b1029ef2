import KindredPostgres
import KindredSchema

extension ObjectID {
    static let scheme = "kindred:"

    /// The stable text form: `kindred:/public/person?id=42`.
    ///
    /// Schema, table and the key's attributes and values are percent-encoded; attributes stand in key order.
    /// Host and database are not part of it, so that an ID survives a move of the database [B]. A temporary ID ends in
    /// `#new-` and a number, and cannot be read back.
    public var uri: String {
        if isTemporary {
            let number = values.first?.description ?? ""
            return "\(Self.scheme)/\(Self.encode(entity.schema))/\(Self.encode(entity.name))#new-\(number)"
        }
        let pairs = zip(attributes, values).map { name, value in
            "\(Self.encode(name))=\(Self.encode(value.description))"
        }
        return
            "\(Self.scheme)/\(Self.encode(entity.schema))/\(Self.encode(entity.name))?\(pairs.joined(separator: "&"))"
    }

    /// Reads an ID from its URI form, checking entity, attributes and value types against the schema.
    ///
    /// Throws `KindredError` `.invalidObjectID` with the reason. Sends nothing.
    package init(uri: String, schema: SchemaRuntime) throws {
        func invalid(_ reason: String) -> KindredError {
            KindredError(.invalidObjectID, "The text is not the URI of an object: \(reason)")
        }
        guard uri.hasPrefix("\(Self.scheme)/") else {
            throw invalid("it does not begin with \(Self.scheme)/")
        }
        let parts = uri.dropFirst(Self.scheme.count + 1).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, path.count == 2, let schemaName = Self.decode(path[0]),
            let tableName = Self.decode(path[1])
        else {
            throw invalid("it has not the form \(Self.scheme)/schema/table?key=value")
        }
        guard let entity = schema[QualifiedName(schema: schemaName, name: tableName)] else {
            throw invalid("there is no entity \(schemaName).\(tableName)")
        }
        var given: [String: String] = [:]
        for pair in parts[1].split(separator: "&", omittingEmptySubsequences: false) {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let name = Self.decode(halves[0]), let value = Self.decode(halves[1]) else {
                throw invalid("a part after the question mark is not attribute=value")
            }
            guard given.updateValue(value, forKey: name) == nil else { throw invalid("\"\(name)\" stands twice") }
        }
        guard !entity.key.isEmpty, Set(given.keys) == Set(entity.entity.primaryKey) else {
            let key = entity.entity.primaryKey.joined(separator: ", ")
            throw invalid("the key of \(entity.name) is (\(key))")
        }
        let values = try entity.key.map { position in
            let attribute = entity.entity.attributes[position]
            do {
                return try PostgresValue(text: given[attribute.name] ?? "", type: attribute.baseType)
            } catch {
                throw invalid("\"\(attribute.name)\" is not a value of type \(attribute.typeName)")
            }
        }
        self.init(entity, ObjectKey(values))
    }

    /// RFC 3986's unreserved characters stay, everything else is percent-encoded.
    private static func encode(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += byte < 16 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return result
    }

    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
