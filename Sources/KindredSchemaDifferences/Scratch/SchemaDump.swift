import KindredPostgres

/// A schema as `pg_dump` prints it, split into its entries: a table, a default, a privilege.
///
/// Two dumps are equal if they have the same entries. The order of columns does not count, nor do names that the server
/// makes by itself: names of the sequences of identities, of the indexes that a partition gets with its table's, and of
/// NOT NULL.
struct SchemaDump {
    /// The name of an entry.
    struct Key: Hashable, Comparable {
        var kind: String
        var schema: String
        var name: String

        static func < (left: Key, right: Key) -> Bool {
            (left.kind, left.schema, left.name) < (right.kind, right.schema, right.name)
        }

        /// The name for people: `table public.person`.
        var described: String { "\(kind.lowercased()) \(schema.isEmpty ? name : "\(schema).\(name)")" }

        /// The indexes that an index, or a constraint behind the name of its table, may be.
        fileprivate var indexes: [Key] {
            switch kind {
            case "INDEX": [self]
            case "CONSTRAINT":
                name.indices.filter { name[$0] == " " }.map {
                    Key(kind: "INDEX", schema: schema, name: String(name[name.index(after: $0)...]))
                }
            default: []
            }
        }

        /// Whether statements are planned for things of this kind; casts, for instance, are only named.
        var isPlanned: Bool { Self.planned.contains(kind) }

        private static let planned: Set<ServerText> = [
            "SCHEMA", "TYPE", "DOMAIN", "SEQUENCE", "SEQUENCE OWNED BY", "IDENTITY", "TABLE", "TABLE ATTACH", "DEFAULT",
            "CONSTRAINT", "CHECK CONSTRAINT", "FK CONSTRAINT", "INDEX", "INDEX ATTACH", "VIEW", "MATERIALIZED VIEW",
            "EXTENSION", "FUNCTION", "PROCEDURE", "TRIGGER", "POLICY", "ROW SECURITY", "ACL", "DEFAULT ACL",
        ]
    }

    /// The lines of each entry; an entry whose lines are in any order has them sorted.
    private(set) var entries: [Key: [String]] = [:]

    /// Splits the output of `pg_dump --schema-only`.
    init(_ text: String) {
        var (key, lines): (Key?, [Substring]) = (nil, [])
        var all: [(Key, [Substring])] = []
        func close() { if let key { all.append((key, lines)) } }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if let next = Self.header(line) {
                close()
                (key, lines) = (next, [])
            } else {
                lines.append(line)
            }
        }
        close()
        let attached = Set(
            all.filter { $0.0.kind == "INDEX ATTACH" }.map { Key(kind: "INDEX", schema: $0.0.schema, name: $0.0.name) })
        for (key, lines) in all where !Self.isTrackings(key, lines) && !key.indexes.contains(where: attached.contains) {
            add(key, lines)
        }
        for key in entries.keys where key.kind == "INDEX ATTACH" { entries[key]?.sort() }
    }

    /// Reads the comment above an entry.
    private static func header(_ line: Substring) -> Key? {
        guard line.hasPrefix("-- Name: "), let kind = line.firstRange(of: "; Type: "),
            let schema = line.firstRange(of: "; Schema: "), kind.upperBound <= schema.lowerBound
        else { return nil }
        let end = line.firstRange(of: "; Owner:")?.lowerBound ?? line.endIndex
        guard schema.upperBound <= end else { return nil }
        let place = String(line[schema.upperBound..<end])
        return Key(
            kind: String(line[kind.upperBound..<schema.lowerBound]), schema: place == "-" ? "" : place,
            name: String(line.dropFirst("-- Name: ".count)[..<kind.lowerBound]))
    }

    /// Whether an entry belongs to change tracking or to migrations, which are not compared.
    private static func isTrackings(_ key: Key, _ lines: [Substring]) -> Bool {
        ["kindred", "kindred_ddl"].contains(key.schema) || key.name.split(separator: " ").contains("kindred_migration")
            || lines.contains {
                $0.contains(" EXECUTE FUNCTION kindred.") || $0.contains(" EXECUTE FUNCTION kindred_ddl.")
            }
    }

    private mutating func add(_ original: Key, _ content: [Substring]) {
        var key = original
        var lines = content.map(String.init).filter { line in
            let isOfDump =
                line.isEmpty || line.hasPrefix("--") || line.hasPrefix("\\restrict ") || line.hasPrefix("\\unrestrict ")
            // A setting for the entries that follow.
            return !isOfDump && !line.hasPrefix("SET default_")
        }
        switch key.kind {
        case "SEQUENCE":
            if let first = lines.first, first.hasPrefix("ALTER TABLE "), first.contains(" ADD GENERATED ") {
                key = Key(kind: "IDENTITY", schema: key.schema, name: first)
                lines.removeAll { $0.contains("SEQUENCE NAME ") }
            }
        case "INDEX ATTACH":
            let mark = " ATTACH PARTITION "
            lines = lines.map { line in line.firstRange(of: mark).map { String(line[..<$0.lowerBound]) } ?? line }
            key.name = lines.first ?? key.name
        case "TABLE", "FOREIGN TABLE",
            "TYPE" where !(lines.first?.hasSuffix(" AS ENUM (") ?? false):
            lines = lines.map { Self.withoutName(ofNotNull: $0.hasSuffix(",") ? String($0.dropLast()) : $0) }.sorted()
        default: break
        }
        // An entry of privileges without any line is left out.
        if lines.isEmpty, key.kind == "ACL" || key.kind == "DEFAULT ACL" { return }
        entries[key, default: []] += lines
    }

    private static func withoutName(ofNotNull line: String) -> String {
        guard line.hasSuffix(" NOT NULL"), let name = line.firstRange(of: " CONSTRAINT ") else { return line }
        return line[..<name.lowerBound] + " NOT NULL"
    }

    // MARK: Comparing

    /// An entry that is not as it should be.
    struct Difference {
        let key: Key
        /// The first line that one side has alone.
        let line: String

        var phrase: String { "the \(key.described) (\(line))" }
        var sentence: String { "The \(key.described) differs: \(line)" }
    }

    /// Compares with several dumps; each entry may be equal to any dump's.
    func differences(from targets: [SchemaDump]) -> [Difference] {
        let keys = targets.reduce(into: Set(entries.keys)) { $0.formUnion($1.entries.keys) }
        return keys.sorted().compactMap { key in
            let own = entries[key]
            if targets.contains(where: { $0.entries[key] == own }) { return nil }
            let other = targets.lazy.compactMap { $0.entries[key] }.first ?? []
            let line = other.first { !(own ?? []).contains($0) } ?? own?.first { !other.contains($0) } ?? ""
            return Difference(key: key, line: line.trimmed)
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self[...]
        while text.first?.isWhitespace == true { text.removeFirst() }
        return String(text)
    }
}
