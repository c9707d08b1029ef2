import KindredPostgres
import KindredSchema

/// Resolves the conditions and sort keys of one statement: follows their key paths, checks their types, binds their
/// values, and notes which columns they read.
///
/// It writes no SQL: its results have everything that the text needs, and are rendered once, where the statement is
/// made. Values are bound here, because their types decide which error a condition has, and which other type a number
/// takes.
struct ConditionResolver {
    static let maximumDepth = 512

    /// A value that was bound as a parameter, by its number.
    struct BoundValue {
        let parameter: Int
        let target: BoundTarget
    }

    let schema: DatabaseSchema
    var parameters = Parameters()
    /// The values so far that are parameters as they are.
    var bound: [BoundValue] = []
    var places: [Place]
    /// The scopes around the condition that is resolved now.
    var scopes = OpenScopes()
    /// Whether members that their filter hides do not count.
    var isFiltered: Bool
    /// Whether pairs do not count that the filter of their helper hides.
    let isFilteringPairs: Bool
    /// The columns and relationships read so far.
    var reads: ReadPlaces
    /// Whether the conditions hold keys of objects; an object may get another key.
    var comparesObjects = false
    /// The link to the helper's rows, for members of a many-to-many relationship; nil for other rows.
    var pairLink: PairLink?
    /// The place of the helper's row, once it is joined.
    var pairPlace: Int?
    /// Whether the condition or sort key resolved now may hold aggregates: true for conditions on groups, and their
    /// order.
    var takesAggregates = false
    /// The joins after the first table of each FROM clause; the statement's own comes first.
    var joins: [[RowJoin]] = [[]]
    private var aliases = 1
    private var depth = 0

    /// - Parameter alias: the entity's rows in the statement.
    init(entity: Entity, schema: DatabaseSchema, isFiltered: Bool = true, alias: Int = 0) {
        self.schema = schema
        self.isFiltered = isFiltered
        isFilteringPairs = isFiltered
        places = [Place(entity: entity, scope: 0, read: 0, alias: alias, label: "SELF")]
        reads = ReadPlaces(entity: entity.name)
    }

    mutating func newAlias() -> Int {
        defer { aliases += 1 }
        return aliases
    }

    mutating func condition(_ node: ConditionNode) throws -> ResolvedTerm {
        guard depth < Self.maximumDepth else {
            throw KindredError(.invalidCondition, "The condition is nested more than \(Self.maximumDepth) deep")
        }
        depth += 1
        defer { depth -= 1 }
        switch node {
        case .constant(let value): return value ? .always : .never
        case .all(let nodes): return try list(nodes, isConjunction: true)
        case .any(let nodes): return try list(nodes, isConjunction: false)
        case .not(.not(let inner)): return try condition(inner)
        case .not(let inner): return try condition(inner).negation
        // A separate function: its locals would enlarge the stack frame of every level of a deep condition.
        case .comparison, .members, .scoped: return try leaf(node)
        }
    }

    private mutating func leaf(_ node: ConditionNode) throws -> ResolvedTerm {
        switch node {
        case .comparison(let comparison) where comparison.isUnfiltered: try unfiltered(comparison)
        case .comparison(let comparison): try self.comparison(comparison)
        case .members(let quantifier, let inner): try members(quantifier, inner)
        case .scoped(let scope, let inner): try opening(scope, at: scopes.innermost) { try $0.condition(inner) }
        default: try condition(node)
        }
    }

    private mutating func list(_ nodes: ConditionList, isConjunction: Bool) throws -> ResolvedTerm {
        guard let first = nodes.first else { return isConjunction ? .always : .never }
        if nodes.count == 1 { return try condition(first) }
        var terms: [ConditionTerm] = []
        terms.reserveCapacity(nodes.count)
        var isTwoValued = true
        try add(nodes, isConjunction: isConjunction, to: &terms, isTwoValued: &isTwoValued)
        return ResolvedTerm(term: isConjunction ? .all(terms) : .any(terms), isTwoValued: isTwoValued)
    }

    /// Adds the parts of a list, and the parts of its groups.
    private mutating func add(
        _ nodes: ConditionList, isConjunction: Bool, to terms: inout [ConditionTerm], isTwoValued: inout Bool
    ) throws {
        for node in nodes {
            switch node {
            case .all(let group) where group.isGroup, .any(let group) where group.isGroup:
                try add(group, isConjunction: isConjunction, to: &terms, isTwoValued: &isTwoValued)
            default:
                let part = try condition(node)
                terms.append(part.term)
                isTwoValued = isTwoValued && part.isTwoValued
            }
        }
    }
}
