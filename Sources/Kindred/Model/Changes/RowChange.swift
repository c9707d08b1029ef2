import KindredPostgres

/// A row that came, changed, or went, as a statement or another client's transaction says.
///
/// It has no time and no scope: those belong to the entry of the log that keeps it.
package struct RowChange: Sendable {
    /// The part of the change that its writer does not know.
    enum Unknown: Sendable {
        case nothing
        /// The row before, if there was one.
        case before
        /// The row before, except that it had the same foreign keys, and the same place in an order.
        case beforeUnmoved
    }

    let entity: EntityRuntime
    private let givenKey: ObjectKey?
    /// The key that the row had before, if the change gave it another.
    let formerKey: ObjectKey?
    /// The row before; nil for a row that came, and where it is not known.
    let before: Row?
    /// The row afterwards; nil for a row that went.
    let after: Row?
    let unknown: Unknown

    /// - Parameter key: the row's key; nil where its columns tell it.
    init(
        of entity: EntityRuntime, key: ObjectKey? = nil, formerKey: ObjectKey? = nil, from before: Row?, to after: Row?,
        unknown: Unknown = .nothing
    ) {
        (self.entity, givenKey, self.formerKey) = (entity, key, formerKey)
        (self.before, self.after, self.unknown) = (before, after, unknown)
    }

    /// A row that a statement has stored or changed; the row before is unknown.
    package init(written row: Row, of entity: EntityRuntime, key: ObjectKey? = nil, hasMoved: Bool = true) {
        self.init(of: entity, key: key, from: nil, to: row, unknown: hasMoved ? .before : .beforeUnmoved)
    }

    /// A row that went.
    ///
    /// - Parameter row: the row, if it is known.
    package init(deleted key: ObjectKey?, of entity: EntityRuntime, _ row: Row? = nil) {
        self.init(of: entity, key: key, from: row, to: nil, unknown: row == nil ? .before : .nothing)
    }

    /// The key of the row; nil if it has none.
    package var key: ObjectKey? {
        if let givenKey { return givenKey }
        guard !entity.key.isEmpty, let row = after ?? before else { return nil }
        return try? ObjectKey(row, entity.key)
    }

    /// Whether `before` is the row before the change, or says that there was none.
    var isBeforeKnown: Bool { unknown == .nothing }
}
