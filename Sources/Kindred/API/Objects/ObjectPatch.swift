import HarmlessText
import KindredPostgres

/// Changes of an object as a client sends them: a JSON object with the keys that are to change.
///
/// ```swift
/// let patch = try JSONDecoder().decode(ObjectPatch.self, from: body)
/// try book.apply(patch, allowing: ["title", "price"])
/// try await context.save()
/// ```
///
/// A key that is missing changes nothing; `null` is NULL. A number is stored with all digits that the client sent, or refused.
/// The keys are names of columns, or of properties of the class.
public struct ObjectPatch: Sendable {
    let values: [String: JSONTree]

    /// The keys that the patch sets, in alphabetical order.
    public var keys: [String] { values.keys.sorted() }
}

extension ObjectPatch: Decodable {
    /// Reads a JSON object; its keys are checked when the patch is applied.
    public init(from decoder: any Decoder) throws {
        let tree = try ClientJSON(from: decoder).tree
        guard case .object(let values) = tree else {
            throw DecodingError.typeMismatch(
                ObjectPatch.self,
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "The changes of an object are a JSON object, not \(tree.kindName)"))
        }
        self.values = values
    }
}

extension ObjectPatch: CustomStringConvertible {
    /// The keys, without values; safe to log.
    public var description: String { "changes of \(keys.joined(separator: ", "))".harmless }
}
