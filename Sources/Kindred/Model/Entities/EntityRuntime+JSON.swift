import HarmlessText
import KindredPostgres
import KindredSchema

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

// JSON as values of columns: the way back from `PostgresValue.encode(to:)`.
extension EntityRuntime {
    /// The value of an attribute that a part of a JSON document stands for; nil for `null`.
    ///
    /// Throws `.wrongType` for a part that is no value of the attribute's type, and `.valueTooLarge` for a number that
    /// the server would refuse as out of the type's range.
    func value(of json: JSONValue, at position: Int, _ types: TypeRegistry?) throws -> PostgresValue? {
        let attribute = entity.attributes[position]
        do {
            return try JSONValueReader(types: types).value(of: json, attribute)
        } catch let error as JSONMisfit {
            throw misfit(error.code, of: attribute, error.reason)
        }
    }
}

/// The reason why a part of a JSON document is no value of a type.
private struct JSONMisfit: Error {
    let code: KindredError.Code
    let reason: String

    init(_ json: JSONValue, _ wanted: String) {
        code = .wrongType
        reason = "\(json.kindName) is no value for it; \(wanted)"
    }

    /// A number that the server refuses for the type, with SQLSTATE 22003.
    init(outOf type: PostgresDataType) {
        code = .valueTooLarge
        reason = "the number is out of range for the type \(type)"
    }
}

private struct JSONValueReader {
    let types: TypeRegistry?
    /// Types of the catalog are not trusted to be free of circles.
    private static let maximumDepth = 32

    init(types: TypeRegistry?) { self.types = types }

    func value(of json: JSONValue, _ attribute: Attribute) throws -> PostgresValue? {
        if json.isNull { return nil }
        if let element = attribute.elementType ?? attribute.baseType.elementType {
            guard case .array(let elements) = json.content else { throw JSONMisfit(json, "give an array") }
            return .array(try array(json, elements, of: element))
        }
        if attribute.isReadAsText, let text = json.numbersText(alone: attribute.takesNumbers) { return .string(text) }
        if attribute.enumLabels != nil || attribute.isReadAsText {
            guard let text = json.string else { throw JSONMisfit(json, "give a string") }
            return .string(text)
        }
        return try scalar(json, attribute.baseType, depth: 0)
    }

    private func scalar(_ json: JSONValue, _ type: PostgresDataType, depth: Int) throws -> PostgresValue? {
        let content = json.content
        switch (type, content) {
        case (_, .null): return nil
        case (.bool, .bool(let value)): return .bool(value)
        case (.bool, _): throw JSONMisfit(json, "give true or false")
        case (.int2, _), (.int4, _), (.int8, _), (.oid, _): return .integer(try whole(json, type))
        case (.float4, _), (.float8, _): return try floating(json, type)
        case (.numeric, _): return .numeric(try numeric(json))
        case (.json, _), (.jsonb, _): return .json(PostgresJSON(text: json.text))
        case (.bytea, .string(let text)):
            guard let data = Data(base64Encoded: text) else { throw JSONMisfit(json, "give base64") }
            return .bytes([UInt8](data))
        case (.text, .string(let text)), (.varchar, .string(let text)), (.bpchar, .string(let text)),
            (.name, .string(let text)), (.char, .string(let text)), (.xml, .string(let text)):
            return .string(text)
        default: break
        }
        switch (types?.kind(of: type), content) {
        case (.domain(let base)?, _) where depth < Self.maximumDepth:
            return try scalar(json, base, depth: depth + 1)
        case (.array(let element)?, .array(let elements)) where depth < Self.maximumDepth:
            return .array(try array(json, elements, of: element, depth: depth))
        case (.composite(let fields?)?, .object(let members)) where depth < Self.maximumDepth:
            return .composite(try composite(json, members, fields: fields, as: type, depth: depth))
        case (.hstore?, .object(let members)): return .hstore(try store(members))
        case (.vector?, .array(let elements)):
            let numbers = try elements.map { element -> Float in
                guard let text = element.number, let number = Float(text) else {
                    throw JSONMisfit(element, "give numbers")
                }
                // The extension takes a number that is too small as 0, where the server refuses it.
                guard number.isFinite else { throw JSONMisfit(outOf: type) }
                return number
            }
            guard let vector = PostgresVector(numbers) else { throw JSONMisfit(json, "give 1 to 16,000 numbers") }
            return .vector(vector)
        default: break
        }
        if case .array(let elements) = content, let element = type.elementType {
            return .array(try array(json, elements, of: element, depth: depth))
        }
        guard let text = json.string else { throw JSONMisfit(json, "give a string") }
        guard let value = try? PostgresValue(text: text, type: type) else {
            throw JSONMisfit(json, "the string is no value of the type \(type)")
        }
        return value
    }

    /// JSON makes no difference between 5 and 5.0.
    private func whole(_ json: JSONValue, _ type: PostgresDataType) throws -> Int64 {
        guard let text = json.number else { throw JSONMisfit(json, "give a whole number") }
        let range: ClosedRange<Int64> =
            switch type {
            case .int2: Int64(Int16.min)...Int64(Int16.max)
            case .int4: Int64(Int32.min)...Int64(Int32.max)
            case .oid: 0...Int64(UInt32.max)
            default: .min...(.max)
            }
        var value = Int64(text)
        if value == nil, let size = Double(text)?.magnitude, size < 1e19, let numeric = PostgresNumeric(text) {
            guard numeric.rounded(toScale: 0) == numeric else { throw JSONMisfit(json, "give a whole number") }
            value = Int64(numeric.rounded(toScale: 0).description)
        }
        guard let value, range.contains(value) else { throw JSONMisfit(outOf: type) }
        return value
    }

    /// To the nearest number of the type, as the server reads a text.
    private func floating(_ json: JSONValue, _ type: PostgresDataType) throws -> PostgresValue {
        if let text = json.string, ["NaN", "Infinity", "-Infinity"].contains(text) {
            return try PostgresValue(text: text, type: type)
        }
        guard let text = json.number else { throw JSONMisfit(json, "give a number") }
        guard let value = try? PostgresValue(text: text, type: type) else { throw JSONMisfit(outOf: type) }
        return value
    }

    private func numeric(_ json: JSONValue) throws -> PostgresNumeric {
        if let text = json.string {
            guard let value = PostgresNumeric(text) else { throw JSONMisfit(json, "the string is no number") }
            return value
        }
        guard let text = json.number else { throw JSONMisfit(json, "give a number or a string with one") }
        guard let value = PostgresNumeric(text) else { throw JSONMisfit(outOf: .numeric) }
        return value
    }

    /// An array of one or more dimensions: as deep as the first elements are arrays.
    private func array(
        _ json: JSONValue, _ elements: [JSONValue], of type: PostgresDataType, depth: Int = 0
    ) throws -> PostgresArray {
        let misfit = JSONMisfit(json, "its arrays are not of one length, or deeper than six")
        var (level, counts) = (elements, [elements.count])
        // Elements that are documents or vectors may be arrays themselves.
        let isNested = type.isKnown && type != .json && type != .jsonb
        while isNested, case .array(let first)? = level.first?.content {
            guard counts.count < 6 else { throw misfit }
            counts.append(first.count)
            level = try level.flatMap { element in
                guard case .array(let inner) = element.content, inner.count == first.count else { throw misfit }
                return inner
            }
        }
        let values = try level.map { try scalar($0, type, depth: depth + 1) }
        let dimensions = values.isEmpty ? [] : counts.map { PostgresArray.Dimension(count: $0) }
        guard let array = try? PostgresArray(elementType: type, dimensions: dimensions, elements: values) else {
            throw misfit
        }
        return array
    }

    private func composite(
        _ json: JSONValue, _ members: [JSONValue.Member], fields: [TypeRegistry.Field], as type: PostgresDataType,
        depth: Int
    ) throws -> PostgresComposite {
        let names = Set(texts: fields.map(\.name))
        if let unknown = members.first(where: { !names.contains($0.key) })?.key {
            throw JSONMisfit(json, "it has no field \"\(unknown.shortened)\"")
        }
        // A patch has no key twice.
        let values = Dictionary(members.map { (ServerText($0.key), $0.value) }) { first, _ in first }
        return PostgresComposite(
            fields: try fields.map { field in
                PostgresComposite.Field(
                    name: field.name,
                    value: try values[ServerText(field.name)].flatMap { try scalar($0, field.type, depth: depth + 1) })
            }, dataType: type)
    }

    private func store(_ members: [JSONValue.Member]) throws -> PostgresHStore {
        PostgresHStore(
            entries: try members.map { key, member in
                switch member.content {
                case .string(let text): return (key, text)
                case .null: return (key, nil)
                default: throw JSONMisfit(member, "give strings")
                }
            })
    }
}

extension JSONValue {
    /// The text of an array of numbers, as types such as `halfvec` take it, or of one number where `alone` says so.
    fileprivate func numbersText(alone: Bool) -> String? {
        guard case .array(let elements) = content else { return alone ? number : nil }
        let texts = elements.compactMap(\.number)
        return texts.count == elements.count ? "[\(texts.joined(separator: ","))]" : nil
    }
}
