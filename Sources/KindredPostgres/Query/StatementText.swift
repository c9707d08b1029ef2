/// The text of a statement, shared by all its executions so that looking up a prepared statement costs no comparison.
package final class StatementText: Sendable, Hashable {
    package let text: String
    /// What the statement does beyond its rows.
    package let effect: Effect
    /// Whether it is sent once only, so that preparing it would push others out of the cache.
    package let isOneTime: Bool
    private let precomputedHash: Int

    package init(_ text: String) {
        self.text = text
        precomputedHash = text.hashValue
        effect = Self.effect(of: text)
        isOneTime = false
    }

    /// A text that is not sent again, or not on the same connection.
    package init(oneTime text: String, effect: Effect) {
        self.text = text
        precomputedHash = text.hashValue
        self.effect = effect
        isOneTime = true
    }

    package static func == (left: StatementText, right: StatementText) -> Bool {
        left === right || left.precomputedHash == right.precomputedHash && left.text.hasSameBytes(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(precomputedHash)
    }
}

extension StatementText: CustomReflectable {
    /// Shows the text alone.
    package var customMirror: Mirror { Mirror(self, children: ["text": text]) }
}
