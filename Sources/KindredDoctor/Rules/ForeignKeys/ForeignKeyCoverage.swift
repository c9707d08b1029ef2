import KindredPostgres
import KindredSchema

/// Whether an index finds the rows that refer to one row: the question that deletions, changes of a referenced key and
/// to-many relationships ask.
///
/// An index does where it is complete, can look for the equality that the key means, and
///
/// - its first columns are the foreign key's columns, all of them and in any order (INCLUDE columns are no part of that), or
/// - it is unique and has no other columns than the foreign key's, so that it finds one row at most, or
/// - its first columns are some of the foreign key's, which refer to a unique key of the other table by themselves, so that
///   all rows that they find refer to the one row.
///
/// A partial index has to hold every row whose key is not NULL.
struct ForeignKeyCoverage {
    /// Why an index does not do.
    enum Fault: Sendable, Hashable, CustomStringConvertible {
        case invalid
        case method(String)
        case predicate(String)
        case order
        case part([String])
        case included
        case expression
        case collation
        case operators

        var description: String {
            switch self {
            case .invalid: "is invalid"
            case .method(let name): "is of the kind \(name)"
            case .predicate(let text): "holds only rows with \(text)"
            case .order: "has other columns before the key's"
            case .part(let columns): "has only \(columns.joined(separator: ", ")) of the key's columns at its beginning"
            case .included: "has the key's columns behind INCLUDE only"
            case .expression: "holds an expression in the column's place"
            case .collation: "has another collation"
            case .operators: "has an operator class that cannot look for equal values"
            }
        }
    }

    /// The kinds of indexes that find equal values exactly.
    private static let methods: Set<ServerText> = ["btree", "hash", "gist", "spgist"]

    let examination: Examination
    let key: DoctorCatalog.ForeignKey
    /// The columns whose values are compared for equality, by name, with the operator that compares two of them.
    private let operators: [ServerText: UInt32]
    /// The sets of the referenced columns that are unique by themselves, as names of the columns that refer to them.
    private let uniqueColumns: [Set<ServerText>]

    init(_ key: DoctorCatalog.ForeignKey, in examination: Examination) {
        self.examination = examination
        self.key = key
        // A period is compared by overlap; the columns before it have to lead to the rows.
        let count = key.hasPeriod ? key.columns.count - 1 : key.columns.count
        var operators: [ServerText: UInt32] = [:]
        var referring: [Int16: String] = [:]
        for (place, number) in key.columns.prefix(max(count, 0)).enumerated() {
            guard let name = examination.column(number, of: key.relation)?.name else { continue }
            operators[name] = key.operators.indices.contains(place) ? key.operators[place] : 0
            if key.targetColumns.indices.contains(place) { referring[key.targetColumns[place]] = name }
        }
        self.operators = operators
        uniqueColumns = examination.indexes(of: key.target).compactMap { index in
            guard index.isUnique, !index.isExclusion, index.isUsable, index.predicate == nil, index.expressions == nil
            else { return nil }
            let names = index.keyColumns.map { referring[$0] }
            return names.contains(nil) ? nil : Set(texts: names.compactMap { $0 })
        }
    }

    /// The key's columns, in its own order.
    var columns: [String] {
        examination.names(key.columns, of: key.relation).filter { operators[$0] != nil }
    }

    /// The tables that lack a usable index: the table itself, or some of its partitions.
    ///
    /// Partitions of other servers have no indexes here, and are left out.
    func uncovered() -> [DoctorCatalog.Relation] {
        guard !operators.isEmpty, let relation = examination.relations[key.relation] else { return [] }
        let leaves = examination.leaves(of: key.relation).filter(\.holdsRows)
        // A table without partitions counts by its own index, which future partitions will get.
        let tables = leaves.isEmpty && relation.isPartitioned ? [relation] : leaves
        return tables.filter { table in
            !examination.indexes(of: table.oid).contains { fault(of: $0, on: table.oid) == nil }
        }
    }

    /// Why an index of the table or of one of its partitions does not find the rows; nil if it does.
    func fault(of index: DoctorCatalog.Index, on table: UInt32) -> Fault? {
        guard index.isUsable else { return .invalid }
        guard Self.methods.contains(index.method) else { return .method(index.method) }
        if let predicate = index.predicate, !ExpressionCondition(predicate).follows(from: notNullColumns(of: table)) {
            return .predicate(predicate)
        }
        var leading: Set<ServerText> = []
        var stop: Fault?
        for (place, number) in index.keyColumns.enumerated() {
            guard number != 0 else {
                stop = .expression
                break
            }
            guard let column = examination.column(number, of: table), let operation = operators[column.name] else {
                stop = .order
                break
            }
            guard canSearch(index, place, operation) else {
                stop = .operators
                break
            }
            guard !index.collations.indices.contains(place) || index.collations[place] == column.collation else {
                stop = .collation
                break
            }
            leading.insert(column.name)
            if leading.count == operators.count { return nil }
        }
        if stop == nil, index.isUnique, !leading.isEmpty { return nil }
        if uniqueColumns.contains(where: { $0.isSubset(of: leading) }) { return nil }
        if !leading.isEmpty { return .part(leading.sorted().texts) }
        let others = index.includedColumns.compactMap { examination.column($0, of: table)?.name }
        return stop == .order && others.contains { operators[$0] != nil } ? .included : stop ?? .order
    }

    private func canSearch(_ index: DoctorCatalog.Index, _ place: Int, _ operation: UInt32) -> Bool {
        guard index.classes.indices.contains(place), let family = examination.facts.families[index.classes[place]]
        else {
            return false
        }
        return examination.facts.searchable.contains(.init(family: family, operation: operation))
    }

    /// The key's columns as a table names them, with whether a cast to text changes nothing.
    private func notNullColumns(of table: UInt32) -> [ServerText: Bool] {
        operators.reduce(into: [:]) { found, entry in
            let type = examination.column(named: entry.key.text, of: table)?.type
            found[entry.key] = type.map { examination.baseType($0) == 1_043 } ?? false
        }
    }

    /// The indexes that hold columns of the key, and why each is not usable.
    func nearMisses(on table: UInt32) -> [(index: String, fault: Fault)] {
        examination.indexes(of: table).compactMap { index in
            let names = examination.names(
                index.columns + (index.expressions == nil ? [] : index.namedColumns), of: table)
            guard names.contains(where: { operators[$0] != nil }), let fault = fault(of: index, on: table) else {
                return nil
            }
            return (index.name, fault)
        }
    }
}
