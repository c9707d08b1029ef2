import KindredPostgres

/// Obstacles that may keep the rows of a statement from being written, put them elsewhere, or hide them.
package struct RowObstacles: OptionSet, Sendable, Hashable {
    package let rawValue: Int16

    package init(rawValue: Int16) {
        self.rawValue = rawValue
    }

    /// Row-level security.
    package static let policies = RowObstacles(rawValue: 1)
    /// Rules other than the rule of a view's query.
    package static let rules = RowObstacles(rawValue: 2)
    /// BEFORE or INSTEAD OF row triggers of INSERT; the numbers of these three are as in `pg_trigger.tgtype`.
    package static let insertTriggers = RowObstacles(rawValue: 4)
    /// BEFORE or INSTEAD OF row triggers of DELETE.
    package static let deleteTriggers = RowObstacles(rawValue: 8)
    /// BEFORE or INSTEAD OF row triggers of UPDATE.
    package static let updateTriggers = RowObstacles(rawValue: 16)

    /// All row triggers.
    package static let triggers: RowObstacles = [.insertTriggers, .deleteTriggers, .updateTriggers]
}
