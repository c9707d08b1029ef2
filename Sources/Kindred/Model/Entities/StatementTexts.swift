import KindredPostgres
import Synchronization

/// The texts of an entity's statements, by their shapes; each is made on first use.
struct StatementTexts: ~Copyable, Sendable {
    private let texts = RankedMutex<[ServerText: StatementText]>([:], .leaf)
    /// `SELECT … WHERE key`, the most frequent statement, kept here so that it needs no look-up.
    let selectionByKey = RankedMutex<StatementText?>(nil, .leaf)

    /// The text of one shape.
    func text(_ shape: String, _ make: () throws -> String) rethrows -> StatementText {
        if let known = texts.withLock({ $0[shape] }) { return known }
        let made = StatementText(try make())
        return texts.withLock { texts in
            if let known = texts[shape] { return known }
            // Shapes are few, unless users choose the written columns; the limit bounds memory.
            if texts.count >= 4_096 { texts = [:] }
            texts[shape] = made
            return made
        }
    }
}
