import HarmlessText

/// An error by which the program's own validation refuses an object, with the attribute concerned.
///
/// ```swift
/// override func validate() throws {
///     if price < 0 { throw ValidationError("The price is negative", key: "price") }
/// }
/// ```
///
/// The save reports it as a ``KindredError/Problem`` with its message and key.
public struct ValidationError: Error, Sendable, CustomStringConvertible {
    /// The problem in one sentence, as text for users; it is logged, so it should hold no values.
    public let message: String
    /// The attribute or relationship concerned, by the name of its column or property; nil for the object as a whole.
    public let key: String?

    /// An objection to an object, or to one of its attributes.
    public init(_ message: String, key: String? = nil) {
        self.message = message.harmless
        self.key = key
    }

    /// The sentence.
    public var description: String { message }
}
