import HarmlessText
import KindredPostgres

/// Changes of an object as a client sends them: a JSON object with the keys that are to change.
///
/// ```swift
/// let patch = try ObjectPatch(json: body)
/// try book.apply(patch, allowing: ["title", "price"])
/// try await context.save()
/// ```
///
/// A key that is missing changes nothing; `null` is NULL. A number is stored with all digits that the client sent, or refused.
/// The keys are names of columns, or of properties of the class.
///
/// A patch is read from its bytes, in time that grows with their number alone. It is no `Decodable`: decoders show neither the
/// digits of all numbers nor a key that is there twice, and take the longer the deeper a text is.
public struct ObjectPatch: Sendable {
    /// The values by key, in the order of the keys.
    let members: [JSONValue.Member]

    /// The keys that the patch sets, in alphabetical order.
    public var keys: [String] { members.map(\.key) }

    /// The most arrays and objects around a value of a patch.
    public static let maximumDepth = 64
    /// The most keys of a patch: as many as a table can have columns.
    public static let maximumKeys = 1_600
}

extension ObjectPatch {
    /// Reads a JSON object in UTF-8; its keys are checked when the patch is applied.
    ///
    /// ```swift
    /// let patch = try ObjectPatch(json: #"{"title": "New"}"#.utf8)
    /// ```
    ///
    /// - Parameters:
    ///   - json: The bytes, such as the body of a request.
    ///   - maximumBytes: The most bytes that are read.
    ///
    /// Throws `KindredError` `.invalidPatch`, of the category `.invalid`, for a text that is no JSON object (RFC 8259),
    /// with the place of the wrong byte; for a text beyond `maximumBytes`, ``maximumDepth`` or ``maximumKeys``; and for
    /// an object, the patch itself or an object in a document, that has a key twice.
    public init(json: some Collection<UInt8>, maximumBytes: Int = 1_048_576) throws {
        var limits = JSONLimits()
        (limits.bytes, limits.depth, limits.refusesEqualKeys) = (maximumBytes, Self.maximumDepth, true)
        // One byte more than is read, which is refused.
        let bytes = Array(
            json.count > maximumBytes ? json.prefix((maximumBytes > 0 ? maximumBytes : 0) + 1) : json[...])
        let root: JSONValue
        do {
            root = try JSONDocument(bytes, limits: limits).root
        } catch {
            let key = error.key.map { " (\"\($0.shortened)\")" } ?? ""
            throw Self.refused("The changes of an object cannot be read: \(error.sentence)\(key)", key: error.key)
        }
        guard case .object(let members) = root.content else {
            throw Self.refused("The changes of an object are a JSON object, not \(root.kindName)")
        }
        guard members.count <= Self.maximumKeys else {
            throw Self.refused(
                "The changes of an object have \(members.count) keys, more than the \(Self.maximumKeys) of any table")
        }
        self.members = members.sorted { $0.key < $1.key }
    }

    private static func refused(_ message: String, key: String? = nil) -> KindredError {
        KindredError(.invalidPatch, message, key: key)
    }
}

extension ObjectPatch: CustomStringConvertible {
    /// The keys, without values; safe to log.
    public var description: String { "changes of \(keys.map(\.shortened).joined(separator: ", "))".harmless }
}
