/// Names that are to change.
struct Renames {
    /// ALTER … RENAME for each of them, and for constraints and indexes of the same definition under another name.
    private(set) var statements: [SchemaStatement] = []

    init(_ renames: [String], from: SchemaSnapshot, to: SchemaSnapshot) throws {
        for rename in renames { statements.append(try Self.statement(rename, from, to)) }
    }

    private static func statement(
        _ rename: String, _ from: SchemaSnapshot, _ to: SchemaSnapshot
    ) throws -> SchemaStatement {
        let sides = rename.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2, !sides[0].isEmpty, !sides[1].isEmpty else {
            throw SchemaDifferencesError(
                .invalidRename, "\(rename) is no rename: write old=new, as in public.person.name=surname.")
        }
        let (old, new) = (sides[0], sides[1])
        let kinds: [ItemName.Kind] = [.table, .view, .sequence, .type, .column]
        let found = from.items.keys.filter { name in
            kinds.contains(name.kind)
                && (name.shown == old || name.schema == "public" && "public.\(old)" == name.shown)
        }.sorted()
        guard let name = found.first else {
            throw SchemaDifferencesError(
                .invalidRename, "The old side has no \(old); write schema.table or schema.table.column.")
        }
        guard found.count == 1 else {
            throw SchemaDifferencesError(
                .invalidRename, "\(old) may be \(found.map(\.described).joined(separator: " or ")).")
        }
        let path = try DDL.path(name)
        let newName = try DDL.name(new)
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

    /// What may have been renamed: one column of a type that is gone from a table where one of that type is new, or tables
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
