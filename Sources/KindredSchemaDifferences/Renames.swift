import KindredDDL

/// Names that are to change, as the options ask for.
///
/// A column's table may be written with its old name or the new one, and the renames may come in any order.
struct Renames {
    private var waiting: [String]
    /// The relations that have new names, by their old ones.
    private(set) var renamed: [ItemName: ItemName] = [:]

    init(_ renames: [String]) { waiting = renames }

    /// Takes out the first rename that can be done next; nil if none is left.
    ///
    /// - Parameters:
    ///   - from: The old side, with what was renamed before.
    ///   - to: The new side.
    mutating func next(_ from: SchemaSnapshot, _ to: SchemaSnapshot) throws -> SchemaStatement? {
        var failure: (any Error)?
        for (place, rename) in waiting.enumerated() {
            do {
                let (name, new) = try names(of: rename, from, to)
                let statement = try Self.statement(name, new, from)
                waiting.remove(at: place)
                if name.kind != .column { renamed[name] = new }
                return statement
            } catch {
                if failure == nil { failure = error }
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// The present name and the new one of one old=new.
    private func names(
        of rename: String, _ from: SchemaSnapshot, _ to: SchemaSnapshot
    ) throws -> (ItemName, ItemName) {
        let sides = rename.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
            throw SchemaDifferencesError(
                .invalidRename, "\(rename) is no rename: write old=new, as in public.person.name=surname.")
        }
        let (old, new) = (sides[0], sides[1])
        let kinds: [ItemName.Kind] = [.table, .view, .sequence, .type, .column]
        var found = from.items.keys.filter { name in
            kinds.contains(name.kind) && spellings(of: name).contains(old)
        }.sorted()
        if found.count > 1 {
            let fitting = found.filter { to[target(of: $0, new, to)] != nil && from[target(of: $0, new, to)] == nil }
            if !fitting.isEmpty { found = fitting }
        }
        guard let name = found.first else {
            throw SchemaDifferencesError(
                .invalidRename, "The old side has no \(old); write schema.table or schema.table.column.")
        }
        guard found.count == 1 else {
            throw SchemaDifferencesError(
                .invalidRename, "\(old) may be \(found.map(\.described).joined(separator: " or ")).")
        }
        let renamed = target(of: name, new, to)
        guard to[renamed] != nil, from[renamed] == nil else {
            throw SchemaDifferencesError(
                .invalidRename,
                from[renamed] == nil
                    ? "The new side has no \(renamed.shown)." : "The old side has \(renamed.shown) already.")
        }
        return (name, renamed)
    }

    /// The spellings of a thing's name: with its schema, which may be left out if it is public, and with its table's old name.
    private func spellings(of name: ItemName) -> [String] {
        var names = [name]
        for (before, after) in renamed where name.kind == .column && after == name.owner(after.kind) {
            names.append(ItemName(kind: .column, schema: before.schema, name: before.name, part: name.part))
        }
        return names.flatMap { name in
            name.schema == "public" ? [name.shown, String(name.shown.dropFirst("public.".count))] : [name.shown]
        }
    }

    /// The name that a thing is to have; the new name may have its schema and table before it, as the old one has.
    private func target(of name: ItemName, _ new: String, _ to: SchemaSnapshot) -> ItemName {
        func target(_ new: String) -> ItemName {
            var result = name
            if name.kind == .column { result.part = new } else { result.name = new }
            return result
        }
        if to[target(new)] != nil { return target(new) }
        let places = spellings(of: name).map { $0.split(separator: ".").dropLast().joined(separator: ".") + "." }
        for place in places where place.count > 1 && new.hasPrefix(place) {
            let short = target(String(new.dropFirst(place.count)))
            if to[short] != nil { return short }
        }
        return target(new)
    }

    /// ALTER … RENAME.
    private static func statement(
        _ name: ItemName, _ renamed: ItemName, _ from: SchemaSnapshot
    ) throws -> SchemaStatement {
        let path = try DDL.path(name)
        let newName = try DDL.name(name.kind == .column ? renamed.part : renamed.name)
        let sql: String
        switch (name.kind, from[name]?.content) {
        case (.column, .column): sql = "ALTER TABLE \(path) RENAME COLUMN \(try DDL.name(name.part)) TO \(newName)"
        case (.table, _): sql = "ALTER TABLE \(path) RENAME TO \(newName)"
        case (.view, .view(let view)):
            sql = "ALTER \(view.isMaterialized ? "MATERIALIZED " : "")VIEW \(path) RENAME TO \(newName)"
        case (.sequence, _): sql = "ALTER SEQUENCE \(path) RENAME TO \(newName)"
        case (.type, .domain): sql = "ALTER DOMAIN \(path) RENAME TO \(newName)"
        case (.type, _): sql = "ALTER TYPE \(path) RENAME TO \(newName)"
        default: throw SchemaDifferencesError(.invalidRename, "The \(name.described) cannot be renamed.")
        }
        return SchemaStatement(
            sql, lock: "ACCESS EXCLUSIVE on \(name.schema).\(name.name)", note: "programs have to know the new name")
    }
}

// What comes with renames, and what may be one.
extension Renames {

    /// Constraints, indexes and sequences that come with what was renamed: the same definition under a new name.
    static func following(_ from: SchemaSnapshot, _ to: SchemaSnapshot) throws -> [SchemaStatement] {
        let gone = from.items.keys.filter { to[$0] == nil }.sorted()
        var added = Set(to.items.keys.filter { from[$0] == nil })
        var statements: [SchemaStatement] = []
        for name in gone {
            guard let new = added.sorted().first(where: { isSame(name, from, $0, to) }) else { continue }
            added.remove(new)
            let path = try DDL.path(name)
            let sql =
                switch name.kind {
                case .constraint:
                    "ALTER TABLE \(path) RENAME CONSTRAINT \(try DDL.name(name.part)) TO \(try DDL.name(new.part))"
                case .index: "ALTER INDEX \(path) RENAME TO \(try DDL.name(new.name))"
                default: "ALTER SEQUENCE \(path) RENAME TO \(try DDL.name(new.name))"
                }
            statements.append(SchemaStatement(sql, lock: "ACCESS EXCLUSIVE, for a moment"))
        }
        return statements
    }

    private static func isSame(
        _ name: ItemName, _ from: SchemaSnapshot, _ other: ItemName, _ to: SchemaSnapshot
    ) -> Bool {
        guard name.kind == other.kind, name.schema == other.schema else { return false }
        switch (from[name]?.content, to[other]?.content) {
        case (.constraint(let old), .constraint(let new)):
            return name.name == other.name && !old.isOfDomain && old.definition == new.definition
                && old.deferral == new.deferral
        case (.index(let old), .index(let new)):
            return old.relation == new.relation && old.isValid && old.unnamed == new.unnamed
        case (.sequence(let old), .sequence(let new)): return old.owner != nil && old == new
        default: return false
        }
    }

    /// Possible renames: one column of a type that is gone from a table where one of that type is new, or tables
    /// with the same columns.
    static func possible(_ old: SchemaSnapshot, _ new: SchemaSnapshot) -> [String] {
        var remarks: [String] = []
        let gone = old.items.keys.filter { new[$0] == nil }.sorted()
        let added = new.items.keys.filter { old[$0] == nil }.sorted()
        for name in gone {
            let candidates: [ItemName]
            switch name.kind {
            case .column:
                candidates = added.filter {
                    $0.kind == .column && $0.owner() == name.owner() && new.column($0)?.type == old.column(name)?.type
                        && old.column(name) != nil
                }
            case .table:
                let columns = old.columns(of: name).map(\.part)
                candidates = added.filter { $0.kind == .table && new.columns(of: $0).map(\.part) == columns }
            default: candidates = []
            }
            for candidate in candidates.prefix(2) {
                let short = candidate.kind == .column ? candidate.part : candidate.name
                remarks.append(
                    "The \(name.described) may have become \(short); if so, say --rename \(name.shown)=\(short).")
            }
        }
        return remarks
    }
}
