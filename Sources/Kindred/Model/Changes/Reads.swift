import KindredPostgres
import KindredSchema

/// The rows and columns that a question reads: they tell whether a change of a row concerns the answer, and which
/// owners'.
///
/// A question is anything with an answer that is kept: the rows of a request, the members of owners or a part of them, their
/// number. Its reads are known before anything is sent, and are the same for all values and owners.
package struct Reads: Sendable {
    /// The part of an answer that a change of a row concerns.
    enum Concern: Sendable, Equatable {
        case nothing
        /// The answers for these owners.
        case owners([ObjectKey])
        /// The row alone: it comes, goes, moves or has other values, and all other rows stay as they are.
        case rows
        case everything
    }

    /// The rows that a change of an entity's row concerns.
    enum Reach: Sendable, Equatable {
        /// The rows of the owners that the columns name.
        case owners([Int])
        /// The changed row itself.
        case rows
        case everything
    }

    /// The reading of one entity's rows.
    package struct Rows: Sendable {
        /// The columns that decide which rows the answer has, at which owners, and in which order.
        package var deciding: ColumnSet
        /// The columns whose values the answer has.
        var shown = ColumnSet()
        /// At how many places the rows are read.
        package var uses = 1
        fileprivate(set) var reach: Reach
        /// The values without which a row is not in the answer; nil if it has no such values.
        package fileprivate(set) var equalities: Equalities?

        /// Whether the answer has the rows themselves, so that rows that come and go concern it by no column at all.
        fileprivate var isOwn = false

        fileprivate var isRead: Bool { isOwn || !columns.isEmpty }

        /// The columns that are read; none of rows that only lead to other rows.
        var columns: ColumnSet { deciding.union(shown) }

        fileprivate mutating func join(_ other: Rows) {
            deciding.formUnion(other.deciding)
            shown.formUnion(other.shown)
            uses += other.uses
            isOwn = isOwn || other.isOwn
            if reach != other.reach { reach = .everything }
            equalities = nil
        }
    }

    /// By the position of the entity.
    private var rows: [Int: Rows] = [:]
    /// The views that are read, and the tables that are no entities: any change may concern them.
    package private(set) var others: Set<QualifiedName> = []

    /// Whether any change may concern the question.
    package var isAnything: Bool { !others.isEmpty }

    /// The entities whose columns are read, by position.
    package var entities: [Int] { rows.filter(\.value.isRead).map(\.key) }

    /// The reading of an entity's rows; nil if none are read.
    package subscript(entity: EntityRuntime) -> Rows? { rows[entity.index] }

    /// The columns that are read of an entity's rows.
    package func columns(of entity: EntityRuntime) -> ColumnSet { columns(at: entity.index) }

    func columns(at position: Int) -> ColumnSet { rows[position]?.columns ?? [] }

    /// Whether a changed row of an entity names the owners that it concerns.
    func namesOwners(_ entity: EntityRuntime) -> Bool {
        if case .owners? = rows[entity.index]?.reach { !isAnything } else { false }
    }

    /// Whether rows of an entity are read, or rows of an entity that shares them.
    func mayConcern(_ entity: EntityRuntime) -> Bool { isAnything || reading(entity) != nil }

    // MARK: Changes

    /// The part of the answer that a change concerns.
    func concern(_ change: RowChange) -> Concern {
        // The row before may have been any.
        if !change.isBeforeKnown { return mayConcern(change.entity) ? .everything : .nothing }
        return concern(change.entity, from: change.before, to: change.after)
    }

    /// The part of the answer that the change of a row concerns; without a former row it came, without a new row it
    /// went.
    func concern(_ entity: EntityRuntime, from old: Row?, to new: Row?) -> Concern {
        if isAnything { return .everything }
        guard let (columns, reach) = reading(entity) else { return .nothing }
        if let columns, let old, let new, !columns.mayDiffer(from: old, to: new) { return .nothing }
        switch reach {
        case .owners(let link):
            let (former, owner) = (old.flatMap { try? ObjectKey($0, link) }, new.flatMap { try? ObjectKey($0, link) })
            guard let first = former ?? owner else { return .nothing }
            if let owner, owner != first { return .owners([first, owner]) }
            return .owners([first])
        case .rows:
            guard let equalities = rows[entity.index]?.equalities else { return .rows }
            let mayHold = old.map(equalities.mayHold) ?? false || new.map(equalities.mayHold) ?? false
            return mayHold ? .rows : .nothing
        case .everything: return .everything
        }
    }

    private func reading(_ entity: EntityRuntime) -> (columns: ColumnSet?, reach: Reach)? {
        func isRead(_ position: Int) -> Bool { rows[position]?.isRead ?? false }
        // A view, or a table in a line of inheritance, shows rows of other entities, by any column.
        if entity.shownEntities.contains(where: isRead) { return (nil, .everything) }
        return isRead(entity.index) ? rows[entity.index].map { ($0.columns, $0.reach) } : nil
    }

    // MARK: Making

    /// Adds a place at which an entity's rows are read.
    ///
    /// - Parameter deciding: the columns; none where the rows only lead to other rows.
    mutating func add(_ entity: Int, _ deciding: ColumnSet, reach: Reach = .everything) {
        join(Rows(deciding: deciding, reach: reach), entity)
    }

    /// Adds the rows that the answer has or counts.
    mutating func add(own entity: Int, reach: Reach) {
        var own = Rows(deciding: [], reach: reach)
        own.isOwn = true
        join(own, entity)
    }

    /// Adds columns of rows that are read already.
    mutating func note(_ deciding: ColumnSet, of entity: Int) { rows[entity]?.deciding.formUnion(deciding) }

    /// Adds columns of rows that are read already, and whose values the answer has.
    mutating func show(_ columns: ColumnSet, of entity: Int) { rows[entity]?.shown.formUnion(columns) }

    /// Narrows the reading of rows that are read at one place.
    mutating func narrow(_ entity: Int, by equalities: Equalities?) { rows[entity]?.equalities = equalities }

    /// Adds a view, or a table that is no entity.
    mutating func add(other name: QualifiedName) { others.insert(name) }

    private mutating func join(_ new: Rows, _ entity: Int) {
        if rows[entity] == nil { rows[entity] = new } else { rows[entity]?.join(new) }
    }

    /// The reads of two questions with one answer: the owners are named only where both have the same.
    mutating func formUnion(_ other: Reads) {
        for (entity, read) in other.rows { join(read, entity) }
        others.formUnion(other.others)
    }

    package func union(_ other: Reads) -> Reads {
        var union = self
        union.formUnion(other)
        return union
    }

    /// The reads as a part of a question with other rows and owners.
    var apart: Reads {
        var reads = self
        for entity in reads.rows.keys {
            reads.rows[entity]?.reach = .everything
            reads.rows[entity]?.equalities = nil
        }
        return reads
    }
}

extension Reads {
    /// A condition of equalities of a row's own columns with values alone, which memory compares as the server does.
    package struct Equalities: Sendable {
        /// In ascending order.
        package let columns: [Int]
        /// The values of these columns.
        package let values: ObjectKey

        /// Whether a row has the values; a row that lacks a column may have them.
        fileprivate func mayHold(_ row: Row) -> Bool {
            if columns.contains(where: row.isLeftOut) { return true }
            guard let key = try? ObjectKey(row, columns) else { return false }
            return key == values
        }
    }
}

extension ColumnSet {
    /// Whether a row has another value in one of the columns than before: where one of both lacks the column, it may have.
    func mayDiffer(from old: Row, to new: Row) -> Bool {
        contains { !old.hasSameBytes(as: new, at: $0) || new.isLeftOut(at: $0) }
    }
}
