import KindredPostgres

/// The rows of its table that a statement means: rows of the table alone or of inheriting tables too, of the tenant,
/// and shown by their filter.
///
/// A table can only be named together with its scope: in the FROM clauses of conditions by a ``RowSource``, which writes the
/// conditions behind the table's name, and in other statements by `ScopedRows`.
struct RowScope: Sendable {
    /// The tables whose rows are meant, where tables inherit from the entity's.
    enum Tables: Sendable {
        /// The entity's table, and the tables that inherit from it.
        case all
        /// The entity's own: foreign keys refer to its rows alone, and a helper's are its pairs.
        case own
    }

    let tables: Tables
    /// The conditions that the rows are the tenant's and that their filter shows them, as far as there are any.
    let terms: [ConditionTerm]

    /// The rows of a request itself, whose conditions stand where `SelectQuery.filtered` puts them.
    static let ofRequest = RowScope(tables: .all, terms: [])
}

/// The names of rows in statements without numbered names.
enum RowAlias: Int, Sendable {
    case row = -1
    /// Members behind a helper's rows.
    case member = -2
    /// A helper's rows.
    case pair = -3
    case owner = -4
    case unplaced = -5
    case referenced = -6
    /// Rows without a name.
    case none = -7
    /// The rows of a request.
    case first = 0

    var text: String? {
        switch self {
        case .row: "t"
        case .member: "m"
        case .pair: "h"
        case .owner: "o"
        case .unplaced: "u"
        case .referenced: "r"
        case .none: nil
        case .first: "t0"
        }
    }
}
