import Logging
import Synchronization

/// What the connections of a client share.
final class ConnectionContext: Sendable {
    let configuration: PostgresConfiguration
    let types: TypeRegistry
    let logger: Logger?
    private let formats = Mutex<[StatementText: PostgresFormat]>([:])

    init(configuration: PostgresConfiguration, types: TypeRegistry, logger: Logger?) {
        self.configuration = configuration
        self.types = types
        self.logger = logger
    }

    /// The format that a statement's results were found fit for; nil before the first.
    func format(of text: StatementText) -> PostgresFormat? {
        formats.withLock { $0[text] }
    }

    /// Remembers the format for statements with these columns: binary unless a type can only be read as text.
    func chooseFormat(of text: StatementText, for columns: RowColumns) -> PostgresFormat {
        let format = columns.allSatisfy { types.isKnown($0.dataType) } ? PostgresFormat.binary : .text
        guard text.text.utf8.count < 65_536 else { return format }
        formats.withLock { formats in
            // Statements are few, unless a program builds their texts; then the memory starts anew.
            if formats.count >= 4_096 { formats = [:] }
            formats[text] = format
        }
        return format
    }
}
