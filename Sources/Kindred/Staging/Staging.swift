import KindredPostgres

/// What is staged on an object: immutable and replaced whole, so that copies of an object's state are cheap.
///
/// The object's visible row has the staged values already, so that reading costs nothing extra; what the database has is
/// kept here.
package final class Staging: Sendable {
    /// The row as last seen in the database; all NULL for a new object.
    let stored: Row
    /// The attributes that have a value of their own, by position.
    let columns: Set<Int>
    /// What cannot be saved as it was given, by key.
    let problems: [String: KindredError]

    init(stored: Row, columns: Set<Int> = [], problems: [String: KindredError] = [:]) {
        self.stored = stored
        self.columns = columns
        self.problems = problems
    }

    var isEmpty: Bool { columns.isEmpty && problems.isEmpty }
}

extension ObjectState {
    /// The row as the database has it.
    var storedRow: Row { staging?.stored ?? row }

    /// Takes a newer stored row; staged values stay unless the database has them now.
    mutating func rebase(on stored: Row) {
        guard let staging else {
            row = stored
            return
        }
        let columns = staging.columns.filter { !row.hasSameBytes(as: stored, at: $0) }
        let shown = row
        row = columns.isEmpty ? stored : stored.replacing(columns, from: shown)
        replaceStaging(Staging(stored: stored, columns: columns, problems: staging.problems))
    }

    /// Takes the staged values of some attributes back.
    mutating func unstage(_ columns: some Sequence<Int>) {
        guard let staging else { return }
        let taken = staging.columns.intersection(columns)
        guard !taken.isEmpty else { return }
        row = row.replacing(taken, from: staging.stored)
        replaceStaging(
            Staging(stored: staging.stored, columns: staging.columns.subtracting(taken), problems: staging.problems)
        )
    }

    mutating func replaceStaging(_ new: Staging) {
        staging = new.isEmpty && status != .inserted ? nil : new
    }
}

extension Row {
    /// The row with the values that another one has in some columns.
    func replacing(_ columns: Set<Int>, from other: Row) -> Row {
        Row(columns: self.columns, count: count) { column, write in
            if columns.contains(column) {
                other.withBytes(at: column, write)
            } else {
                withBytes(at: column, write)
            }
        }
    }

    /// The row with other encoded bytes in one column, or NULL.
    func replacing(_ column: Int, with bytes: [UInt8]?) -> Row {
        Row(columns: columns, count: count) { other, write in
            if other == column {
                bytes?.withUnsafeBytes(write)
            } else {
                withBytes(at: other, write)
            }
        }
    }
}
