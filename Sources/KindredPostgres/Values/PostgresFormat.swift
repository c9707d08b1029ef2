/// How a value is encoded on the wire.
public enum PostgresFormat: Sendable, Hashable {
    /// As the server prints it.
    case text
    /// As the server holds it.
    case binary
}
