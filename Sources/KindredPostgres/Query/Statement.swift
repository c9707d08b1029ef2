/// A statement ready to be sent: its text, its bound parameters, and the format in which results are wanted.
package struct Statement: Sendable {
    package var text: StatementText
    package var bindings: Bindings
    /// nil lets the connection decide once it knows the result's columns: binary, or text if a column's type has no codec.
    package var resultFormat: PostgresFormat?

    package init(text: StatementText, bindings: Bindings = Bindings(), resultFormat: PostgresFormat? = nil) {
        self.text = text
        self.bindings = bindings
        self.resultFormat = resultFormat
    }
}

extension Statement: CustomStringConvertible {
    /// The text, without the parameters' values.
    package var description: String { text.text }
}

extension Bindings: CustomStringConvertible, CustomReflectable {
    /// How many parameters there are, without their values.
    package var description: String { "\(count) parameters of \(totalBytes) bytes" }

    /// Shows the types only.
    package var customMirror: Mirror { Mirror(self, children: ["types": slots.map(\.type.description)]) }
}
