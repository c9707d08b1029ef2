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
    /// Throws `.wrongType` for one that is no value of the attribute's type.
    func value(of tree: JSONTree, at position: Int, _ types: TypeRegistry?) throws -> PostgresValue? {
        let attribute = entity.attributes[position]
        do {
            return try JSONValueReader(types: types).value(of: tree, attribute)
        } catch let error as JSONMisfit {
            throw wrongType(attribute, error.reason)
        }
    }
}

/// The reason why a part of a JSON document is no value of a type.
private struct JSONMisfit: Error {
    let reason: String

    init(_ tree: JSONTree, _ wanted: String) { reason = "\(tree.kindName) is no value for it; \(wanted)" }
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
        case (.int2, .integer(let value)), (.int4, .integer(let value)), (.int8, .integer(let value)),
            (.oid, .integer(let value)):
            return .integer(value)
        case (.int2, _), (.int4, _), (.int8, _), (.oid, _): throw JSONMisfit(tree, "give a whole number")
        case (.float4, _):
            // To the nearest, as the server reads a text.
            if case .double(let value) = try floating(tree) { return .float(Float(value)) }
        case (.float8, _): return try floating(tree)
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
                guard case .double(let value) = try floating(element) else { throw JSONMisfit(element, "give numbers") }
                return Float(value)
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

    private func floating(_ tree: JSONTree) throws -> PostgresValue {
        switch tree {
        case .integer(let value): return .double(Double(value))
        case .decimal(let value):
            // The text of a decimal is a number.
            return .double(Double(value.description) ?? .nan)
        case .double(let value): return .double(value)
        case .string("NaN"): return .double(.nan)
        case .string("Infinity"): return .double(.infinity)
        case .string("-Infinity"): return .double(-.infinity)
        default: throw JSONMisfit(tree, "give a number")
        }
    }

    private func numeric(_ tree: JSONTree) throws -> PostgresNumeric {
        guard !tree.mayLackDigits else {
            throw JSONMisfit(tree, "of so many digits it is exact only as a text: give it in quotes")
        }
        switch tree {
        case .integer(let value): return PostgresNumeric(value)
        case .decimal(let value): return PostgresNumeric(value)
        case .double(let value): return PostgresNumeric(value)
        case .string(let text):
            guard let value = PostgresNumeric(text) else { throw JSONMisfit(tree, "the string is no number") }
            return value
        default: throw JSONMisfit(tree, "give a number or a string with one")
        }
    }

    private func document(_ tree: JSONTree) throws -> PostgresJSON {
        do {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.withoutEscapingSlashes]
            return try PostgresJSON(encoding: tree, with: encoder)
        } catch {
            throw JSONMisfit(tree, "the document cannot be written as JSON again")
        }
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
