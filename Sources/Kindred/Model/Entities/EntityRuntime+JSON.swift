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
    /// Throws `.wrongType` for one that is no value of the attribute's type, and `.valueTooLarge` for a number that the server
    /// would refuse as out of the type's range.
    func value(of tree: JSONTree, at position: Int, _ types: TypeRegistry?) throws -> PostgresValue? {
        let attribute = entity.attributes[position]
        do {
            return try JSONValueReader(types: types).value(of: tree, attribute)
        } catch let error as JSONMisfit {
            throw misfit(error.code, of: attribute, error.reason)
        }
    }
}

/// The reason why a part of a JSON document is no value of a type.
private struct JSONMisfit: Error {
    let code: KindredError.Code
    let reason: String

    init(_ tree: JSONTree, _ wanted: String) {
        code = .wrongType
        reason = "\(tree.kindName) is no value for it; \(wanted)"
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

    func value(of tree: JSONTree, _ attribute: Attribute) throws -> PostgresValue? {
        if case .null = tree { return nil }
        if let element = attribute.elementType ?? attribute.baseType.elementType {
            guard case .array(let elements) = tree else { throw JSONMisfit(tree, "give an array") }
            return .array(try array(elements, of: element))
        }
        if attribute.isReadAsText, let text = tree.numbersText(alone: attribute.takesNumbers) { return .string(text) }
        if attribute.enumLabels != nil || attribute.isReadAsText {
            guard case .string(let text) = tree else { throw JSONMisfit(tree, "give a string") }
            return .string(text)
        }
        return try scalar(tree, attribute.baseType, depth: 0)
    }

    private func scalar(_ tree: JSONTree, _ type: PostgresDataType, depth: Int) throws -> PostgresValue? {
        switch (type, tree) {
        case (_, .null): return nil
        case (.bool, .bool(let value)): return .bool(value)
        case (.bool, _): throw JSONMisfit(tree, "give true or false")
        case (.int2, _), (.int4, _), (.int8, _), (.oid, _): return .integer(try whole(tree, type))
        case (.float4, _), (.float8, _): return try floating(tree, type)
        case (.numeric, _): return .numeric(try numeric(tree))
        case (.json, _), (.jsonb, _): return .json(try document(tree))
        case (.bytea, .string(let text)):
            guard let data = Data(base64Encoded: text) else { throw JSONMisfit(tree, "give base64") }
            return .bytes([UInt8](data))
        case (.text, .string(let text)), (.varchar, .string(let text)), (.bpchar, .string(let text)),
            (.name, .string(let text)), (.char, .string(let text)), (.xml, .string(let text)):
            return .string(text)
        default: break
        }
        switch (types?.kind(of: type), tree) {
        case (.domain(let base)?, _) where depth < Self.maximumDepth:
            return try scalar(tree, base, depth: depth + 1)
        case (.array(let element)?, .array(let elements)) where depth < Self.maximumDepth:
            return .array(try array(elements, of: element, depth: depth))
        case (.composite(let fields?)?, .object(let members)) where depth < Self.maximumDepth:
            return .composite(try composite(members, fields: fields, as: type, depth: depth))
        case (.hstore?, .object(let members)): return .hstore(try store(members))
        case (.vector?, .array(let elements)):
            let numbers = try elements.map { element -> Float in
                guard let text = element.numberText, let number = Float(text) else {
                    throw JSONMisfit(element, "give numbers")
                }
                // The extension takes what is too small for 0, other than the server.
                guard number.isFinite else { throw JSONMisfit(outOf: type) }
                return number
            }
            guard let vector = PostgresVector(numbers) else { throw JSONMisfit(tree, "give 1 to 16,000 numbers") }
            return .vector(vector)
        default: break
        }
        if case .array(let elements) = tree, let element = type.elementType {
            return .array(try array(elements, of: element, depth: depth))
        }
        guard case .string(let text) = tree else { throw JSONMisfit(tree, "give a string") }
        guard let value = try? PostgresValue(text: text, type: type) else {
            throw JSONMisfit(tree, "the string is no value of the type \(type)")
        }
        return value
    }

    /// JSON makes no difference between 5 and 5.0.
    private func whole(_ tree: JSONTree, _ type: PostgresDataType) throws -> Int64 {
        guard let text = tree.numberText else { throw JSONMisfit(tree, "give a whole number") }
        let range: ClosedRange<Int64> =
            switch type {
            case .int2: Int64(Int16.min)...Int64(Int16.max)
            case .int4: Int64(Int32.min)...Int64(Int32.max)
            case .oid: 0...Int64(UInt32.max)
            default: .min...(.max)
            }
        var value = Int64(text)
        if value == nil, let size = Double(text)?.magnitude, size < 1e19, let numeric = PostgresNumeric(text) {
            guard numeric.rounded(toScale: 0) == numeric else { throw JSONMisfit(tree, "give a whole number") }
            value = Int64(numeric.rounded(toScale: 0).description)
        }
        guard let value, range.contains(value) else { throw JSONMisfit(outOf: type) }
        return value
    }

    /// To the nearest number of the type, as the server reads a text.
    private func floating(_ tree: JSONTree, _ type: PostgresDataType) throws -> PostgresValue {
        if case .string(let text) = tree, ["NaN", "Infinity", "-Infinity"].contains(text) {
            return try PostgresValue(text: text, type: type)
        }
        guard let text = tree.numberText else { throw JSONMisfit(tree, "give a number") }
        guard let value = try? PostgresValue(text: text, type: type) else { throw JSONMisfit(outOf: type) }
        return value
    }

    private func numeric(_ tree: JSONTree) throws -> PostgresNumeric {
        if case .string(let text) = tree {
            guard let value = PostgresNumeric(text) else { throw JSONMisfit(tree, "the string is no number") }
            return value
        }
        guard let text = tree.numberText else { throw JSONMisfit(tree, "give a number or a string with one") }
        guard !tree.mayLackDigits else {
            throw JSONMisfit(tree, "of so many digits it is exact only as a text: give it in quotes")
        }
        guard let value = PostgresNumeric(text) else { throw JSONMisfit(outOf: .numeric) }
        return value
    }

    private func document(_ tree: JSONTree) throws -> PostgresJSON {
        guard let text = tree.text else {
            throw JSONMisfit(tree, "a number in the document has more digits than the decoder gives")
        }
        return PostgresJSON(text: text)
    }

    /// An array of one or more dimensions: as deep as the first elements are arrays.
    private func array(_ elements: [JSONTree], of type: PostgresDataType, depth: Int = 0) throws -> PostgresArray {
        let misfit = JSONMisfit(.array(elements), "its arrays are not of one length, or deeper than six")
        var (level, counts) = (elements, [elements.count])
        // Elements that are documents or vectors may be arrays themselves.
        let isNested = type.isKnown && type != .json && type != .jsonb
        while isNested, case .array(let first)? = level.first {
            guard counts.count < 6 else { throw misfit }
            counts.append(first.count)
            level = try level.flatMap { element in
                guard case .array(let inner) = element, inner.count == first.count else { throw misfit }
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
        _ members: [String: JSONTree], fields: [TypeRegistry.Field], as type: PostgresDataType, depth: Int
    ) throws -> PostgresComposite {
        if let unknown = members.keys.sorted().first(where: { key in !fields.contains { $0.name == key } }) {
            throw JSONMisfit(.object(members), "it has no field \"\(unknown)\"")
        }
        return PostgresComposite(
            fields: try fields.map { field in
                PostgresComposite.Field(
                    name: field.name,
                    value: try members[field.name].flatMap { try scalar($0, field.type, depth: depth + 1) })
            }, dataType: type)
    }

    private func store(_ members: [String: JSONTree]) throws -> PostgresHStore {
        PostgresHStore(
            try members.mapValues { member in
                switch member {
                case .string(let text): return text
                case .null: return nil
                default: throw JSONMisfit(member, "give strings")
                }
            })
    }
}

extension JSONTree {
    /// The text of a number; nil for anything else.
    fileprivate var numberText: String? {
        switch self {
        case .integer(let value): "\(value)"
        case .decimal(let value): value.description
        case .double(let value): "\(value)"
        case .number(let text): text
        case .null, .bool, .string, .array, .object: nil
        }
    }

    /// The text of an array of numbers, as types such as `halfvec` take it, or of one number where `alone` says so.
    fileprivate func numbersText(alone: Bool) -> String? {
        guard case .array(let elements) = self else { return alone ? numberText : nil }
        let texts = elements.compactMap(\.numberText)
        return texts.count == elements.count ? "[\(texts.joined(separator: ","))]" : nil
    }

    /// The document on one line; nil if it lacks digits that it had.
    fileprivate var text: String? {
        switch self {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .integer, .decimal, .double, .number: return mayLackDigits ? nil : numberText
        case .string(let text): return text.quotedForJSON
        case .array(let elements):
            let texts = elements.compactMap(\.text)
            return texts.count == elements.count ? "[\(texts.joined(separator: ","))]" : nil
        case .object(let members):
            let texts = members.sorted { $0.key < $1.key }.compactMap { key, value in
                value.text.map { "\(key.quotedForJSON):\($0)" }
            }
            return texts.count == members.count ? "{\(texts.joined(separator: ","))}" : nil
        }
    }
}
