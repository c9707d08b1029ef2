import Synchronization

/// The finished texts of statements whose pieces are all literals of the program, found by where the literals stand.
///
/// A raw query in a loop is then neither put together, scanned nor hashed again, and being the same object each time it
/// is found in the statement caches of connections at once. A literal stands in memory that never changes and is never
/// given back. Two statements share a place here only by chance; the later one then takes it.
final class SQLCache: Sendable {
    static let shared = SQLCache()

    private struct Entry {
        let pieces: [SQL.Piece]
        let text: StatementText
    }

    private static let size = 512
    private let entries = Mutex<[Entry?]>(Array(repeating: nil, count: size))

    /// The text that was kept for these pieces.
    func text(for pieces: [SQL.Piece]) -> StatementText? {
        let place = place(of: pieces)
        return entries.withLock { entries in
            guard let entry = entries[place], entry.pieces.elementsEqual(pieces, by: { $0.isSame(as: $1) }) else {
                return nil
            }
            return entry.text
        }
    }

    /// Keeps the text of the pieces if they are all literals and parameters; the parameters' values are not kept.
    func keep(_ text: StatementText, for pieces: [SQL.Piece]) {
        let kept: [SQL.Piece] = pieces.compactMap { piece in
            switch piece {
            case .literal(let literal) where literal.hasPointerRepresentation: piece
            case .parameter: .parameter(nil)
            case .literal, .text: nil
            }
        }
        guard kept.count == pieces.count else { return }
        let place = place(of: pieces)
        entries.withLock { $0[place] = Entry(pieces: kept, text: text) }
    }

    private func place(of pieces: [SQL.Piece]) -> Int {
        var mixed: UInt = 0
        for case .literal(let literal) in pieces where literal.hasPointerRepresentation {
            mixed = (mixed ^ UInt(bitPattern: literal.utf8Start)) &* 0x9E37_79B9_7F4A_7C15
        }
        return Int(mixed >> 32) & (Self.size - 1)
    }
}

extension SQL.Piece {
    /// Whether both are the same literal, or both are parameters of any value.
    fileprivate func isSame(as other: SQL.Piece) -> Bool {
        switch (self, other) {
        case (.literal(let left), .literal(let right)):
            left.hasPointerRepresentation && right.hasPointerRepresentation && left.utf8Start == right.utf8Start
                && left.utf8CodeUnitCount == right.utf8CodeUnitCount
        case (.parameter, .parameter): true
        default: false
        }
    }
}
