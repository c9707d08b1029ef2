import KindredPostgres
import KindredSchema

/// Rows to be stored unless their key exists, checked and ready to be sent.
struct Upsert {
    let entity: EntityRuntime
    /// The unique key of the conflict, as positions of attributes.
    private let key: [Int]
    /// The condition of the rows among which it is unique; nil for all rows.
    private let predicate: String?
    private let columns: [Int]
    /// In the order of their keys.
    private let rows: [Row]
    /// For each row its place among the given rows; nil if the order is the same.
    private let places: [Int]?
    /// The columns that an existing row takes over; empty if it stays unchanged.
    private let updated: [Int]

    init(
        _ assignments: [ColumnValues],
        of entity: EntityRuntime,
        _ rule: ConflictRule,
        types: TypeRegistry
    ) throws {
        self.entity = entity
        key = try Self.key(rule.key, of: entity)
        predicate = try Self.predicate(rule.key, of: entity)
        columns = assignments[0].columns
        guard assignments.allSatisfy({ [columns] in $0.columns == columns }) else {
            throw KindredError(
                .invalidRequest,
                "All new rows of \(entity.name) must have values for the same keys; use one call for each set of keys",
                entity: entity.name.description
            )
        }
        updated = try Self.updated(rule.action, columns: columns, key: key, of: entity)
        var seen = Set<[PostgresValue]>()
        for assignment in assignments {
            let values = key.compactMap { assignment[$0] ?? nil }
            guard values.count == key.count else { throw Self.missingKey(rule.key, of: entity) }
            guard seen.insert(values).inserted || updated.isEmpty else {
                throw KindredError(
                    .invalidRequest,
                    "Two new rows of \(entity.name) have the same (\(rule.key.joined(separator: ", ")))",
                    entity: entity.name.description,
                    key: rule.key.first
                ).ofInput
            }
        }
        let empty = entity.emptyRow(types)
        let given = try assignments.map { assignment in
            empty.replacing(
                try assignment.values.reduce(into: RowCells()) { cells, value in
                    try cells.set(value.value, at: value.column, of: entity, types)
                }
            )
        }
        places = LockOrder(entity, by: key.sorted()).places(given, by: \.self)
        rows = places.map { $0.map { given[$0] } } ?? given
    }

    /// Elements for the sent rows, in the order of the given rows.
    func inGivenOrder<Element>(_ sent: [Element]) -> [Element] {
        guard let places else { return sent }
        return zip(places, sent).sorted { $0.0 < $1.0 }.map(\.1)
    }

    var count: Int { rows.count }

    /// Whether existing rows stay unchanged, so that the INSERT does not return them.
    var keepsRows: Bool { updated.isEmpty }

    /// Whether the statement checks itself; a key that another tenant's row has must leave no effect of the call, either.
    var isChecked: Bool {
        entity.tenantColumn != nil
            || entity.isChecked(keepsRows ? .insertTriggers : [.insertTriggers, .updateTriggers])
    }

    /// `INSERT … SELECT … FROM unnest(…) ON CONFLICT … RETURNING`: the result's rows are in the order in which they were sent.
    ///
    /// A statement that checks itself fails unless each row is stored; or, where existing rows are kept, unless a
    /// stored or existing row has each row's key.
    ///
    /// - Parameter isChecked: whether the statement checks itself.
    func statement(isChecked: Bool) throws -> Statement {
        var parameters = Parameters()
        let values = try parameters.rows(rows, of: columns, in: entity, prefix: "c")
        let count = isChecked ? try parameters.count(rows.count) : nil
        let shape = "upsert \(columns) \(key) \(predicate ?? "") \(updated) \(isChecked)"
        return try parameters.statement(shape, in: entity) {
            let names = try columns.map { try entity.texts.quoted($0) }.joined(separator: ", ")
            let set = try updated.map { "\(try entity.texts.quoted($0)) = EXCLUDED.\(try entity.texts.quoted($0))" }
            let action =
                set.isEmpty
                ? "NOTHING"
                : try entity.texts.updateOnConflict(set: set, as: .row)
            let insert = """
                \(try entity.texts.insertion(as: .row)) (\(names)) \
                SELECT \(values.expressions.joined(separator: ", ")) FROM \(values.placedTable) ORDER BY new.place \
                ON CONFLICT \(try target) DO \(action)
                """
            guard let count else { return "\(insert) RETURNING \(try entity.texts.selectList(alias: "t"))" }
            return try checked(insert, of: values, count: count)
        }
    }

    /// The unique key for ON CONFLICT: `("email") WHERE (deleted_at IS NULL)`, by which the server finds the index.
    private var target: String {
        get throws {
            let columns = try key.map { try entity.texts.quoted($0) }.joined(separator: ", ")
            return "(\(columns))\(predicate.map { " WHERE \($0)" } ?? "")"
        }
    }

    /// The condition for rows `t` among which the key is unique, after earlier conditions; empty for all rows.
    private var amongUnique: String {
        get throws {
            guard let predicate else { return "" }
            // The condition names columns without a table.
            let columns = try entity.key.map { try entity.texts.quoted($0) }
            if entity.hasOwnEquality(entity.key) {
                let same = try entity.key.map {
                    entity.texts.equality(
                        of: $0, "u.\(try entity.texts.quoted($0))", "t.\(try entity.texts.quoted($0))")
                }
                return """
                     AND EXISTS (SELECT FROM (SELECT \(columns.joined(separator: ", ")) \
                    FROM \(try entity.all(as: .none, .own).from(where: "(\(predicate))"))) AS u \
                    WHERE \(same.joined(separator: " AND ")))
                    """
            }
            return """
                 AND (\(columns.map { "t.\($0)" }.joined(separator: ", "))) IN \
                (SELECT \(columns.joined(separator: ", ")) FROM \(try entity.all(as: .none, .own).from(where: "(\(predicate))")))
                """
        }
    }

    private func checked(_ insert: String, of values: ColumnArrays, count: Parameter) throws -> String {
        func names(_ columns: [Int], _ prefix: String) throws -> [String] {
            try columns.enumerated().map { "t.\(try entity.texts.quoted($1)) AS \"kindred: \(prefix)\($0)\"" }
        }
        let keys = try names(key, "k") + names(entity.key, "p")
        let written = """
            written AS (\(insert) RETURNING \(try entity.texts.namedList(alias: "t")), \(keys.joined(separator: ", ")), \
            (\(try entity.texts.hasKey(alias: "t"))) AS \(CheckedWrite.isRight))
            """
        let rows = values.placedTable
        var (expected, exception) = (count.description, "")
        let new = Dictionary(uniqueKeysWithValues: zip(columns, values.expressions))
        func given(_ column: Int) -> String { entity.texts.compared(column, with: new[column] ?? "NULL") }
        let known = try key.map { entity.texts.equality(of: $0, try entity.texts.compared($0, alias: "t"), given($0)) }
        let (existing, isKnown) = (entity.all(as: .row, .own), "\(known.joined(separator: " AND "))\(try amongUnique)")
        if !keepsRows {
            // An existing row keeps its primary key, by which its object is found.
            let same = try entity.key.enumerated().map {
                entity.texts.equality(
                    of: $1, entity.texts.compared($1, with: "written.\"kindred: p\($0)\""),
                    try entity.texts.compared($1, alias: "t"))
            }
            expected = """
                (\(count) + (SELECT count(*) FROM \(rows)\(try existing.join(on: isKnown)) \
                WHERE NOT EXISTS (SELECT FROM written WHERE \(same.joined(separator: " AND ")))))
                """
        } else {
            let stored = key.enumerated().map {
                entity.texts.equality(of: $1, entity.texts.compared($1, with: "written.\"kindred: k\($0)\""), given($1))
            }
            exception = """
                WHEN (SELECT count(*) FROM \(rows) \
                WHERE EXISTS (SELECT FROM \(try existing.from(where: isKnown))) \
                OR EXISTS (SELECT FROM written WHERE \(stored.joined(separator: " AND ")))) = \(count) THEN true 
                """
        }
        return """
            WITH \(written) SELECT \(try entity.texts.writtenColumns) FROM written \
            WHERE \(CheckedWrite.condition(expecting: expected, unless: exception))
            """
    }

    /// `INSERT … ON CONFLICT … DO UPDATE` of nothing, which returns the existing row with which one of the rows conflicts,
    /// also where a trigger has changed the row's key; to be rolled back.
    func conflict(ofRow place: Int) throws -> Statement {
        var parameters = Parameters()
        let values = try parameters.rows([rows[place]], of: columns, in: entity, prefix: "c")
        return try parameters.statement("upsert conflict \(columns) \(key) \(predicate ?? "")", in: entity) {
            let names = try columns.map { try entity.texts.quoted($0) }.joined(separator: ", ")
            let first = try entity.texts.quoted(key[0])
            return """
                \(try entity.texts.insertion(as: .row)) (\(names)) \
                SELECT \(values.expressions.joined(separator: ", ")) FROM \(values.table) \
                ON CONFLICT \(try target) DO \(try entity.texts.updateOnConflict(set: ["\(first) = t.\(first)"], as: .row)) \
                RETURNING \(try entity.texts.selectList(alias: "t"))
                """
        }
    }

    /// The rows with the keys, in the order in which they were sent; unique keys hold in each table by itself.
    ///
    /// The result's last column is the value's place, from 1.
    func selection() throws -> Statement {
        var parameters = Parameters()
        let keys = try parameters.rows(rows, of: key, in: entity, prefix: "k")
        return try parameters.statement("upserted \(key) \(predicate ?? "")", in: entity) {
            """
            SELECT \(try entity.texts.selectList(alias: "t")), new.place \
            FROM \(keys.placedTable)\(try entity.all(as: .row, .own).join(on: "\(keys.equality("t"))\(amongUnique)")) \
            ORDER BY new.place
            """
        }
    }

    /// The attributes of a key; throws if the database does not keep them unique.
    private static func key(_ names: [String], of entity: EntityRuntime) throws -> [Int] {
        let key = try names.map { name in
            guard let position = entity.attributeIndex(of: name) else { throw entity.unknownKey(name) }
            return position
        }
        let all = entity.entity.uniqueKeys + entity.entity.partialKeys.map(\.columns)
        guard all.contains(where: { Set(texts: $0) == Set(texts: names) }), Set(texts: names).count == names.count
        else {
            let known = all.map { "(\($0.joined(separator: ", ")))" }.joined(separator: ", ")
            throw KindredError(
                .invalidRequest,
                "\(entity.name) has no unique key over (\(names.joined(separator: ", "))); "
                    + (known.isEmpty ? "it has no unique keys" : "its keys are \(known)"),
                entity: entity.name.description,
                key: names.first
            )
        }
        return key
    }

    /// The condition of the partial unique index over some attributes; nil if they are unique in all rows.
    ///
    /// Of several indexes the one counts whose condition is the entity's filter.
    private static func predicate(_ names: [String], of entity: EntityRuntime) throws -> String? {
        if entity.entity.uniqueKeys.contains(where: { Set(texts: $0) == Set(texts: names) }) { return nil }
        let partial = entity.entity.partialKeys.filter { Set(texts: $0.columns) == Set(texts: names) }
        let terms = entity.filter?.model.terms.map(Set.init)
        let shown = partial.filter { RowPredicate($0.predicate).terms.map(Set.init) == terms && terms != nil }
        if let only = partial.count == 1 ? partial.first : shown.first { return only.predicate }
        throw KindredError(
            .invalidRequest,
            """
            \(entity.name) has several partial unique indexes over (\(names.joined(separator: ", "))), and none of them \
            is for the rows that its filter shows
            """,
            entity: entity.name.description, key: names.first)
    }

    private static func updated(
        _ action: ConflictRule.Action,
        columns: [Int],
        key: [Int],
        of entity: EntityRuntime
    ) throws -> [Int] {
        guard case .update(let names) = action else { return [] }
        // The key is equal, an object's identity must not change by accident, and its version is incremented.
        let changeable = columns.filter {
            !key.contains($0) && !entity.versionedKey.contains($0) && $0 != entity.tenantColumn
        }
        guard let names else { return changeable }
        return try names.map { name in
            guard let position = entity.attributeIndex(of: name) else { throw entity.unknownKey(name) }
            guard changeable.contains(position) else {
                throw KindredError(
                    .invalidRequest,
                    "\(entity.name).\(name) cannot be set on conflict: it has no new value, or belongs to the key",
                    entity: entity.name.description,
                    key: name
                )
            }
            return position
        }
    }

    private static func missingKey(_ names: [String], of entity: EntityRuntime) -> KindredError {
        KindredError(
            .missingValue,
            "A new row of \(entity.name) needs a value for each of (\(names.joined(separator: ", ")))",
            entity: entity.name.description,
            key: names.first
        )
    }
}

/// The treatment of a new row whose unique key another row already has.
package struct ConflictRule: Sendable, Hashable {
    enum Action: Sendable, Hashable {
        case update(setting: [String]?)
        case keep
    }

    let key: [String]
    let action: Action

    /// The existing row takes the new values, or some of them, given by attribute; the key and the primary key stay.
    package static func update(_ key: String..., setting attributes: [String]? = nil) -> ConflictRule {
        update(key, setting: attributes)
    }

    package static func update(_ key: [String], setting attributes: [String]?) -> ConflictRule {
        ConflictRule(key: key, action: .update(setting: attributes))
    }

    /// The existing row stays unchanged, and its object is returned.
    package static func keep(_ key: String...) -> ConflictRule { keep(key) }

    package static func keep(_ key: [String]) -> ConflictRule { ConflictRule(key: key, action: .keep) }
}
