/// A JSON document, its text kept as it is.
///
/// Two documents are equal if their texts are. The server stores `jsonb` in a form of its own, so that a text that is
/// written may come back with other spaces and another order of keys.
public struct PostgresJSON: Sendable, Hashable {
    /// The document's text.
    public let text: String

    /// A document with the given text, which the server checks.
    public init(text: String) {
        self.text = text
    }
}

extension PostgresJSON: CustomStringConvertible {
    /// The document's text.
    public var description: String { text }
}
