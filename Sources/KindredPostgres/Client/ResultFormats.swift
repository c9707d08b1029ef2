import Synchronization

/// In which format the results of a client's raw statements can be read.
final class ResultFormats: Sendable {
    private let formats = Mutex<[StatementText: PostgresFormat]>([:])

    /// The format for a statement, nil if nobody has looked at its columns.
    func format(of text: StatementText) -> PostgresFormat? {
        switch text.effect {
        case .plain: formats.withLock { $0[text] }
        // What SHOW, EXPLAIN and their like give is text anyway.
        case .lasting, .session, .transactionControl: .text
        }
    }

    /// Remembers the format for results with these columns: binary, or text if a type has no codec.
    func choose(for text: StatementText, _ columns: RowColumns, _ types: TypeRegistry) -> PostgresFormat {
        let format = columns.allSatisfy { types.isKnown($0.dataType) } ? PostgresFormat.binary : .text
        guard text.text.utf8.count < 65_536 else { return format }
        formats.withLock { formats in
            // Statements are few, unless a program builds their texts; then the memory starts anew.
            if formats.count >= 4_096 { formats = [:] }
            formats[text] = format
        }
        return format
    }

    /// Forgets every choice, because more types are known now.
    func forget() {
        formats.withLock { $0 = [:] }
    }
}
