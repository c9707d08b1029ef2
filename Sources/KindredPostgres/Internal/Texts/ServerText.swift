/// A name or text of the server as a key: of a table, column, role, setting, statement, channel or tenant.
///
/// Equal and hashed by its bytes, as the server compares: two spellings of "é" are two keys. A dictionary or set of `String`
/// takes them for one.
package struct ServerText: Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let text: String

    package init(_ text: String) { self.text = text }

    package init(stringLiteral text: String) { self.text = text }

    package var description: String { text }

    package static func == (left: ServerText, right: ServerText) -> Bool { left.text == right.text }

    package static func < (left: ServerText, right: ServerText) -> Bool { left.text < right.text }

    /// Hashes as the string does, which is faster than its bytes: texts with the same bytes have the same hash.
    package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

// Strings find their entries, so that names are made keys at one place only.
extension Dictionary where Key == ServerText {
    /// The value of a text.
    package subscript(text: String) -> Value? {
        get { self[ServerText(text)] }
        _modify { yield &self[ServerText(text)] }
    }

    /// The value of a text, or another where it has none.
    package subscript(text: String, default value: @autoclosure () -> Value) -> Value {
        get { self[ServerText(text)] ?? value() }
        _modify { yield &self[ServerText(text), default: value()] }
    }

    /// Sets the value of a text, and gives the one before.
    @discardableResult
    package mutating func updateValue(_ value: Value, forKey text: String) -> Value? {
        updateValue(value, forKey: ServerText(text))
    }

    /// Removes a text, and gives its value.
    @discardableResult
    package mutating func removeValue(forKey text: String) -> Value? { removeValue(forKey: ServerText(text)) }
}

extension Set where Element == ServerText {
    /// The texts without those that are there twice.
    package init(texts: some Sequence<String>) { self.init(texts.lazy.map { ServerText($0) }) }

    /// Puts texts into the set.
    package mutating func formUnion(texts: some Sequence<String>) { formUnion(texts.lazy.map { ServerText($0) }) }

    /// Whether a text is in the set.
    package func contains(_ text: String) -> Bool { contains(ServerText(text)) }

    /// Puts a text into the set; false if it is there.
    @discardableResult
    package mutating func insert(_ text: String) -> Bool { insert(ServerText(text)).inserted }
}

extension Sequence where Element == ServerText {
    /// The strings, in the order of the texts.
    package var texts: [String] { map(\.text) }
}
