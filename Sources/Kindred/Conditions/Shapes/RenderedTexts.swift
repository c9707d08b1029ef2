import KindredPostgres
import KindredSchema
import Synchronization

/// The texts of statements that differ in values alone, and have the same condition.
final class RenderedTexts: Sendable {
    /// A statement apart from its condition and values.
    struct Shape: Equatable, Sendable {
        enum Purpose: Equatable, Sendable {
            case rows, count, exists
            /// A page behind some values that are not NULL; the first page is behind no values.
            case page(values: Int)
            /// All members of some owners.
            case part(RelationshipRuntime, isSorted: Bool)

            /// The number of values besides the condition's.
            var values: Int { if case .page(let values) = self { values } else { 0 } }
        }

        let purpose: Purpose
        let sort: [SortTerm]
        let isFiltered: Bool
        let hasLimit: Bool
        let hasOffset: Bool
        /// The lock's words; nil for none.
        let lock: String?
        let leftOut: ColumnSet?
    }

    /// A statement whose text was rendered.
    ///
    /// Its parameters are, in this order, the condition's, the constants, the values, the limit, and the offset.
    final class Rendered: Sendable {
        let text: StatementText
        let constants: Bindings
        /// The other sides of the values.
        let targets: [BoundTarget]
        /// The rows and columns that a part of a relationship reads; nil for other statements.
        let reads: Reads?

        init(_ text: StatementText, constants: Bindings, targets: [BoundTarget], reads: Reads?) {
            (self.text, self.constants, self.targets, self.reads) = (text, constants, targets, reads)
        }
    }

    private let known = RankedMutex<[(shape: Shape, rendered: Rendered)]>([], .text)
    private static let maximumTexts = 16

    func find(_ shape: Shape) -> Rendered? {
        known.withLock { known in
            for position in known.indices where known[position].shape == shape { return known[position].rendered }
            return nil
        }
    }

    func keep(_ rendered: Rendered, _ shape: Shape) {
        known.withLock { known in
            if known.count >= Self.maximumTexts { known = [] }
            known.append((shape, rendered))
        }
    }
}
