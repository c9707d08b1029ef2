/// A name or text of the server as a key: of a table, column, role, setting, statement, channel or tenant.
///
/// Equal and hashed by its bytes, as the server compares: two spellings of "é" are two keys. A dictionary or set of `String`
/// takes them for one.
///
/// Functions that take a dictionary or set can be inlined: other modules call them for values of their own types, and a
/// generic accessor that is not specialized allocates in each call.
@usableFromInline
package struct ServerText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    @usableFromInline package let text: String

    @inlinable
    package init(_ text: String) { self.text = text }

    @usableFromInline
    package init(stringLiteral text: String) { self.text = text }

    @usableFromInline
    package var description: String { text }

    @usableFromInline
    package static func == (left: ServerText, right: ServerText) -> Bool { left.text == right.text }

    @usableFromInline
    package static func < (left: ServerText, right: ServerText) -> Bool { left.text < right.text }

    /// Hashes as the string does, which is faster than its bytes: texts with the same bytes have the same hash.
    @usableFromInline
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

// Strings find their entries, so that names are made keys at one place only.
extension Dictionary where Key == ServerText {
    /// The value of a text.
    @inlinable
    package subscript(text: String) -> Value? {
        get { self[ServerText(text)] }
        _modify { yield &self[ServerText(text)] }
    }

    /// The value of a text, or another where it has none.
    @inlinable
    package subscript(text: String, default value: @autoclosure () -> Value) -> Value {
        get { self[ServerText(text)] ?? value() }
        _modify { yield &self[ServerText(text), default: value()] }
    }

    /// Sets the value of a text, and returns the former value.
    @discardableResult @inlinable
    package mutating func updateValue(_ value: Value, forKey text: String) -> Value? {
        updateValue(value, forKey: ServerText(text))
    }

    /// Removes a text, and gives its value.
    @discardableResult @inlinable
    package mutating func removeValue(forKey text: String) -> Value? { removeValue(forKey: ServerText(text)) }
}

extension Set where Element == ServerText {
    /// The texts, each once.
    @inlinable
    package init(texts: some Sequence<String>) { self.init(texts.lazy.map { ServerText($0) }) }

    /// Puts texts into the set.
    @inlinable
    package mutating func formUnion(texts: some Sequence<String>) { formUnion(texts.lazy.map { ServerText($0) }) }

    /// Whether a text is in the set.
    @inlinable
    package func contains(_ text: String) -> Bool { contains(ServerText(text)) }

    /// Puts a text into the set; false if it is there.
    @discardableResult @inlinable
    package mutating func insert(_ text: String) -> Bool { insert(ServerText(text)).inserted }
}

extension Sequence where Element == ServerText {
    /// The strings, in the order of the texts.
    @inlinable
    package var texts: [String] { map(\.text) }
}
