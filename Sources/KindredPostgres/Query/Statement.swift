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
