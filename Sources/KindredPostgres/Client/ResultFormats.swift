import Synchronization

/// The result formats of a client's raw statements.
final class ResultFormats: Sendable {
    private let formats = RankedMutex<[StatementText: PostgresFormat]>([:], .leaf)

    /// The format for a statement, nil if its columns are not known yet.
    func format(of text: StatementText) -> PostgresFormat? {
        switch text.effect {
        case .plain: formats.withLock { $0[text] }
        // SHOW, EXPLAIN and their like return text anyway.
        case .lasting, .preparing, .transactionControl: .text
        }
    }

    /// Chooses the format for results with these columns: binary, or text if a type has no codec.
    func choose(for text: StatementText, _ columns: RowColumns, _ types: TypeRegistry) -> PostgresFormat {
        let format = columns.allSatisfy { types.isKnown($0.dataType) } ? PostgresFormat.binary : .text
        guard text.text.utf8.count < 65_536 else { return format }
        formats.withLock { formats in
            // Bounds the memory of programs that build statement texts.
            if formats.count >= 4_096 { formats = [:] }
            formats[text] = format
        }
        return format
    }

    /// Forgets every choice; more types are known now.
    func forget() {
        formats.withLock { $0 = [:] }
    }
}
