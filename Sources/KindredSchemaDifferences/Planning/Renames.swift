import KindredDDL
import KindredPostgres

/// The renames of the options that are still to do.
///
/// A column's table may be written with its old name or the new one, and the renames may come in any order.
struct Renames {
    private var queue: [String]
    /// The new names of renamed relations, by their old names.
    private(set) var renamed: [ItemName: ItemName] = [:]

    init(_ renames: [String]) { queue = renames }

    /// Takes out the first rename that can be done next; nil if none is left.
    ///
    /// - Parameters:
    ///   - from: The old side, with the earlier renames.
    ///   - to: The new side.
    mutating func next(_ from: SchemaSnapshot, _ to: SchemaSnapshot) throws -> SchemaStatement? {
        var failure: (any Error)?
        for (place, rename) in queue.enumerated() {
            do {
                let (name, new) = try names(of: rename, from, to)
                let statement = try Self.statement(name, new, from)
                queue.remove(at: place)
                if name.kind != .column { renamed[name] = new }
                return statement
            } catch {
                if failure == nil { failure = error }
            }
        }
        if let failure { throw failure }
        return nil
    }

    /// The present name and the new name of one `old=new`.
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

    /// The names by which a thing may be called: with its schema, which may be left out if it is public, and with its
    /// table's old name.
    private func spellings(of name: ItemName) -> [String] {
        var names = [name]
        for (before, after) in renamed where name.kind == .column && after == name.owner(after.kind) {
            names.append(ItemName(kind: .column, schema: before.schema, name: before.name, part: name.part))
        }
        return names.flatMap { name in
            name.schema == "public" ? [name.shown, String(name.shown.dropFirst("public.".count))] : [name.shown]
        }
    }

    /// The full new name of a thing; the written new name may have the schema and table before it, as the old name has.
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

    private static func statement(
        _ name: ItemName, _ renamed: ItemName, _ from: SchemaSnapshot
    ) throws -> SchemaStatement {
        let newName = name.kind == .column ? renamed.part : renamed.name
        guard let sql = try DDL.rename(name, from[name]?.content, to: newName) else {
            throw SchemaDifferencesError(.invalidRename, "The \(name.described) cannot be renamed.")
        }
        return SchemaStatement(
            sql, lock: "ACCESS EXCLUSIVE on \(name.schema).\(name.name)", note: "programs have to know the new name")
    }

    /// Names possible renames: one column of a type that is gone from a table where one of that type is new, or tables
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
