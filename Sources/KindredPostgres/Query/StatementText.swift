/// The text of a statement, shared by all its executions so that looking up a prepared statement costs no comparison.
package final class StatementText: Sendable, Hashable {
    package let text: String
    /// What the statement does beyond its rows.
    package let effect: Effect
    private let precomputedHash: Int

    package init(_ text: String) {
        self.text = text
        precomputedHash = text.hashValue
        effect = Self.effect(of: text)
    }

    package static func == (left: StatementText, right: StatementText) -> Bool {
        left === right || left.precomputedHash == right.precomputedHash && left.text.isSame(as: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(precomputedHash)
    }
}
